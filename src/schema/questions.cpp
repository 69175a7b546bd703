// The object of questions: every check first, then the rendering.
#include <algorithm>

#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Result;
using base::Status;

std::string_view question_type_name(QuestionType type) noexcept {
  switch (type) {
    case QuestionType::noul:
      return "noul";
    case QuestionType::choice:
      return "choice";
    case QuestionType::score:
      return "score";
  }
  return "";
}

Status check_question_id(std::string_view id, const Limits& limits) {
  if (id.empty()) return fault(Code::empty, "/questions", "a question's id is empty; it must have at least one byte");
  if (id.size() <= limits.max_id_bytes) return {};
  return fault(Code::too_long, "/questions",
               "the question id " + quoted(id) + " has " + std::to_string(id.size()) + " bytes; at most " +
                   std::to_string(limits.max_id_bytes) + " are allowed (limit max_id_bytes)");
}

Status check_question_count(size_t count, const Limits& limits) {
  if (count == 0) return fault(Code::empty, "/questions", "there are no questions; at least one is needed");
  if (count <= limits.max_questions) return {};
  return fault(Code::too_many, "/questions",
               "there are " + std::to_string(count) + " questions; at most " + std::to_string(limits.max_questions) +
                   " are allowed (limit max_questions)");
}

Status check_option_count(std::string_view criteria_at, size_t count, const Limits& limits) {
  if (count == 0) return fault(Code::empty, criteria_at, "the choice has no options; criteria needs at least one");
  if (count <= limits.max_options) return {};
  return fault(Code::too_many, criteria_at,
               "the choice has " + std::to_string(count) + " options; at most " + std::to_string(limits.max_options) +
                   " are allowed (limit max_options)");
}

Status check_level_count(std::string_view criteria_at, size_t count, const Limits& limits) {
  const std::string has = "the score has " + std::to_string(count) + " levels; ";
  if (count == 0) {
    return fault(
        Code::empty, criteria_at,
        has + "criteria needs " + std::to_string(limits.min_levels) + " to " + std::to_string(limits.max_levels));
  }
  if (count < limits.min_levels) {
    return fault(Code::too_few, criteria_at,
                 has + "at least " + std::to_string(limits.min_levels) + " are needed (limit min_levels)");
  }
  if (count <= limits.max_levels) return {};
  return fault(Code::too_many, criteria_at,
               has + "at most " + std::to_string(limits.max_levels) + " are allowed (limit max_levels)");
}

namespace {

constexpr std::string_view kDescription = "{\"description\":";

void append_id(std::string_view id, std::string& out) {
  out += out.empty() ? "{" : ",";
  out += "\"option_id\":";
  json::append_python_string(id, out);
  out += '}';
}

}  // namespace

std::string render_option(std::string_view id, const json::Value& description) {
  std::string out;
  if (!description.is_null()) {
    out = kDescription;
    json::append_python(description, out);
  }
  append_id(id, out);
  return out;
}

std::string render_option(std::string_view id, std::optional<std::string_view> description) {
  std::string out;
  if (description) {
    out = kDescription;
    json::append_python_string(*description, out);
  }
  append_id(id, out);
  return out;
}

void sort_options(Question& question) {
  const size_t count = question.options.size();
  std::vector<uint32_t> order(count);
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
  // UTF-8 bytes sort as code points do.
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return question.options[a].id < question.options[b].id; });
  std::vector<Option> sorted(count);
  question.request_order.assign(count, 0);
  for (size_t i = 0; i < count; ++i) {
    sorted[i] = std::move(question.options[order[i]]);
    question.request_order[order[i]] = static_cast<uint32_t>(i);
  }
  question.options = std::move(sorted);
}

void keep_request_order(Question& question) {
  question.request_order.resize(question.options.size());
  for (size_t i = 0; i < question.request_order.size(); ++i) question.request_order[i] = static_cast<uint32_t>(i);
}

