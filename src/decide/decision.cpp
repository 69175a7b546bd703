#include "decide/decision.hpp"

#include <algorithm>
#include <cmath>

#include "json/json.hpp"

namespace clef::decide {

using schema::QuestionType;

Answer make_answer(const schema::Question& question, const schema::QuestionSpans& spans, const float* prompt_logits) {
  const size_t count = question.options.size();
  Answer answer;
  answer.id = question.id;
  answer.type = question.type;
  answer.span = spans.instruction;
  answer.legend = question.legend;
  answer.prompt_order.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t j = question.request_order[i];
    answer.options.push_back(question.options[j].id);
    answer.logits.push_back(prompt_logits[j]);
    answer.option_spans.push_back(spans.options[j]);
    answer.prompt_order[j] = static_cast<uint32_t>(i);
  }
  // The reference's softmax: f32, terms summed in prompt order.
  const float top = *std::max_element(prompt_logits, prompt_logits + count);
  float sum = 0;
  for (size_t j = 0; j < count; ++j) sum += std::exp(prompt_logits[j] - top);
  answer.probabilities.resize(count);
  for (size_t i = 0; i < count; ++i) answer.probabilities[i] = std::exp(answer.logits[i] - top) / sum;

  const auto first_maximum = std::max_element(answer.probabilities.begin(), answer.probabilities.end());
  answer.top = static_cast<uint32_t>(first_maximum - answer.probabilities.begin());
  switch (question.type) {
    case QuestionType::noul:
      answer.value = answer.probabilities[0];
      break;
    case QuestionType::choice:
      answer.value = answer.top;
      break;
    case QuestionType::score:
      for (size_t i = 0; i < count; ++i)
        answer.value += static_cast<double>(i) * static_cast<double>(answer.probabilities[i]);
      break;
  }
  return answer;
}

double confidence(const Answer& answer, Confidence formula) noexcept {
  const double n = static_cast<double>(answer.probabilities.size());
  const double highest = answer.probabilities[answer.top];
  if (formula == Confidence::max || n < 1) return highest;
  if (n == 1) return 1;
  if (formula == Confidence::entropy) {
    double entropy = 0;
    for (const double p : answer.probabilities)
      if (p > 0) entropy -= p * std::log(p);
    return std::clamp(1 - entropy / std::log(n), 0.0, 1.0);
  }
  if (answer.type != QuestionType::score) return std::max(0.0, (n * highest - 1) / (n - 1));
  // Mean distance from the most probable level, over the mean distance of all levels from the middle one.
  double distance = 0, spread = 0;
  for (size_t i = 0; i < answer.probabilities.size(); ++i) {
    const double x = static_cast<double>(i);
    distance += static_cast<double>(answer.probabilities[i]) * std::fabs(x - static_cast<double>(answer.top));
    spread += std::fabs(x - (n - 1) / 2) / n;
  }
  return std::max(0.0, 1 - distance / spread);
}

namespace {

void number(json::Writer& writer, double value, bool rounded) {
  if (rounded) {
    writer.rounded4(value);
  } else {
    writer.number(value);
  }
}

void write_answer(json::Writer& writer, const Answer& answer, const JsonOptions& options) {
  writer.begin_object();
  writer.key("type");
  writer.string(schema::question_type_name(answer.type));
  writer.key(schema::question_type_name(answer.type));
  if (answer.type == QuestionType::choice) {
    writer.string(answer.options[answer.top]);
  } else {
    number(writer, answer.value, options.rounded);
  }
  if (answer.type != QuestionType::noul) {
    writer.key("confidence");
    number(writer, confidence(answer, options.confidence), options.rounded);
    if (answer.type == QuestionType::score) {
      writer.key("legend");
      writer.begin_object();
      for (size_t i = 0; i < answer.legend.size(); ++i) {
        writer.key(answer.options[i]);
        writer.raw(answer.legend[i]);
      }
      writer.end_object();
    }
    writer.key("probabilities");
    writer.begin_object();
    for (size_t i = 0; i < answer.options.size(); ++i) {
      writer.key(answer.options[i]);
      number(writer, answer.probabilities[i], options.rounded);
    }
    writer.end_object();
  }
  writer.end_object();
}

void write_span(json::Writer& writer, schema::Span span) {
  writer.begin_array();
  writer.integer(span.begin);
  writer.integer(span.end);
  writer.end_array();
}

// Everything in the order of the prompt.
void write_question_detail(json::Writer& writer, const Answer& answer) {
  const auto each = [&](const char* key, auto&& write) {
    writer.key(key);
    writer.begin_array();
    for (const uint32_t i : answer.prompt_order) write(i);
    writer.end_array();
  };
  writer.begin_object();
  writer.key("id");
  writer.string(answer.id);
  writer.key("span");
  write_span(writer, answer.span);
  each("options", [&](uint32_t i) { writer.string(answer.options[i]); });
  each("option_spans", [&](uint32_t i) { write_span(writer, answer.option_spans[i]); });
  each("logits", [&](uint32_t i) { writer.number(static_cast<double>(answer.logits[i])); });
  each("probabilities", [&](uint32_t i) { writer.number(static_cast<double>(answer.probabilities[i])); });
  writer.end_object();
}

}  // namespace

std::string response_json(const Decision& decision, const JsonOptions& options) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.key("model");
  writer.string(decision.model);
  writer.key("answers");
  writer.begin_object();
  for (const Answer& answer : decision.answers) {
    writer.key(answer.id);
    write_answer(writer, answer, options);
  }
  writer.end_object();
  writer.key("usage");
  writer.begin_object();
  writer.key("input_tokens");
  writer.integer(static_cast<int64_t>(decision.ids.size()));
  writer.key("output_tokens");
  writer.integer(0);
  writer.end_object();
  // What was cut is always reported.
  if (options.detail || decision.tokens_dropped > 0) {
    writer.key("detail");
    writer.begin_object();
    writer.key("tokens_dropped");
    writer.integer(decision.tokens_dropped);
    if (options.detail) {
      writer.key("ids");
      writer.begin_array();
      for (const int32_t id : decision.ids) writer.integer(id);
      writer.end_array();
      writer.key("questions");
      writer.begin_array();
      for (const Answer& answer : decision.answers) write_question_detail(writer, answer);
      writer.end_array();
    }
    writer.end_object();
  }
  writer.end_object();
  return out;
}

}  // namespace clef::decide
