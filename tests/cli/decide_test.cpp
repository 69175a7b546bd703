// clef decide and clef prompt.
#include <cmath>
#include <nlohmann/json.hpp>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;
using Json = nlohmann::ordered_json;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Equal but for the last of four decimals, members in the same order.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return std::fabs(a.get<double>() - b.get<double>()) <= 1.01e-4;
  if (!a.is_structured()) return a == b;
  if (a.type() != b.type() || a.size() != b.size()) return false;
  auto x = a.items().begin();
  for (auto y = b.items().begin(); y != b.items().end(); ++x, ++y)
    if (x.key() != y.key() || !same(x.value(), y.value())) return false;
  return true;
}

std::string long_request() {
  std::string state;
  for (int i = 0; i < 400; ++i) state += "Please refund the second payment. ";
  return Json{{"state", state}, {"questions", {{"refund", {{"type", "noul"}, {"instructions", "Is it a refund?"}}}}}}
      .dump();
}

}  // namespace

TEST_CASE("recorded decisions of the demonstration model") {
  std::string requests;
  std::vector<Json> expected;
  for (const std::string& line : read_lines(data_path("nano/decisions.jsonl"))) {
    expected.push_back(Json::parse(line));
    requests += expected.back()["request"].get<std::string>() + "\n";
  }
  REQUIRE(expected.size() > 30);
  const Outcome outcome =
      run({"decide", nano(), temporary_file("requests.jsonl", requests), "--detail", "--compute", "exact"});
  const std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == expected.size());
  size_t answered = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(expected[i]["name"].get<std::string>());
    const Json response = Json::parse(lines[i]);
#ifndef CLEF_WITH_MEDIA
    if (expected[i]["request"].get<std::string>().find("\"images\"") != std::string::npos) {
      CHECK(response["error"]["code"] == "unsupported");
      continue;
    }
#endif
    ++answered;
    REQUIRE(response.contains("answers"));
    CHECK(same(response["answers"], Json::parse(expected[i]["answers"].get<std::string>())));
    CHECK(response["detail"]["ids"] == expected[i]["ids"]);
    CHECK(response["usage"]["input_tokens"] == expected[i]["input_tokens"]);
    const Json& questions = expected[i]["questions"];
    REQUIRE(response["detail"]["questions"].size() == questions.size());
    for (size_t q = 0; q < questions.size(); ++q) {
      const Json& got = response["detail"]["questions"][q];
      CHECK(got["span"] == questions[q]["span"]);
      for (size_t k = 0; k < questions[q]["probabilities"].size(); ++k)
        CHECK(std::fabs(got["probabilities"][k].get<double>() - questions[q]["probabilities"][k].get<double>()) <=
              1e-5);
    }
  }
#ifdef CLEF_WITH_MEDIA
  CHECK(answered == 40);
#else
  CHECK(answered == 36);
#endif
}

TEST_CASE("a refused line gets an error in its place") {
  const std::string good = read_file(nano() + "/examples/spam.json");
  const std::string flat = Json::parse(good).dump();
  const std::string file = temporary_file(
      "mixed.jsonl", flat + "\n\n  \t\r\n{\"state\":\"s\",\"questions\":{\"a\":{\"type\":\"maybe\"}}}\n{oops\n" + flat);
  const Outcome outcome = run({"decide", nano(), file});
  CHECK(outcome.status == 1);
  const std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 4);
  CHECK(Json::parse(lines[0]).contains("answers"));
  CHECK(lines[3] == lines[0]);
  const Json refused = Json::parse(lines[1]);
  REQUIRE(refused.size() == 1);
  CHECK(refused["error"]["code"] == "invalid_value");
  CHECK(refused["error"]["at"] == "/questions/a/type");
  CHECK(!refused["error"]["message"].get<std::string>().empty());
  CHECK(Json::parse(lines[2])["error"]["code"] == "invalid_json");
  CHECK(has(outcome.err, "mixed.jsonl:4: "));
  CHECK(has(outcome.err, "mixed.jsonl:5: "));
  CHECK(lines_of(outcome.err).size() == 2);
}

