// Short forms for the schema tests.
#pragma once
#include <string>
#include <string_view>

#include "schema/request.hpp"
#include "support/catch.hpp"

namespace clef::test {

// A request around one question, an object's text.
inline std::string with_question(std::string_view question) {
  return std::string(R"({"state":"s","questions":{"a":)").append(question).append("}}");
}

// A request with further members, such as R"("images":[])".
inline std::string with_members(std::string_view members) {
  return std::string(R"({"state":"s","questions":{"a":{"type":"noul","instructions":"x?"}},)")
      .append(members)
      .append("}");
}

inline std::string with_state(std::string_view state) {
  return std::string(R"({"state":)").append(state).append(R"(,"questions":{"a":{"type":"noul"}}})");
}

inline schema::Request accepted(std::string_view text, const schema::Limits& limits = {}) {
  INFO("request: " << text.substr(0, 300));
  base::Result<schema::Request> request = schema::parse_request(text, limits);
  INFO("error: " << (request.ok() ? "" : request.status().message()));
  REQUIRE(request.ok());
  return std::move(request).value();
}

template <class T>
void check_error(const base::Result<T>& result, base::Code code, std::string_view at) {
  REQUIRE_FALSE(result.ok());
  const base::ErrorDetail& detail = result.status().detail();
  INFO("message: " << detail.message);
  CHECK(base::code_name(detail.code) == base::code_name(code));
  CHECK(detail.has_at);
  CHECK(detail.at == at);
  CHECK_FALSE(detail.message.empty());
}

inline std::string in_quotes(std::string_view text) {
  return std::string(1, '"').append(text).append(1, '"');
}

// The message of the error.
inline std::string refused(std::string_view text, base::Code code, std::string_view at,
                           const schema::Limits& limits = {}) {
  INFO("request: " << text.substr(0, 300));
  const base::Result<schema::Request> request = schema::parse_request(text, limits);
  check_error(request, code, at);
  return request.ok() ? std::string() : std::string(request.status().message());
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace clef::test
