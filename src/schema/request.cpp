#include "schema/request.hpp"

#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Result;
using base::Status;

namespace {

// The reader's place is below `prefix`, the place of the text inside a request.
Result<json::Document> parse_text(std::string_view text, const Limits& limits, std::string_view prefix) {
  json::ParseOptions options;
  options.max_bytes = limits.max_request_bytes;
  Result<json::Document> document = json::parse(text, options);
  if (document.ok()) return document;
  Status error = std::move(document).status();
  if (!prefix.empty()) error.detail().at.insert(0, prefix);
  return at_contract_field(std::move(error));
}

std::string rendered(const json::Value& value) {
  if (value.is_string()) return std::string(value.text());
  std::string out;
  json::append_python(value, out);
  return out;
}

Status check_fields(const json::Value& root, const Limits& limits) {
  CLEF_RETURN_IF_ERROR(refuse_duplicates(root, ""));
  for (const std::string_view name : {"audio", "files"}) {
    if (root.find(name) == nullptr) continue;
    return fault(
        Code::unknown_field, place("", name),
        "the field " + quoted(name) + " is not supported; give pictures as base64 in images, and text in state");
  }
  if (!limits.strict) return {};
  return refuse_unknown(root, "", {"model", "state", "questions", "images", "videos", "truncation"});
}

Result<std::optional<std::string>> read_model(const json::Value& root) {
  const json::Value* model = root.find("model");
  if (model == nullptr || model->is_null()) return std::optional<std::string>();
  if (!model->is_string()) return wrong_type("/model", "model", "a string", *model);
  return std::optional<std::string>(model->text());
}

Result<std::optional<Truncation>> read_truncation(const json::Value& root) {
  const json::Value* truncation = root.find("truncation");
  if (truncation == nullptr) return std::optional<Truncation>();
  if (truncation->is_null() || (truncation->is_string() && truncation->text() == "refuse")) {
    return std::optional<Truncation>(Truncation::refuse);
  }
  if (truncation->is_string() && truncation->text() == "state_tail") {
    return std::optional<Truncation>(Truncation::state_tail);
  }
  const std::string given =
      truncation->is_string() ? quoted(truncation->text()) : std::string(kind_name(truncation->kind()));
  return fault(Code::invalid_value, "/truncation",
               "truncation must be \"refuse\", \"state_tail\" or null, not " + given);
}

}  // namespace

Result<Request> parse_request(std::string_view json, const Limits& limits) {
  CLEF_ASSIGN_OR_RETURN(const json::Document document, parse_text(json, limits, ""));
  const json::Value& root = document.root();
  if (!root.is_object()) return wrong_type("", "a request", "an object with state and questions", root);
  CLEF_RETURN_IF_ERROR(check_fields(root, limits));
  Request request;
  CLEF_ASSIGN_OR_RETURN(request.model, read_model(root));
  CLEF_ASSIGN_OR_RETURN(request.truncation, read_truncation(root));
  const json::Value* state = root.find("state");
  if (state == nullptr) {
    return fault(Code::missing_field, "/state", "the request has no state; give the text or JSON to be judged");
  }
  CLEF_RETURN_IF_ERROR(refuse_images_in_state(*state));
  const json::Value* questions = root.find("questions");
  if (questions == nullptr) {
    return fault(Code::missing_field, "/questions", "the request has no questions; give an object with at least one");
  }
  CLEF_ASSIGN_OR_RETURN(request.schema, read_questions(*questions, limits));
  if (const json::Value* images = root.find("images"); images != nullptr && !images->is_null()) {
    CLEF_ASSIGN_OR_RETURN(request.images, read_images(*images, limits));
  }
  if (const json::Value* videos = root.find("videos"); videos != nullptr && !videos->is_null()) {
    CLEF_ASSIGN_OR_RETURN(request.videos, read_videos(*videos, limits));
  }
  request.state = rendered(*state);
  return request;
}

namespace {

// {"questions": {...}} holds the questions, unless its only meaning is a question that is called "questions".
const json::Value* wrapped_questions(const json::Value& root) {
  const json::Value* questions = root.find("questions");
  if (questions == nullptr) return nullptr;
  const json::Value* type = questions->find("type");
  return type != nullptr && type->is_string() ? nullptr : questions;
}

}  // namespace

Result<Schema> parse_schema(std::string_view json, const Limits& limits) {
  json::ParseOptions options;
  options.max_bytes = limits.max_request_bytes;
  Result<json::Document> document = json::parse(json, options);
  if (!document.ok()) {
    // Which of the two forms a broken text has can only be told from the place itself.
    Status error = std::move(document).status();
    std::string& at = error.detail().at;
    if (at != "/questions" && at.rfind("/questions/", 0) != 0) at.insert(0, "/questions");
    return at_contract_field(std::move(error));
  }
  const json::Value& root = document.value().root();
  if (!root.is_object()) return wrong_type("/questions", "questions", "an object of question ids and questions", root);
  const json::Value* wrapped = wrapped_questions(root);
  if (wrapped == nullptr) return read_questions(root, limits);
  CLEF_RETURN_IF_ERROR(refuse_duplicates(root, ""));
  if (limits.strict) {
    CLEF_RETURN_IF_ERROR(refuse_unknown(root, "", {"model", "state", "questions", "images", "videos", "truncation"}));
  }
  return read_questions(*wrapped, limits);
}

Result<std::string> render_state(std::string_view json, const Limits& limits) {
  CLEF_ASSIGN_OR_RETURN(const json::Document document, parse_text(json, limits, "/state"));
  CLEF_RETURN_IF_ERROR(refuse_images_in_state(document.root()));
  return rendered(document.root());
}

}  // namespace clef::schema
