// clef ask, clef tokenize and clef inspect.
#include <cmath>
#include <nlohmann/json.hpp>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string kText =
    "Hi, I was charged twice for my order #48213. Please refund the second payment. I need an answer today.";
const std::string kBlock = "\xe2\x96\x88";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> ask(const std::string& state, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"ask",      nano(),
                                        "--state",  state,
                                        "--yes-no", "Is the customer asking for a refund?",
                                        "--choice", "Which team should handle this?=billing, technical ,shipping",
                                        "--score",  "How urgent is this?=can wait,this week,today"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::string request() {
  return Json{{"state", kText},
              {"questions",
               {{"q1", {{"type", "noul"}, {"instructions", "Is the customer asking for a refund?"}}},
                {"q2",
                 {{"type", "choice"},
                  {"instructions", "Which team should handle this?"},
                  {"criteria", {{"billing", nullptr}, {"technical", nullptr}, {"shipping", nullptr}}}}},
                {"q3",
                 {{"type", "score"},
                  {"instructions", "How urgent is this?"},
                  {"criteria", {"can wait", "this week", "today"}}}}}}}
      .dump();
}

}  // namespace

TEST_CASE("questions as arguments are the request that they look like") {
  const std::string expected = run({"decide", nano(), "-"}, request()).out;
  const Json answers = Json::parse(expected)["answers"];
  REQUIRE(answers["q1"]["noul"].get<double>() > 0.9);
  REQUIRE(answers["q2"]["choice"] == "billing");

  const Outcome outcome = run(ask(kText));
  CHECK(outcome.status == 0);
  CHECK(outcome.err == "");
  CHECK(outcome.out == expected);
  CHECK(run(ask(kText, {"--json"})).out == expected);
  CHECK(run(ask("@" + temporary_file("mail.txt", kText))).out == expected);
  CHECK(run(ask("@" + temporary_file("mail.json", Json(kText).dump()))).out == expected);
  CHECK(run(ask("-"), kText).out == expected);
  CHECK(run(ask("-"), kText + "!").out != expected);
}

