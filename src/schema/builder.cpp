// The same checks and the same rendering as questions.cpp, for texts that come one by one.
#include "base/unicode.hpp"
#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Result;
using base::Status;

namespace {

Status check_text(std::string_view at, std::string_view what, std::string_view text) {
  const size_t offset = base::find_invalid_utf8(text);
  if (offset == std::string_view::npos) return {};
  return fault(Code::invalid_unicode, at, std::string(what) + " is not valid UTF-8 at byte " + std::to_string(offset))
      .at_offset(static_cast<int64_t>(offset));
}

Status check_description(std::string_view at, const std::optional<std::string_view>& description) {
  return description ? check_text(at, "the description", *description) : Status();
}

}  // namespace

Result<Question> SchemaBuilder::begin(std::string_view id, QuestionType type,
                                      std::optional<std::string_view> instructions) const {
  CLEF_RETURN_IF_ERROR(check_question_count(schema_.questions.size() + 1, limits_));
  CLEF_RETURN_IF_ERROR(check_text("/questions", "the question's id", id));
  CLEF_RETURN_IF_ERROR(check_question_id(id, limits_));
  const std::string at = place("/questions", id);
  if (ids_.find(id) != ids_.end()) {
    return fault(Code::duplicate_key, at, "the question " + quoted(id) + " is given twice");
  }
  const std::string instructions_at = place(at, "instructions");
  if (limits_.strict && !instructions) {
    return fault(Code::missing_field, instructions_at, "the question has no instructions, which strict checking needs");
  }
  if (limits_.strict && instructions->empty()) {
    return fault(Code::empty, instructions_at, "instructions are empty, which strict checking refuses");
  }
  if (instructions) CLEF_RETURN_IF_ERROR(check_text(instructions_at, "the instructions", *instructions));
  Question question;
  question.id = id;
  question.type = type;
  question.instruction = instructions && !instructions->empty() ? *instructions : id;
  return question;
}

void SchemaBuilder::finish_question(Question question) {
  ids_.insert(question.id);
  schema_.questions.push_back(std::move(question));
}

Status SchemaBuilder::add_noul(std::string_view id, std::optional<std::string_view> instructions,
                               std::optional<std::string_view> true_description,
                               std::optional<std::string_view> false_description) {
  CLEF_ASSIGN_OR_RETURN(Question question, begin(id, QuestionType::noul, instructions));
  const std::string criteria_at = place(place("/questions", id), "criteria");
  CLEF_RETURN_IF_ERROR(check_description(place(criteria_at, "true"), true_description));
  CLEF_RETURN_IF_ERROR(check_description(place(criteria_at, "false"), false_description));
  question.options.push_back({"true", render_option("true", true_description.value_or(kTrueDescription))});
  question.options.push_back({"false", render_option("false", false_description.value_or(kFalseDescription))});
  keep_request_order(question);
  finish_question(std::move(question));
  return {};
}

Status SchemaBuilder::add_choice(std::string_view id, std::optional<std::string_view> instructions,
                                 const std::vector<Described>& options) {
  CLEF_ASSIGN_OR_RETURN(Question question, begin(id, QuestionType::choice, instructions));
  const std::string criteria_at = place(place("/questions", id), "criteria");
  CLEF_RETURN_IF_ERROR(check_option_count(criteria_at, options.size(), limits_));
  question.options.reserve(options.size());
  for (const Described& option : options) {
    CLEF_RETURN_IF_ERROR(check_text(criteria_at, "the option's id", option.id));
    CLEF_RETURN_IF_ERROR(check_description(place(criteria_at, option.id), option.description));
    question.options.push_back({std::string(option.id), render_option(option.id, option.description)});
  }
  sort_options(question);
  for (size_t i = 1; i < question.options.size(); ++i) {
    const std::string& option_id = question.options[i].id;
    if (option_id != question.options[i - 1].id) continue;
    return fault(Code::duplicate_key, place(criteria_at, option_id),
                 "the option " + quoted(option_id) + " is given twice");
  }
  finish_question(std::move(question));
  return {};
}

Status SchemaBuilder::add_score(std::string_view id, std::optional<std::string_view> instructions,
                                const std::vector<std::string_view>& levels) {
  CLEF_ASSIGN_OR_RETURN(Question question, begin(id, QuestionType::score, instructions));
  const std::string criteria_at = place(place("/questions", id), "criteria");
  CLEF_RETURN_IF_ERROR(check_level_count(criteria_at, levels.size(), limits_));
  for (const std::string_view level : levels) {
    std::string option_id = std::to_string(question.options.size());
    CLEF_RETURN_IF_ERROR(check_text(place(criteria_at, option_id), "the level's description", level));
    std::string rendered = render_option(option_id, level);
    question.options.push_back({std::move(option_id), std::move(rendered)});
    json::append_python_string(level, question.legend.emplace_back());
  }
  keep_request_order(question);
  finish_question(std::move(question));
  return {};
}

Result<Schema> SchemaBuilder::finish() && {
  CLEF_RETURN_IF_ERROR(check_question_count(schema_.questions.size(), limits_));
  return std::move(schema_);
}

}  // namespace clef::schema