namespace {

// A checked question, not yet rendered. Views into the document.
struct Draft {
  std::string_view id;
  QuestionType type = QuestionType::noul;
  const json::Value* instructions = nullptr;  // nullptr: the id stands in
  const json::Value* criteria = nullptr;      // nullptr: noul with the default descriptions
};

Result<QuestionType> read_type(const json::Value& question, std::string_view at) {
  const json::Value* type = question.find("type");
  const std::string type_at = place(at, "type");
  constexpr std::string_view kAllowed = "\"noul\", \"choice\" or \"score\"";
  if (type == nullptr) {
    return fault(Code::missing_field, type_at, std::string("the question has no type; give ").append(kAllowed));
  }
  if (!type->is_string()) return wrong_type(type_at, "a question's type", kAllowed, *type);
  for (const QuestionType known : {QuestionType::noul, QuestionType::choice, QuestionType::score})
    if (type->text() == question_type_name(known)) return known;
  return fault(Code::invalid_value, type_at,
               "the question type " + quoted(type->text()) + " is not known; it must be " + std::string(kAllowed));
}

Result<const json::Value*> read_instructions(const json::Value& question, std::string_view at, const Limits& limits) {
  const json::Value* instructions = question.find("instructions");
  const std::string instructions_at = place(at, "instructions");
  constexpr std::string_view kAllowed = "a string, an object or an array";
  if (instructions == nullptr) {
    if (!limits.strict) return instructions;
    return fault(Code::missing_field, instructions_at, "the question has no instructions, which strict checking needs");
  }
  if (instructions->is_null()) {
    if (limits.strict) return wrong_type(instructions_at, "instructions", kAllowed, *instructions);
    return static_cast<const json::Value*>(nullptr);
  }
  if (instructions->is_number() || instructions->kind() == json::Kind::boolean) {
    return wrong_type(instructions_at, "instructions", kAllowed, *instructions);
  }
  if (instructions->is_string() && instructions->text().empty()) {
    if (limits.strict)
      return fault(Code::empty, instructions_at, "instructions are empty, which strict checking refuses");
    return static_cast<const json::Value*>(nullptr);
  }
  return instructions;
}

Status check_noul_criteria(const json::Value& criteria, std::string_view at, const Limits& limits) {
  if (!criteria.is_object()) {
    return wrong_type(at, "a noul's criteria", "an object with the members true and false", criteria);
  }
  CLEF_RETURN_IF_ERROR(refuse_duplicates(criteria, at));
  if (limits.lenient_noul_criteria) return {};
  return refuse_unknown(criteria, at, {"true", "false"});
}

Status check_choice_criteria(const json::Value& criteria, std::string_view at, const Limits& limits) {
  if (!criteria.is_object()) {
    return wrong_type(at, "a choice's criteria", "an object of option ids and their descriptions", criteria);
  }
  CLEF_RETURN_IF_ERROR(check_option_count(at, criteria.members().size(), limits));
  return refuse_duplicates(criteria, at);
}

Status check_score_criteria(const json::Value& criteria, std::string_view at, const Limits& limits) {
  if (!criteria.is_array()) {
    return wrong_type(at, "a score's criteria", "an array of level descriptions, lowest first", criteria);
  }
  const std::span<const json::Value> levels = criteria.items();
  CLEF_RETURN_IF_ERROR(check_level_count(at, levels.size(), limits));
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].is_null()) {
      return wrong_type(place(at, std::to_string(i)), "a level's description", "any value but null", levels[i]);
    }
  }
  return {};
}