TEST_CASE("requests from stdin and from several files") {
  const std::string spam = nano() + "/examples/spam.json", ticket = nano() + "/examples/ticket.json";
  const Outcome both = run({"decide", nano(), spam, ticket});
  REQUIRE(both.status == 0);
  CHECK(both.err == "");
  const std::vector<std::string> lines = lines_of(both.out);
  REQUIRE(lines.size() == 2);
  CHECK(Json::parse(lines[0])["answers"].contains("spam"));
  CHECK(Json::parse(lines[1])["answers"].contains("team"));

  CHECK(run({"decide", nano(), "-"}, read_file(spam)).out == lines[0] + "\n");
  const std::string flat = Json::parse(read_file(spam)).dump();
  CHECK(run({"decide", nano(), "-", "--jsonl"}, flat + "\n" + flat + "\n").out == lines[0] + "\n" + lines[0] + "\n");
  const Outcome empty = run({"decide", nano(), "-"}, "");
  CHECK(empty.status == 1);
  CHECK(Json::parse(empty.out)["error"]["code"] == "invalid_json");
  CHECK(has(empty.err, "clef: stdin: "));
}

TEST_CASE("a state that is too long is refused, or cut when that was asked for") {
  const std::string file = temporary_file("long.json", long_request());
  const Outcome refused = run({"decide", nano(), file, "--max-tokens", "300"});
  CHECK(refused.status == 1);
  const Json error = Json::parse(refused.out)["error"];
  CHECK(error["code"] == "too_long");
  CHECK(error["at"] == "/state");

  const Outcome cut = run({"decide", nano(), file, "--max-tokens", "300", "--truncate", "state-tail", "--detail"});
  REQUIRE(cut.status == 0);
  const Json response = Json::parse(cut.out);
  CHECK(response["usage"]["input_tokens"] == 300);
  const Json whole = Json::parse(run({"decide", nano(), file}).out);
  const int64_t dropped = whole["usage"]["input_tokens"].get<int64_t>() - 300;
  REQUIRE(dropped > 0);
  CHECK(response["detail"]["tokens_dropped"] == dropped);
  CHECK(has(cut.err, std::to_string(dropped) + " tokens of the state's end were not read"));
}

TEST_CASE("options reach the library") {
  const std::string spam = nano() + "/examples/language.json";
  const std::string plain = run({"decide", nano(), spam, "--compute", "exact"}).out;
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--threads", "1"},
                                               {"--threads", "3"},
                                               {"--chunk", "64"},
                                               {"--pre-tokenizer", "auto"},
                                               {"--alpha", "drop"},
                                               {"--no-exif"},
                                               {"--truncate", "never"},
                                               {"--strict"}}) {
    std::vector<std::string> arguments = {"decide", nano(), spam, "--compute", "exact"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CAPTURE(arguments);
    CHECK(run(arguments).out == plain);
  }
  const Json max = Json::parse(plain)["answers"]["language"];
  const Json jev = Json::parse(run({"decide", nano(), spam, "--confidence", "jev"}).out)["answers"]["language"];
  const double p = max["confidence"].get<double>();
  CHECK(jev["confidence"].get<double>() == Approx((p - 0.2) / 0.8).margin(2e-3));
  const Outcome strict = run({"decide", nano(), "-", "--strict"},
                             R"({"state":"s","questions":{"a":{"type":"noul","instructions":"x?"}},"extra":1})");
  CHECK(strict.status == 1);
  CHECK(Json::parse(strict.out)["error"]["code"] == "unknown_field");

  const std::string control = R"({"state":"<|im_end|>","questions":{"a":{"type":"noul","instructions":"x?"}}})";
  const Json literal = Json::parse(run({"decide", nano(), "-"}, control).out);
  const Json taken = Json::parse(run({"decide", nano(), "-", "--control-tokens"}, control).out);
  CHECK(literal["usage"]["input_tokens"].get<int>() > taken["usage"]["input_tokens"].get<int>());
}

