// Any bytes: the parser and the locator agree, and a rendering reads back as itself.
#include <cstdint>
#include <string>
#include <string_view>

#include "json/json.hpp"
#include "json/locator.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

std::string render(const json::Value& value) {
  std::string out;
  json::append_python(value, out);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::ParseOptions options;
  options.max_depth = 24;  // small limits, so that short inputs reach them
  options.max_integer_digits = 40;
  const auto first = json::parse(text, options);
  const base::Status located = json::locate_error(text, options);
  require(first.ok() == located.ok());
  if (!first.ok()) {
    const base::ErrorDetail& detail = first.status().detail();
    require(detail.has_at && detail.offset >= 0 && detail.offset <= static_cast<int64_t>(size));
    return 0;
  }

  const std::string rendered = render(first.value().root());
  if (rendered.find("Infinity") == std::string::npos) {  // the one spelling that is not JSON; also found in strings
    const auto second = json::parse(rendered, options);
    require(second.ok());
    require(render(second.value().root()) == rendered);
  }
  std::string compact;
  json::append_compact(first.value().root(), compact);
  const auto third = json::parse(compact, options);
  require(third.ok());
  require(render(third.value().root()) == rendered);
  std::string again;
  json::append_compact(third.value().root(), again);
  require(again == compact);
  return 0;
}
