// From logits to answers: softmax, ties, the formulas of confidence, rounding.
#include <cmath>

#include "decide/decision.hpp"
#include "support/catch.hpp"

using namespace clef;
using decide::Confidence;

namespace {

// An answer with given probabilities in request order; the prompt's order is reversed to keep the two apart.
decide::Answer answer(schema::QuestionType type, const std::vector<double>& probabilities) {
  schema::Question question;
  schema::QuestionSpans spans;
  question.id = "q";
  question.type = type;
  const size_t n = probabilities.size();
  std::vector<float> logits(n);
  question.options.resize(n);
  spans.options.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const size_t j = n - 1 - i;
    question.request_order.push_back(static_cast<uint32_t>(j));
    logits[j] = static_cast<float>(std::log(probabilities[i]));
    question.options[j].id = std::string(1, static_cast<char>('a' + static_cast<char>(j)));
    spans.options[j] = {static_cast<int32_t>(j), static_cast<int32_t>(j) + 1};
    question.legend.push_back("\"level\"");
  }
  return decide::make_answer(question, spans, logits.data());
}

}  // namespace

TEST_CASE("probabilities stand in request order, the prompt's order is kept beside them") {
  const auto a = answer(schema::QuestionType::choice, {0.7, 0.2, 0.1});
  REQUIRE(a.probabilities[0] == Approx(0.7).epsilon(1e-6));
  REQUIRE(a.probabilities[2] == Approx(0.1).epsilon(1e-6));
  REQUIRE(a.top == 0);
  REQUIRE(a.prompt_order == std::vector<uint32_t>{2, 1, 0});
  REQUIRE(a.option_spans[0].begin == 2);
}

TEST_CASE("the first of equal options in request order wins") {
  REQUIRE(answer(schema::QuestionType::choice, {0.25, 0.375, 0.375}).top == 1);
  REQUIRE(answer(schema::QuestionType::choice, {0.2, 0.2, 0.2, 0.2, 0.2}).top == 0);
}

TEST_CASE("values: p of true, mean level, index of the choice") {
  REQUIRE(answer(schema::QuestionType::noul, {0.9, 0.1}).value == Approx(0.9).epsilon(1e-6));
  REQUIRE(answer(schema::QuestionType::score, {0.1, 0.2, 0.7}).value == Approx(1.6).epsilon(1e-6));
  REQUIRE(answer(schema::QuestionType::choice, {0.1, 0.2, 0.7}).value == 2.0);
}

TEST_CASE("confidence by its three formulas, against values computed by hand") {
  const auto choice = answer(schema::QuestionType::choice, {0.88, 0.06, 0.06});
  REQUIRE(decide::confidence(choice, Confidence::max) == Approx(0.88).epsilon(1e-6));
  REQUIRE(decide::confidence(choice, Confidence::jev) == Approx(0.82).epsilon(1e-6));  // (3 * 0.88 - 1) / 2
  // 1 - (-(0.88 ln 0.88 + 0.12 ln 0.06)) / ln 3 = 1 - 0.450104 / 1.098612
  REQUIRE(decide::confidence(choice, Confidence::entropy) == Approx(0.590298).epsilon(1e-5));
  const auto score = answer(schema::QuestionType::score, {1e-30, 0.95, 0.05});
  REQUIRE(decide::confidence(score, Confidence::jev) == Approx(0.925).epsilon(1e-6));  // 1 - 0.05 / (2/3)
  const auto equal = answer(schema::QuestionType::choice, {0.25, 0.25, 0.25, 0.25});
  REQUIRE(decide::confidence(equal, Confidence::jev) == Approx(0).margin(1e-6));
  REQUIRE(decide::confidence(equal, Confidence::entropy) == Approx(0).margin(1e-6));
  const auto single = answer(schema::QuestionType::choice, {1.0});
  for (const Confidence formula : {Confidence::max, Confidence::jev, Confidence::entropy})
    REQUIRE(decide::confidence(single, formula) == 1.0);
}

TEST_CASE("large logits do not overflow, and one option has probability 1") {
  schema::Question question;
  question.options = {{"a", ""}, {"b", ""}};
  question.request_order = {0, 1};
  question.type = schema::QuestionType::noul;
  schema::QuestionSpans spans;
  spans.options.resize(2);
  const float logits[] = {3e38f, -3e38f};
  const auto a = decide::make_answer(question, spans, logits);
  REQUIRE(a.probabilities[0] == 1.0f);
  REQUIRE(a.probabilities[1] == 0.0f);
}

TEST_CASE("the response's form") {
  decide::Decision decision;
  decision.model = "clef \"nano\"";
  decision.ids = {1, 2, 3};
  decision.answers.push_back(answer(schema::QuestionType::noul, {0.96875, 0.03125}));
  decision.answers.push_back(answer(schema::QuestionType::score, {0.25, 0.75}));
  decision.answers[1].id = "s";
  REQUIRE(decide::response_json(decision, {}) ==
          R"({"model":"clef \"nano\"","answers":{"q":{"type":"noul","noul":0.9688},)"
          R"("s":{"type":"score","score":0.75,"confidence":0.75,"legend":{"b":"level","a":"level"},)"
          R"("probabilities":{"b":0.25,"a":0.75}}},"usage":{"input_tokens":3,"output_tokens":0}})");
  decision.tokens_dropped = 7;
  const std::string cut = decide::response_json(decision, {});
  REQUIRE(cut.find(R"("detail":{"tokens_dropped":7})") != std::string::npos);  // a loss is reported unasked
}
