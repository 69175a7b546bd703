// parse_request, parse_schema and render_state on hostile bytes. What is accepted must be whole and rendered as JSON.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "json/json.hpp"
#include "schema/request.hpp"

namespace {

void require(bool condition) {
  if (!condition) __builtin_trap();
}

void check_schema(const clef::schema::Schema& schema) {
  require(!schema.questions.empty());
  for (const clef::schema::Question& question : schema.questions) {
    require(!question.id.empty() && !question.instruction.empty() && !question.options.empty());
    require(question.request_order.size() == question.options.size());
    for (const uint32_t index : question.request_order) require(index < question.options.size());
    for (const clef::schema::Option& option : question.options) {
      const auto rendered = clef::json::parse(option.rendered);
      // Infinity is no JSON, but the prompt has it for numbers beyond a double.
      if (!rendered.ok()) {
        require(option.rendered.find("Infinity") != std::string::npos ||
                rendered.status().code() == clef::base::Code::too_deep);
        continue;
      }
      const clef::json::Value* id = rendered.value().root().find("option_id");
      require(id != nullptr && id->text() == option.id);
    }
  }
}

void check_error(const clef::base::Status& status) {
  require(!status.ok() && !status.message().empty() && status.detail().has_at);
  require(status.detail().at.empty() || status.detail().at[0] == '/');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  clef::schema::Limits limits;
  limits.strict = size % 2 != 0;
  limits.lenient_noul_criteria = size % 4 >= 2;
  const auto request = clef::schema::parse_request(text, limits);
  if (request.ok()) {
    check_schema(request.value().schema);
    for (const clef::schema::EncodedImage& image : request.value().images) require(!image.bytes.empty());
  } else {
    check_error(request.status());
  }
  const auto schema = clef::schema::parse_schema(text, limits);
  if (schema.ok()) {
    check_schema(schema.value());
  } else {
    check_error(schema.status());
  }
  const auto state = clef::schema::render_state(text, limits);
  if (!state.ok()) check_error(state.status());
  return 0;
}
