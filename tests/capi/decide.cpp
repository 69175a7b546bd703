// Decisions through the C interface: the recorded answers, accessors, runs, options, errors.
#include <cmath>

#include "json/json.hpp"
#include "owned.hpp"

using namespace clef::test;
namespace json = clef::json;

namespace {

struct Nano {
  Runtime runtime = make_runtime();
  Model model = load_model(runtime.get());
  Session session = make_session(model.get());
};

}  // namespace

TEST_CASE("recorded decisions of the demonstration model") {
  const Nano nano;
  size_t checked = 0;
  for (const std::string& line : read_lines(data_path("nano/decisions.jsonl"))) {
    const auto parsed = json::parse(line);
    REQUIRE(parsed.ok());
    const json::Value& root = parsed.value().root();
    const std::string name(root.find("name")->text());
    const std::string request(root.find("request")->text());
    INFO(name);
#ifndef CLEF_WITH_MEDIA
    if (name == "picture") {
      clef_decision* none = nullptr;
      const Fault fault = call([&](auto error) {
        return clef_decide_json(nano.session.get(), request.data(), request.size(), nullptr, &none, error);
      });
      CHECK(fault.status == CLEF_UNSUPPORTED);
      CHECK(fault.at == "/images/0");
      continue;
    }
#endif
    const Decision decision = decide_json(nano.session.get(), request);
    const clef_decision* d = decision.get();
    const auto ids = root.find("ids")->items();
    REQUIRE(clef_decision_input_tokens(d) == ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      int64_t id = -1;
      REQUIRE(ids[i].to_int64(id));
      REQUIRE(clef_decision_ids(d)[i] == id);
    }
    const std::string answer = json_of(decision);
    const json::Document response = std::move(json::parse(answer)).value();
    const json::Document expected = std::move(json::parse(root.find("answers")->text())).value();
    const auto answers = expected.root().members();
    REQUIRE(answers.size() == clef_decision_count(d));
    for (size_t q = 0; q < answers.size(); ++q) {
      CHECK(std::string(clef_decision_id(d, q, nullptr)) == answers[q].key);
      CHECK(clef_decision_find(d, answers[q].key.data(), answers[q].key.size()) == q);
      const json::Value* probabilities = answers[q].value.find("probabilities");
      if (!probabilities) {
        double p = -1;
        REQUIRE(answers[q].value.find("noul")->to_double(p));
        CHECK(std::fabs(clef_decision_value(d, q) - p) < 6e-5);
        continue;
      }
      REQUIRE(probabilities->members().size() == clef_decision_option_count(d, q));
      for (size_t o = 0; o < probabilities->members().size(); ++o) {
        double p = -1;
        REQUIRE(probabilities->members()[o].value.to_double(p));
        CHECK(probabilities->members()[o].key == clef_decision_option_id(d, q, o, nullptr));
        CHECK(std::fabs(static_cast<double>(clef_decision_probabilities(d, q)[o]) - p) < 6e-5);
      }
    }
    double tokens = 0;
    REQUIRE(response.root().find("usage")->find("input_tokens")->to_double(tokens));
    CHECK(tokens == static_cast<double>(ids.size()));
    ++checked;
  }
#ifdef CLEF_WITH_MEDIA
  CHECK(checked == 40);
#else
  CHECK(checked == 36);
#endif
}

TEST_CASE("requests that must be refused, with code and place") {
  const Nano nano;
  size_t checked = 0;
  for (const std::string& line : read_lines(data_path("requests/refused.jsonl"))) {
    const auto parsed = json::parse(line);
    REQUIRE(parsed.ok());
    const json::Value& root = parsed.value().root();
    const std::string request(root.find("request")->text());
    INFO(root.find("name")->text());
    clef_decision* decision = nullptr;
    const Fault fault = call([&](auto error) {
      return clef_decide_json(nano.session.get(), request.data(), request.size(), nullptr, &decision, error);
    });
    CHECK(clef_status_name(fault.status) == std::string(root.find("code")->text()));
    CHECK(fault.at == root.find("at")->text());
    CHECK(fault.has_at);
    ++checked;
  }
  CHECK(checked == read_lines(data_path("requests/refused.jsonl")).size());
  CHECK(checked >= 50);
}