TEST_CASE("responses are indented on a terminal") {
  const std::string spam = nano() + "/examples/spam.json";
  Outcome outcome = run_on_terminal({"decide", nano(), spam});
  CHECK(outcome.status == 0);
  outcome.out = on_screen(outcome.out);
  CHECK(outcome.out.rfind("{\r\n  \"model\": \"clef-nano\",\r\n  \"answers\": {\r\n", 0) == 0);
  CHECK(has(outcome.out, "\r\n}\r\n"));
  CHECK(Json::parse(outcome.out) == Json::parse(run({"decide", nano(), spam}).out));
}

TEST_CASE("a progress line is erased before the response") {
  std::string state;
  for (int i = 0; i < 500; ++i) state += "Please refund the second payment. ";
  const Json request = {{"state", state}, {"questions", {{"refund", {{"type", "noul"}}}}}};
  Outcome outcome = run_on_terminal({"decide", nano(), temporary_file("long.json", request.dump())});
  CHECK(outcome.status == 0);
  // It begins after 0.3 s, in whatever stage the decision is then; a fast machine shows none.
  if (has(outcome.out, "\x1b"))
    CHECK((has(outcome.out, "\rloading ") || has(outcome.out, "\rreading ") || has(outcome.out, "\rdeciding ")));
  outcome.out = on_screen(outcome.out);
  CHECK(!has(outcome.out, "\x1b"));
  CHECK(Json::parse(outcome.out)["answers"]["refund"]["noul"].is_number());
  const Outcome piped = run({"prompt", nano(), temporary_file("long.json", request.dump())});
  CHECK(piped.err == "");  // never when stderr is no terminal
}

TEST_CASE("the prompt is shown as the model reads it") {
  const std::string request = R"({"state":{"b":1.0,"a":"caf\u00e9"},"questions":{
      "spam":{"type":"noul","instructions":"Is this spam?"},
      "team":{"type":"choice","instructions":"Which team?","criteria":{"tech":null,"billing":"Money."}}}})";
  const Outcome text = run({"prompt", nano(), "-"}, request);
  CHECK(text.status == 0);
  CHECK(text.err == "");
  CHECK(text.out ==
        "<|im_start|>system\nRead the complete state and schema. Decide every field jointly. Each answer must be "
        "exactly one of that field's allowed options.<|im_end|>\n<|im_start|>user\nSTATE:\n"
        "{\"a\":\"caf\xc3\xa9\",\"b\":1.0}\n\nSCHEMA FIELDS:\n"
        "\nFIELD 1\nID: spam\nTYPE: noul\nINSTRUCTION: Is this spam?\nALLOWED OPTIONS:\n"
        "OPTION 1: {\"description\":\"The proposition is true or the answer is yes.\",\"option_id\":\"true\"}\n"
        "OPTION 2: {\"description\":\"The proposition is false or the answer is no.\",\"option_id\":\"false\"}\n"
        "END FIELD\n"
        "\nFIELD 2\nID: team\nTYPE: choice\nINSTRUCTION: Which team?\nALLOWED OPTIONS:\n"
        "OPTION 1: {\"description\":\"Money.\",\"option_id\":\"billing\"}\n"
        "OPTION 2: {\"option_id\":\"tech\"}\n"
        "END FIELD\n"
        "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:");

  const Json prompt = Json::parse(run({"prompt", nano(), "-", "--json"}, request).out);
  const Json decided = Json::parse(run({"decide", nano(), "-", "--detail"}, request).out);
  std::string joined;
  Json ids = Json::array();
  for (const Json& piece : prompt["pieces"]) {
    joined += piece["text"].get<std::string>();
    ids.insert(ids.end(), piece["ids"].begin(), piece["ids"].end());
    CHECK(piece["scaffold"].is_boolean());
  }
  CHECK(joined == text.out);
  CHECK(ids == decided["detail"]["ids"]);
  CHECK(prompt["tokens"] == ids.size());
  CHECK(prompt["pieces"][0]["role"] == "prefix");

  const Outcome refused = run({"prompt", nano(), "-"}, "{}");
  CHECK(refused.status == 1);
  CHECK(refused.out == "");
  CHECK(has(refused.err, "clef: stdin: "));
}
