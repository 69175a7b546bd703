#include <charconv>
#include <system_error>

#include "json/json.hpp"
#include "json/number.hpp"

namespace clef::json {

std::span<const Value> Value::items() const noexcept {
  if (kind_ != Kind::array) return {};
  return {static_cast<const Value*>(data_), size_};
}

std::span<const Member> Value::members() const noexcept {
  if (kind_ != Kind::object) return {};
  return {static_cast<const Member*>(data_), size_};
}

const Value* Value::find(std::string_view key) const noexcept {
  const std::span<const Member> all = members();
  for (size_t i = all.size(); i-- > 0;) {
    if (all[i].key == key) return &all[i].value;
  }
  return nullptr;
}

bool Value::to_int64(int64_t& out) const noexcept {
  if (kind_ != Kind::number) return false;
  const std::string_view token = text();
  int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return false;
  out = value;
  return true;
}

bool Value::to_double(double& out) const noexcept {
  if (kind_ != Kind::number) return false;
  out = parse_double(text());
  return true;
}

}  // namespace clef::json
