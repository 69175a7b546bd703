#include <limits>

#include "base/fp_env.hpp"
#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {

Result<std::unique_ptr<clef_decision>> make_decision(decide::Decision decision, const decide::JsonOptions& options,
                                                     const Runtime& runtime) {
  auto made = std::make_unique<clef_decision>();
  made->decision = std::move(decision);
  made->json = decide::response_json(made->decision, options);
  if (made->decision.tokens_dropped > 0 && runtime.logs())
    runtime.log(CLEF_LOG_WARNING,
                std::to_string(made->decision.tokens_dropped) + " tokens were cut off the end of the state");
  return made;
}

namespace {

const decide::Answer* answer_of(const clef_decision* decision, size_t question) noexcept {
  if (!decision || question >= decision->decision.answers.size()) return nullptr;
  return &decision->decision.answers[question];
}

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

size_t clef_decision_count(const clef_decision* decision) {
  return guard_value<size_t>(0, [&] { return decision ? decision->decision.answers.size() : size_t{0}; });
}

size_t clef_decision_find(const clef_decision* decision, const char* id, size_t size) {
  return guard_value<size_t>(SIZE_MAX, [&]() -> size_t {
    const auto text = raw_text(id, size, "id");
    if (!decision || !id || !text.ok()) return SIZE_MAX;
    const auto& answers = decision->decision.answers;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].id == text.value()) return i;
    }
    return SIZE_MAX;
  });
}

const char* clef_decision_id(const clef_decision* decision, size_t question, size_t* size) {
  return guard_string(size, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? std::string_view(answer->id) : std::string_view("");
  });
}

clef_question_type clef_decision_type(const clef_decision* decision, size_t question) {
  return guard_value<clef_question_type>(0, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? static_cast<clef_question_type>(answer->type) : clef_question_type{0};
  });
}

size_t clef_decision_option_count(const clef_decision* decision, size_t question) {
  return guard_value<size_t>(0, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? answer->options.size() : size_t{0};
  });
}

const char* clef_decision_option_id(const clef_decision* decision, size_t question, size_t option, size_t* size) {
  return guard_string(size, [&] {
    const auto* answer = answer_of(decision, question);
    if (!answer || option >= answer->options.size()) return std::string_view("");
    return std::string_view(answer->options[option]);
  });
}

const float* clef_decision_probabilities(const clef_decision* decision, size_t question) {
  return guard_value<const float*>(nullptr, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? answer->probabilities.data() : nullptr;
  });
}

const float* clef_decision_logits(const clef_decision* decision, size_t question) {
  return guard_value<const float*>(nullptr, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? answer->logits.data() : nullptr;
  });
}

double clef_decision_value(const clef_decision* decision, size_t question) {
  return guard_value(kUnknown, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? answer->value : kUnknown;
  });
}

size_t clef_decision_top(const clef_decision* decision, size_t question) {
  return guard_value<size_t>(SIZE_MAX, [&] {
    const auto* answer = answer_of(decision, question);
    return answer ? size_t{answer->top} : SIZE_MAX;
  });
}

double clef_decision_confidence(const clef_decision* decision, size_t question, clef_confidence formula) {
  return guard_value(kUnknown, [&] {
    const clef::base::ScopedFpEnvironment fp_environment;
    const auto* answer = answer_of(decision, question);
    if (!answer || formula < CLEF_CONFIDENCE_MAX || formula > CLEF_CONFIDENCE_ENTROPY) return kUnknown;
    return clef::decide::confidence(*answer, static_cast<clef::decide::Confidence>(formula));
  });
}

uint64_t clef_decision_input_tokens(const clef_decision* decision) {
  return guard_value<uint64_t>(0, [&] { return decision ? uint64_t{decision->decision.ids.size()} : uint64_t{0}; });
}

uint64_t clef_decision_tokens_dropped(const clef_decision* decision) {
  return guard_value<uint64_t>(
      0, [&] { return decision ? static_cast<uint64_t>(decision->decision.tokens_dropped) : uint64_t{0}; });
}

const int32_t* clef_decision_ids(const clef_decision* decision) {
  return guard_value<const int32_t*>(nullptr, [&] { return decision ? decision->decision.ids.data() : nullptr; });
}

clef_status clef_decision_span(const clef_decision* decision, size_t question, size_t option, uint64_t* begin,
                               uint64_t* end) {
  clear(begin);
  clear(end);
  return guard(nullptr, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    const auto* answer = answer_of(decision, question);
    if (!answer || (option != SIZE_MAX && option >= answer->option_spans.size()))
      return Status(Code::out_of_range, "there is no such question or option");
    const clef::schema::Span span = option == SIZE_MAX ? answer->span : answer->option_spans[option];
    if (begin) *begin = static_cast<uint64_t>(span.begin);
    if (end) *end = static_cast<uint64_t>(span.end);
    return {};
  });
}

uint64_t clef_decision_time(const clef_decision* decision, clef_stage stage) {
  return guard_value<uint64_t>(0, [&]() -> uint64_t {
    if (!decision || stage < 0 || stage >= clef::base::kStages) return 0;
    return decision->decision.nanoseconds[stage];
  });
}

const char* clef_decision_json(const clef_decision* decision, size_t* size) {
  return guard_string(size, [&] { return decision ? std::string_view(decision->json) : std::string_view(""); });
}

void clef_decision_free(clef_decision* decision) {
  guard_void([&] { delete decision; });
}