TEST_CASE("typed accessors agree with the JSON and with each other") {
  const Nano nano;
  const Decision decision = decide_json(nano.session.get(), request_json());
  const clef_decision* d = decision.get();
  REQUIRE(clef_decision_count(d) == 3);
  CHECK(clef_decision_type(d, 0) == CLEF_NOUL);
  CHECK(clef_decision_type(d, 1) == CLEF_CHOICE);
  CHECK(clef_decision_type(d, 2) == CLEF_SCORE);
  CHECK(std::string(clef_decision_option_id(d, 0, 0, nullptr)) == "true");
  CHECK(std::string(clef_decision_option_id(d, 1, 0, nullptr)) == "shipping");  // request order, not prompt order
  CHECK(std::string(clef_decision_option_id(d, 2, 2, nullptr)) == "2");
  CHECK(std::string(clef_decision_option_id(d, 2, 3, nullptr)).empty());
  CHECK(clef_decision_value(d, 0) == static_cast<double>(clef_decision_probabilities(d, 0)[0]));
  for (size_t q = 0; q < 3; ++q) {
    double sum = 0, mean = 0;
    for (size_t o = 0; o < clef_decision_option_count(d, q); ++o) {
      const double p = static_cast<double>(clef_decision_probabilities(d, q)[o]);
      sum += p, mean += p * static_cast<double>(o);
      CHECK(clef_decision_probabilities(d, q)[clef_decision_top(d, q)] >= clef_decision_probabilities(d, q)[o]);
    }
    CHECK(sum == Approx(1.0).margin(1e-5));
    if (q == 2) CHECK(clef_decision_value(d, q) == Approx(mean).margin(1e-5));
    uint64_t begin = 0, end = 0, option_begin = 0, option_end = 0;
    REQUIRE(clef_decision_span(d, q, SIZE_MAX, &begin, &end) == CLEF_OK);
    CHECK(begin < end);
    REQUIRE(clef_decision_span(d, q, 0, &option_begin, &option_end) == CLEF_OK);
    CHECK(option_begin >= end);
    CHECK(option_end <= clef_decision_input_tokens(d));
    const double confidence = clef_decision_confidence(d, q, CLEF_CONFIDENCE_MAX);
    CHECK(confidence == Approx(static_cast<double>(clef_decision_probabilities(d, q)[clef_decision_top(d, q)])));
  }
  CHECK(clef_decision_value(d, 1) == static_cast<double>(clef_decision_top(d, 1)));
  CHECK(std::isnan(clef_decision_confidence(d, 0, 17)));
  CHECK(clef_decision_span(d, 3, 0, nullptr, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_decision_span(d, 0, 2, nullptr, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_decision_find(d, "team", CLEF_NUL) == 1);
  CHECK(clef_decision_find(d, "teamX", 4) == 1);
  CHECK(clef_decision_find(d, "other", CLEF_NUL) == SIZE_MAX);
  CHECK(clef_decision_time(d, CLEF_STAGE_PREFILL) > 0);
  CHECK(clef_decision_time(d, 9) == 0);
  CHECK(json_of(decision).rfind(R"({"model":"m","answers":{"refund":{"type":"noul","noul":)", 0) == 0);
}

TEST_CASE("schema and state give the same decision as the request") {
  const Nano nano;
  const Decision whole = decide_json(nano.session.get(), request_json());
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  const auto parts = [&](const clef_state* s) {
    return make<Decision>(
        [&](auto out, auto error) { return clef_decide(nano.session.get(), schema.get(), s, nullptr, out, error); });
  };
  CHECK(bits_of(parts(state.get()).get()) == bits_of(whole.get()));
  const State borrowed = make<State>(clef_state_create);
  REQUIRE(clef_state_set_text_borrow(borrowed.get(), kState, CLEF_NUL, nullptr, nullptr, nullptr) == CLEF_OK);
  CHECK(bits_of(parts(borrowed.get()).get()) == bits_of(whole.get()));
  const std::string quoted = std::string("\"") + kState + "\"";
  REQUIRE(clef_state_set_json(borrowed.get(), quoted.data(), quoted.size(), nullptr) == CLEF_OK);
  const Decision same = parts(borrowed.get());
  CHECK(bits_of(same.get()) == bits_of(whole.get()));
  // Without a name in the request the response carries the model's.
  CHECK(json_of(same).rfind(R"({"model":"clef-nano",)", 0) == 0);
}

TEST_CASE("counts, prompt and tokenizer of a model agree with the decision") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  const Decision decision = decide_json(nano.session.get(), request_json());
  uint64_t fixed = 0, own = 0;
  REQUIRE(clef_model_count_tokens(nano.model.get(), schema.get(), state.get(), nullptr, &fixed, &own, nullptr) ==
          CLEF_OK);
  CHECK(fixed + own == clef_decision_input_tokens(decision.get()));
  const auto tokenizer =
      make<Tokenizer>([&](auto out, auto error) { return clef_model_tokenizer(nano.model.get(), out, error); });
  size_t count = 0;
  REQUIRE(clef_tokenizer_encode(tokenizer.get(), kState, CLEF_NUL, 0, nullptr, 0, &count, nullptr) == CLEF_OK);
  CHECK(count == own);
  std::vector<int32_t> ids(count);
  CHECK(clef_tokenizer_encode(tokenizer.get(), kState, CLEF_NUL, 0, ids.data(), count - 1, &count, nullptr) ==
        CLEF_OUT_OF_RANGE);
  CHECK(count == own);
  REQUIRE(clef_tokenizer_encode(tokenizer.get(), kState, CLEF_NUL, 0, ids.data(), ids.size(), &count, nullptr) ==
          CLEF_OK);
  const auto decoded = make<Text>(
      [&](auto out, auto error) { return clef_tokenizer_decode(tokenizer.get(), ids.data(), ids.size(), out, error); });
  CHECK(std::string(clef_text_data(decoded.get(), nullptr)) == kState);
  CHECK(clef_tokenizer_encode(tokenizer.get(), "\xff", 1, 0, nullptr, 0, &count, nullptr) == CLEF_INVALID_UNICODE);
  // A control token in text is text, unless asked otherwise.
  size_t literal = 0, control = 0;
  REQUIRE(clef_tokenizer_encode(tokenizer.get(), "<|im_end|>", CLEF_NUL, 0, nullptr, 0, &literal, nullptr) == CLEF_OK);
  REQUIRE(clef_tokenizer_encode(tokenizer.get(), "<|im_end|>", CLEF_NUL, 1, nullptr, 0, &control, nullptr) == CLEF_OK);
  CHECK(literal > 1);
  CHECK(control == 1);

  const Runtime other = serial_runtime();
  const Source source = make_source(other.get());
  const auto alone = make<Tokenizer>(
      [&](auto out, auto error) { return clef_tokenizer_load(other.get(), source.get(), nullptr, 0, out, error); });
  REQUIRE(clef_tokenizer_encode(alone.get(), kState, CLEF_NUL, 0, nullptr, 0, &count, nullptr) == CLEF_OK);
  CHECK(count == own);
  clef_tokenizer* none = nullptr;
  CHECK(clef_tokenizer_load(other.get(), source.get(), "gpt2", CLEF_NUL, &none, nullptr) != CLEF_OK);
}

TEST_CASE("the prompt of a request is that of its parts") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  const auto parts = make<Text>([&](auto out, auto error) {
    return clef_model_prompt(nano.model.get(), schema.get(), state.get(), nullptr, out, error);
  });
  const std::string request = request_json();
  const auto whole = make<Text>([&](auto out, auto error) {
    return clef_model_prompt_json(nano.model.get(), request.data(), request.size(), nullptr, out, error);
  });
  CHECK(std::string(clef_text_data(whole.get(), nullptr)) == clef_text_data(parts.get(), nullptr));
  const json::Document prompt = std::move(json::parse(clef_text_data(whole.get(), nullptr))).value();
  const Decision decision = decide_json(nano.session.get(), request);
  int64_t tokens = 0;
  REQUIRE(prompt.root().find("tokens")->to_int64(tokens));
  REQUIRE(static_cast<uint64_t>(tokens) == clef_decision_input_tokens(decision.get()));
  size_t next = 0;
  for (const json::Value& piece : prompt.root().find("pieces")->items()) {
    for (const json::Value& value : piece.find("ids")->items()) {
      int64_t id = -1;
      REQUIRE(value.to_int64(id));
      REQUIRE(id == clef_decision_ids(decision.get())[next++]);
    }
  }
  CHECK(next == static_cast<size_t>(tokens));
  clef_text* none = nullptr;
  const Fault fault =
      call([&](auto error) { return clef_model_prompt_json(nano.model.get(), "{}", 2, nullptr, &none, error); });
  CHECK(fault.status == CLEF_MISSING_FIELD);
  CHECK(fault.has_at);
}

