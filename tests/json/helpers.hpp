// Short forms for the tests of this folder.
#pragma once
#include <string>
#include <string_view>

#include "json/json.hpp"
#include "support/catch.hpp"

namespace clef::test {

inline json::Document parsed(std::string_view text) {
  base::Result<json::Document> result = json::parse(text);
  INFO("text: " << text);
  if (!result.ok()) FAIL(result.status().message());
  return std::move(result).value();
}

inline std::string python(const json::Value& value) {
  std::string out;
  json::append_python(value, out);
  return out;
}
inline std::string python(std::string_view text) {
  return python(parsed(text).root());
}

inline std::string compact(std::string_view text) {
  std::string out;
  json::append_compact(parsed(text).root(), out);
  return out;
}

}  // namespace clef::test