TEST_CASE("a JSON file is JSON, and its errors are named") {
  const std::string object = temporary_file("state.json", R"({"b": 2, "a": [1.50, "x"]})");
  const std::vector<std::string> question = {"--yes-no", "Is it?"};
  const Outcome parsed = run({"ask", nano(), "--state", "@" + object, "--yes-no", "Is it?"});
  const Outcome text = run({"ask", nano(), "--state", R"({"a":[1.5,"x"],"b":2})", "--yes-no", "Is it?"});
  CHECK(parsed.status == 0);
  CHECK(parsed.out == text.out);
  const std::string broken = temporary_file("broken.json", "{\"a\":");
  const Outcome outcome = run({"ask", nano(), "--state", "@" + broken, "--yes-no", "Is it?"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out == "");
  CHECK(has(outcome.err, "broken.json"));
}

TEST_CASE("questions keep their order on the command line") {
  const Outcome outcome = run({"ask", nano(), "--score", "How urgent?=low,high", "--yes-no", "Refund?", "--state",
                               kText, "--choice", "a=b?=x,y", "--yes-no", "Angry?"});
  REQUIRE(outcome.status == 0);
  const Json answers = Json::parse(outcome.out)["answers"];
  REQUIRE(answers.size() == 4);
  CHECK(answers["q1"]["type"] == "score");
  CHECK(answers["q2"]["type"] == "noul");
  CHECK(answers["q3"]["probabilities"].contains("x"));
  CHECK(answers["q4"]["type"] == "noul");
}

TEST_CASE("non-ASCII arguments, and values that look like options") {
  const std::string text = "\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80 caf\xc3\xa9";
  const Outcome outcome =
      run({"ask", nano(), "--state", "--" + text, "--choice", "\xc3\xbc?=\xe6\x97\xa5,\xc3\x9f", "--yes-no", "-x?"});
  REQUIRE(outcome.status == 0);
  CHECK(Json::parse(outcome.out)["answers"]["q1"]["probabilities"].contains("\xe6\x97\xa5"));
  const Outcome invalid = run({"ask", nano(), "--state", "\xff\xfe", "--yes-no", "x?"});
  CHECK(invalid.status == 1);
  CHECK(invalid.out == "");
  CHECK(has(invalid.err, "UTF-8"));
}

TEST_CASE("a terminal gets a table") {
  const Json answers = Json::parse(run(ask(kText)).out)["answers"];
  Outcome outcome = run_on_terminal(ask(kText));
  REQUIRE(outcome.status == 0);
  outcome.out = on_screen(outcome.out);
  CHECK(!has(outcome.out, "\x1b"));
  const auto percent = [](const Json& p) {
    char text[32];
    std::snprintf(text, sizeof text, "  %5.1f %%", 100 * p.get<double>());
    return std::string(text);
  };
  const Json& team = answers["q2"]["probabilities"];
  CHECK(has(outcome.out,
            "Is the customer asking for a refund?\r\n> yes         " + percent(answers["q1"]["noul"]) + "  " + kBlock));
  CHECK(has(outcome.out, "\r\n  no          "));
  CHECK(
      has(outcome.out, "Which team should handle this?\r\n> billing     " + percent(team["billing"]) + "  " + kBlock));
  CHECK(has(outcome.out, "\r\n  technical   " + percent(team["technical"])));
  char score[64];
  std::snprintf(score, sizeof score, "How urgent is this?  (%.2f on 0 to 2)\r\n", answers["q3"]["score"].get<double>());
  CHECK(has(outcome.out, score));
  CHECK(has(outcome.out, "\r\n  1  this week" + percent(answers["q3"]["probabilities"]["1"])));
  CHECK(has(outcome.out, "\r\n> 2  today    " + percent(answers["q3"]["probabilities"]["2"]) + "  " + kBlock));
  CHECK(has(outcome.out, "\r\nclef-nano, "));
  CHECK(!has(outcome.out, "nan %"));
  // The same table in a pipe, when asked for; JSON on a terminal likewise.
  const Outcome table = run(ask(kText, {"--table"}));
  CHECK(has(table.out, "\n> billing     " + percent(team["billing"]) + "  " + kBlock));
  CHECK(Json::parse(on_screen(run_on_terminal(ask(kText, {"--json"})).out))["answers"] == answers);
}

TEST_CASE("no question can steer a terminal") {
  const Outcome outcome = run({"ask", nano(), "--state", "s", "--yes-no", "a\x1b[2Jb\xc2\x9b?", "--table"});
  REQUIRE(outcome.status == 0);
  CHECK(has(outcome.out, "a?[2Jb??\n"));
}

TEST_CASE("tokens of a text") {
  const Json prompt = Json::parse(run({"prompt", nano(), "-", "--json"}, request()).out);
  Json state_ids;
  for (const Json& piece : prompt["pieces"])
    if (piece["role"] == "state") state_ids = piece["ids"];
  REQUIRE(state_ids.size() > 10);

  std::string expected;
  for (const Json& id : state_ids) expected += (expected.empty() ? "" : " ") + id.dump();
  expected += "\n" + std::to_string(state_ids.size()) + " tokens\n";
  for (const std::string& model : {nano(), nano() + "/tokenizer.json"}) {
    CHECK(run({"tokenize", model, "-"}, kText).out == expected);
    CHECK(run({"tokenize", model, temporary_file("text", kText)}).out == expected);
  }
  CHECK(run({"tokenize", nano(), "-"}, "").out == "\n0 tokens\n");
  CHECK(lines_of(run({"tokenize", nano(), "-", "--control-tokens"}, "<|im_end|>").out).back() == "1 token");
  CHECK(lines_of(run({"tokenize", nano(), "-"}, "<|im_end|>").out).back() != "1 token");

  const Outcome invalid = run({"tokenize", nano(), "-"}, "\xff");
  CHECK(invalid.status == 1);
  CHECK(invalid.out == "");
  CHECK(has(invalid.err, "clef: stdin: "));
}

TEST_CASE("tokens of JSON strings, line by line") {
  const Json text = kText;
  const Json plain = Json::parse(lines_of(run({"tokenize", nano(), "-", "--jsonl"}, text.dump() + "\n").out).at(0));
  const Outcome outcome = run({"tokenize", nano(), "-", "--jsonl"},
                              text.dump() + "\n\"\"\n\nnot json\n[1]\n\"\\ud800\"\n\"a\\u0000b\"\n" + text.dump());
  CHECK(outcome.status == 1);
  const std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 7);
  CHECK(Json::parse(lines[0]) == plain);
  CHECK(lines[1] == "[]");
  for (const size_t refused : {2, 3, 4}) CHECK(Json::parse(lines[refused])["error"]["code"] == "invalid_json");
  CHECK(Json::parse(lines[5]).size() >= 3);
  CHECK(lines[6] == lines[0]);
  CHECK(has(outcome.err, "clef: stdin:4: "));
  CHECK(has(outcome.err, "clef: stdin:5: "));
  CHECK(has(outcome.err, "clef: stdin:6: "));
}

TEST_CASE("the vocabulary of a GGUF") {
  const std::string gguf = data_path("gguf/tiny-flash-bf16.gguf"), release = data_path("models/tiny-flash");
  const std::string text = "Hello, w\xc3\xb6rld 123!";
  const Outcome outcome = run({"tokenize", gguf, "-"}, text);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == run({"tokenize", release, "-"}, text).out);
}

TEST_CASE("what a model's files are") {
  const Outcome json = run({"inspect", nano(), "--json"});
  REQUIRE(json.status == 0);
  const Json description = Json::parse(json.out);
  REQUIRE(description["files"].is_array());
  REQUIRE(description["tensors"].is_array());
  CHECK(description["tensors"].size() > 50);
  const Outcome table = run({"inspect", nano()});
  CHECK(table.status == 0);
  CHECK(has(table.out, "model.safetensors"));
  CHECK(has(table.out, "tensors (" + std::to_string(description["tensors"].size()) + "), listed with --tensors"));
  CHECK(!has(table.out, "{"));
  const Outcome all = run({"inspect", nano(), "--tensors"});
  CHECK(has(all.out, description["tensors"][0]["name"].get<std::string>()));
  CHECK(lines_of(all.out).size() > description["tensors"].size());
  const Outcome gguf = run({"inspect", data_path("gguf/mini-q8_0.gguf")});
  CHECK(gguf.status == 0);
  CHECK(has(gguf.out, "mini-q8_0.gguf"));
}