TEST_CASE("a long state is refused or cut, as the options or the request say") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  std::string text;
  for (int i = 0; i < 60; ++i) text += std::string(kState) + " ";
  const State state = text_state(text);
  const auto options = make_options();
  REQUIRE(clef_options_set_max_tokens(options.get(), 400, nullptr) == CLEF_OK);
  clef_decision* none = nullptr;
  const Fault fault = call([&](auto error) {
    return clef_decide(nano.session.get(), schema.get(), state.get(), options.get(), &none, error);
  });
  CHECK(fault.status == CLEF_TOO_LONG);
  CHECK(fault.at == "/state");
  CHECK(fault.message.find("400") != std::string::npos);
  REQUIRE(clef_options_set_truncation(options.get(), CLEF_TRUNCATE_STATE_TAIL, nullptr) == CLEF_OK);
  const Decision cut = make<Decision>([&](auto out, auto error) {
    return clef_decide(nano.session.get(), schema.get(), state.get(), options.get(), out, error);
  });
  CHECK(clef_decision_input_tokens(cut.get()) == 400);
  CHECK(clef_decision_tokens_dropped(cut.get()) > 0);
  // The request's own field wins over the options.
  const std::string request =
      R"({"truncation":"refuse","state":")" + text + R"(","questions":)" + std::string(kQuestions) + "}";
  CHECK(call([&](auto error) {
          return clef_decide_json(nano.session.get(), request.data(), request.size(), options.get(), &none, error);
        }).status == CLEF_TOO_LONG);
}

TEST_CASE("options of the JSON answer") {
  const Nano nano;
  const auto options = make_options();
  const std::string plain = json_of(decide_json(nano.session.get(), request_json(), options.get()));
  CHECK(plain.find("\"detail\"") == std::string::npos);
  REQUIRE(clef_options_set_detail(options.get(), 1, nullptr) == CLEF_OK);
  CHECK(json_of(decide_json(nano.session.get(), request_json(), options.get())).find("\"detail\"") !=
        std::string::npos);
  REQUIRE(clef_options_set_detail(options.get(), 0, nullptr) == CLEF_OK);
  REQUIRE(clef_options_set_rounding(options.get(), 0, nullptr) == CLEF_OK);
  CHECK(json_of(decide_json(nano.session.get(), request_json(), options.get())).size() > plain.size());
  REQUIRE(clef_options_set_rounding(options.get(), 1, nullptr) == CLEF_OK);
  REQUIRE(clef_options_set_confidence(options.get(), CLEF_CONFIDENCE_ENTROPY, nullptr) == CLEF_OK);
  CHECK(json_of(decide_json(nano.session.get(), request_json(), options.get())) != plain);
}
