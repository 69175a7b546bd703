// A decision against a recorded one: ids and spans equal, logits within 1e-4 (relative above 1), probabilities within 1e-5,
// answers equal to the last printed digit.
#pragma once
#include <algorithm>
#include <cmath>

#include "fixture.hpp"

namespace clef::test {

inline bool same_span(const json::Value& value, schema::Span span) {
  int64_t begin = -1, end = -1;
  return value.items().size() == 2 && value.items()[0].to_int64(begin) && value.items()[1].to_int64(end) &&
         begin == span.begin && end == span.end;
}

// Values equal; numbers within one unit of the fourth decimal, whose rounding may go the other way.
inline bool same_json(const json::Value& a, const json::Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_number()) {
    double x = 0, y = 0;
    return a.to_double(x) && b.to_double(y) && std::fabs(x - y) <= 1.01e-4;
  }
  if (a.items().size() != b.items().size() || a.members().size() != b.members().size()) return false;
  for (size_t i = 0; i < a.items().size(); ++i)
    if (!same_json(a.items()[i], b.items()[i])) return false;
  for (size_t i = 0; i < a.members().size(); ++i)
    if (a.members()[i].key != b.members()[i].key || !same_json(a.members()[i].value, b.members()[i].value))
      return false;
  return a.kind() == json::Kind::boolean ? a.boolean() == b.boolean() : a.text() == b.text() || !a.is_string();
}

inline void check(const Recorded& recorded, const decide::Decision& decision) {
  INFO(recorded.name << " " << recorded.file);
  const auto ids = recorded.get(recorded.document.root().find("ids") ? "ids" : "input_ids").items();
  REQUIRE(ids.size() == decision.ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    int64_t id = -1;
    ids[i].to_int64(id);
    if (id != decision.ids[i]) FAIL("ids differ at " << i);
  }
  int64_t dropped = 0;
  if (const json::Value* value = recorded.document.root().find("tokens_dropped")) value->to_int64(dropped);
  REQUIRE(decision.tokens_dropped == dropped);

  const auto questions = recorded.get("questions").items();
  REQUIRE(questions.size() == decision.answers.size());
  for (size_t q = 0; q < questions.size(); ++q) {
    const decide::Answer& answer = decision.answers[q];
    REQUIRE(questions[q].find("id")->text() == answer.id);
    REQUIRE(same_span(*questions[q].find("span"), answer.span));
    const json::Value* names = questions[q].find("options");
    const auto options = (names ? names : questions[q].find("option_ids"))->items();
    REQUIRE(options.size() == answer.options.size());
    for (size_t j = 0; j < options.size(); ++j) {
      const uint32_t i = answer.prompt_order[j];
      REQUIRE(options[j].text() == answer.options[i]);
      REQUIRE(same_span(questions[q].find("option_spans")->items()[j], answer.option_spans[i]));
      double logit = 0, probability = 0;
      questions[q].find("logits")->items()[j].to_double(logit);
      questions[q].find("probabilities")->items()[j].to_double(probability);
      REQUIRE(std::fabs(static_cast<double>(answer.logits[i]) - logit) <= 1e-4 * std::max(1.0, std::fabs(logit)));
      REQUIRE(std::fabs(static_cast<double>(answer.probabilities[i]) - probability) <= 1e-5);
    }
  }
  const auto response = json::parse(decide::response_json(decision, {}));
  REQUIRE(response.ok());
  const json::Value& recorded_answers = recorded.get("answers");
  if (recorded_answers.is_string()) {
    const auto expected = json::parse(recorded_answers.text());
    REQUIRE(expected.ok());
    REQUIRE(same_json(*response.value().root().find("answers"), expected.value().root()));
  } else {
    REQUIRE(same_json(*response.value().root().find("answers"), recorded_answers));
  }
}

}  // namespace clef::test
