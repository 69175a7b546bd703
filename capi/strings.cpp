#include "strings.hpp"

#include <charconv>
#include <cstring>

#include "base/unicode.hpp"

namespace clef::capi {

Result<std::string_view> raw_text(const char* data, size_t size, std::string_view what) {
  if (!data) {
    if (size == 0) return std::string_view("");
    return Status(Code::invalid_argument, "the argument " + std::string(what) + " is NULL but its size is not 0");
  }
  if (size == CLEF_NUL) return std::string_view(data, std::strlen(data));
  if (size > PTRDIFF_MAX)
    return Status(Code::invalid_argument,
                  "the size of the argument " + std::string(what) + " cannot be right: " + std::to_string(size));
  return std::string_view(data, size);
}

Result<std::string_view> utf8_text(const char* data, size_t size, std::string_view what) {
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, raw_text(data, size, what));
  const size_t offset = base::find_invalid_utf8(text);
  if (offset == std::string_view::npos) return text;
  return Status(Code::invalid_unicode,
                "the argument " + std::string(what) + " is not valid UTF-8 at byte " + std::to_string(offset))
      .at_offset(static_cast<int64_t>(offset));
}

Result<std::optional<std::string_view>> optional_text(const char* data, size_t size, std::string_view what) {
  if (!data) return std::optional<std::string_view>();
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, raw_text(data, size, what));
  return std::optional<std::string_view>(text);
}

void replace_invalid_utf8(std::string& text) {
  for (size_t start = 0;;) {
    const size_t offset = base::find_invalid_utf8(std::string_view(text).substr(start));
    if (offset == std::string_view::npos) return;
    start += offset;
    text[start] = '?';
  }
}

Status bad_value(std::string_view name, std::string_view value, std::string_view allowed) {
  std::string shown(value.substr(0, 40));
  replace_invalid_utf8(shown);
  return Status(Code::invalid_value,
                "\"" + shown + "\" is no value of " + std::string(name) + "; it takes " + std::string(allowed));
}

Result<uint64_t> parse_number(std::string_view name, std::string_view value) {
  uint64_t number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (fault != std::errc() || end != value.data() + value.size())
    return bad_value(name, value, "a whole number that is not negative");
  return number;
}

Result<int32_t> parse_switch(std::string_view name, std::string_view value) {
  if (value == "1" || value == "true") return 1;
  if (value == "0" || value == "false") return 0;
  return bad_value(name, value, "0, 1, true or false");
}

Status check_switch(std::string_view name, int32_t value) {
  if (value == 0 || value == 1) return {};
  return bad_value(name, std::to_string(value), "0 or 1");
}

}  // namespace clef::capi
