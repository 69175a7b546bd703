// The result of a decision and its JSON forms.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hooks.hpp"
#include "schema/prompt.hpp"
#include "schema/request.hpp"

namespace clef::decide {

enum class Confidence : uint8_t { max = 0, jev = 1, entropy = 2 };

struct Answer {
  std::string id;
  schema::QuestionType type = schema::QuestionType::noul;
  // In request order.
  std::vector<std::string> options;
  std::vector<float> logits, probabilities;
  std::vector<schema::Span> option_spans;
  std::vector<uint32_t> prompt_order;  // prompt_order[j] = index in request order of the prompt's j-th option
  schema::Span span;                   // of the instruction
  std::vector<std::string> legend;     // score: the levels as JSON
  double value = 0;                    // noul: p(true); score: sum of index times p; choice: index of the top option
  uint32_t top = 0;                    // first maximum in request order
};

struct Decision {
  std::string model;
  std::vector<Answer> answers;
  std::vector<int32_t> ids;
  int64_t tokens_dropped = 0;
  uint64_t nanoseconds[base::kStages] = {};  // by base::Stage
};

struct JsonOptions {
  Confidence confidence = Confidence::max;
  bool rounded = true;  // 4 decimals, as the reference
  bool detail = false;
};

// Softmax, top option and value from logits in prompt order (docs: the answer rules of the reference).
Answer make_answer(const schema::Question& question, const schema::QuestionSpans& spans, const float* prompt_logits);
double confidence(const Answer& answer, Confidence formula) noexcept;
std::string response_json(const Decision& decision, const JsonOptions& options);

}  // namespace clef::decide