Result<const json::Value*> read_criteria(const json::Value& question, QuestionType type, std::string_view at,
                                         const Limits& limits) {
  const json::Value* criteria = question.find("criteria");
  const std::string criteria_at = place(at, "criteria");
  if (type == QuestionType::noul) {
    if (criteria == nullptr || criteria->is_null()) return static_cast<const json::Value*>(nullptr);
    CLEF_RETURN_IF_ERROR(check_noul_criteria(*criteria, criteria_at, limits));
    return criteria;
  }
  if (criteria == nullptr) {
    return fault(Code::missing_field, criteria_at,
                 type == QuestionType::choice
                     ? "the choice has no criteria; give an object of option ids and their descriptions"
                     : "the score has no criteria; give an array of level descriptions, lowest first");
  }
  CLEF_RETURN_IF_ERROR(type == QuestionType::choice ? check_choice_criteria(*criteria, criteria_at, limits)
                                                    : check_score_criteria(*criteria, criteria_at, limits));
  return criteria;
}

Result<Draft> check_question(std::string_view id, const json::Value& question, const Limits& limits) {
  const std::string at = place("/questions", id);
  if (!question.is_object()) {
    return wrong_type(at, "a question", "an object with type, instructions and criteria", question);
  }
  CLEF_RETURN_IF_ERROR(refuse_duplicates(question, at));
  if (limits.strict) CLEF_RETURN_IF_ERROR(refuse_unknown(question, at, {"type", "instructions", "criteria"}));
  Draft draft;
  draft.id = id;
  CLEF_ASSIGN_OR_RETURN(draft.type, read_type(question, at));
  CLEF_ASSIGN_OR_RETURN(draft.instructions, read_instructions(question, at, limits));
  CLEF_ASSIGN_OR_RETURN(draft.criteria, read_criteria(question, draft.type, at, limits));
  return draft;
}

std::string render_noul_option(std::string_view id, const json::Value* criteria, std::string_view description) {
  const json::Value* own = criteria == nullptr ? nullptr : criteria->find(id);
  return own == nullptr ? render_option(id, description) : render_option(id, *own);
}

Question render_question(const Draft& draft) {
  Question question;
  question.id = draft.id;
  question.type = draft.type;
  if (draft.instructions == nullptr) {
    question.instruction = draft.id;
  } else if (draft.instructions->is_string()) {
    question.instruction = draft.instructions->text();
  } else {
    json::append_python(*draft.instructions, question.instruction);
  }
  switch (draft.type) {
    case QuestionType::noul:
      question.options.push_back({"true", render_noul_option("true", draft.criteria, kTrueDescription)});
      question.options.push_back({"false", render_noul_option("false", draft.criteria, kFalseDescription)});
      keep_request_order(question);
      break;
    case QuestionType::choice:
      question.options.reserve(draft.criteria->members().size());
      for (const json::Member& member : draft.criteria->members())
        question.options.push_back({std::string(member.key), render_option(member.key, member.value)});
      sort_options(question);
      break;
    case QuestionType::score:
      for (const json::Value& level : draft.criteria->items()) {
        std::string id = std::to_string(question.options.size());
        std::string rendered = render_option(id, level);
        question.options.push_back({std::move(id), std::move(rendered)});
        json::append_compact(level, question.legend.emplace_back());
      }
      keep_request_order(question);
      break;
  }
  return question;
}

}  // namespace

Result<Schema> read_questions(const json::Value& questions, const Limits& limits) {
  if (!questions.is_object()) {
    return wrong_type("/questions", "questions", "an object of question ids and questions", questions);
  }
  const std::span<const json::Member> members = questions.members();
  CLEF_RETURN_IF_ERROR(check_question_count(members.size(), limits));
  for (const json::Member& member : members) CLEF_RETURN_IF_ERROR(check_question_id(member.key, limits));
  CLEF_RETURN_IF_ERROR(refuse_duplicates(questions, "/questions"));
  std::vector<Draft> drafts;
  drafts.reserve(members.size());
  for (const json::Member& member : members) {
    CLEF_ASSIGN_OR_RETURN(Draft draft, check_question(member.key, member.value, limits));
    drafts.push_back(draft);
  }
  Schema schema;
  schema.questions.reserve(drafts.size());
  for (const Draft& draft : drafts) schema.questions.push_back(render_question(draft));
  return schema;
}

}  // namespace clef::schema
