// What is accepted, and how it is rendered.
#include "schema/request.hpp"

#include <string>
#include <vector>

#include "schema/support.hpp"

namespace clef::test {
namespace {

using schema::Limits;
using schema::Question;
using schema::QuestionType;

constexpr std::string_view kTrue =
    R"({"description":"The proposition is true or the answer is yes.","option_id":"true"})";
constexpr std::string_view kFalse =
    R"({"description":"The proposition is false or the answer is no.","option_id":"false"})";

Question only_question(std::string_view question, const Limits& limits = {}) {
  schema::Request request = accepted(with_question(question), limits);
  REQUIRE(request.schema.questions.size() == 1);
  return request.schema.questions[0];
}

std::vector<std::string> ids(const Question& question) {
  std::vector<std::string> out;
  for (const schema::Option& option : question.options) out.push_back(option.id);
  return out;
}

std::string instruction(std::string_view instructions) {
  return only_question(R"({"type":"noul","instructions":)" + std::string(instructions) + "}").instruction;
}

std::string state(std::string_view text) {
  const std::string in_request = accepted(with_state(text)).state;
  const auto alone = schema::render_state(text, Limits());
  REQUIRE(alone.ok());
  CHECK(alone.value() == in_request);
  return in_request;
}

}  // namespace

TEST_CASE("a whole request keeps the order of its questions") {
  const schema::Request request = accepted(
      R"( {"truncation":"state_tail","questions":{"z":{"type":"noul"},"10":{"type":"score","criteria":["l","h"]},)"
      R"("2":{"type":"choice","criteria":{"p":null}}},"state":{"b":1,"a":[]},"model":"clef"} )");
  CHECK(request.model == "clef");
  CHECK(request.state == R"({"a":[],"b":1})");
  CHECK(request.truncation == schema::Truncation::state_tail);
  CHECK(request.images.empty());
  REQUIRE(request.schema.questions.size() == 3);
  CHECK(request.schema.questions[0].id == "z");
  CHECK(request.schema.questions[1].id == "10");
  CHECK(request.schema.questions[2].id == "2");
  CHECK(request.schema.questions[0].type == QuestionType::noul);
  CHECK(request.schema.questions[1].type == QuestionType::score);
  CHECK(request.schema.questions[2].type == QuestionType::choice);
}

TEST_CASE("optional fields may be missing or null") {
  const schema::Request plain = accepted(with_question(R"({"type":"noul"})"));
  CHECK_FALSE(plain.model.has_value());
  CHECK_FALSE(plain.truncation.has_value());
  CHECK(accepted(with_members(R"("truncation":"refuse")")).truncation == schema::Truncation::refuse);
  CHECK(accepted(with_members(R"("truncation":null)")).truncation == schema::Truncation::refuse);
  CHECK_FALSE(accepted(with_members(R"("model":null,"images":null)")).model.has_value());
  CHECK(accepted(with_members(R"("model":"")")).model == "");
  accepted(with_members(R"("keep_alive":"5m","other":{"state":1})"));
}

TEST_CASE("states of every kind are rendered as Python does") {
  CHECK(state("null") == "null");
  CHECK(state("\"\"") == "");
  CHECK(state("\" \"") == " ");
  CHECK(state("true") == "true");
  CHECK(state("-0") == "0");
  CHECK(state("1e400") == "Infinity");
  CHECK(state("1E2") == "100.0");
  CHECK(state("123456789012345678901234567890") == "123456789012345678901234567890");
  CHECK(state(R"("a\u0041\ud83d\ude00\n")") == "aA\xF0\x9F\x98\x80\n");
  CHECK(state(R"([ "a\n/" , { } ])") == R"(["a\n/",{}])");
  CHECK(state(R"({"b":1,"a":{"d":0.1,"c":null},"b":2})") == R"({"a":{"c":null,"d":0.1},"b":2})");
}

TEST_CASE("instructions: the id stands in for missing, null and empty ones") {
  CHECK(only_question(R"({"type":"noul"})").instruction == "a");
  CHECK(instruction("null") == "a");
  CHECK(instruction("\"\"") == "a");
  CHECK(instruction("\" \"") == " ");
  CHECK(instruction("[]") == "[]");
  CHECK(instruction("{}") == "{}");
  CHECK(instruction(R"({"b":1.0,"a":"x"})") == R"({"a":"x","b":1.0})");
  CHECK(instruction(R"({"b":1,"b":2})") == R"({"b":2})");
  CHECK(instruction(R"(["\u00e4"])") == "[\"\xC3\xA4\"]");
}

TEST_CASE("noul options: defaults, overrides per key, null removes") {
  const auto options = [](std::string_view criteria) {
    const Question question = only_question(R"({"type":"noul","criteria":)" + std::string(criteria) + "}");
    REQUIRE(ids(question) == std::vector<std::string>{"true", "false"});
    CHECK(question.request_order == std::vector<uint32_t>{0, 1});
    CHECK(question.legend.empty());
    return std::vector<std::string>{question.options[0].rendered, question.options[1].rendered};
  };
  const std::vector<std::string> defaults{std::string(kTrue), std::string(kFalse)};
  CHECK(options("null") == defaults);
  CHECK(options("{}") == defaults);
  CHECK(options(R"({"false":"no"})") ==
        std::vector<std::string>{std::string(kTrue), R"({"description":"no","option_id":"false"})"});
  CHECK(options(R"({"false":null,"true":{"b":1,"a":2}})") ==
        std::vector<std::string>{R"({"description":{"a":2,"b":1},"option_id":"true"})", R"({"option_id":"false"})"});
  CHECK(options(R"({"true":"","false":3})") == std::vector<std::string>{R"({"description":"","option_id":"true"})",
                                                                        R"({"description":3,"option_id":"false"})"});
  Limits lenient;
  lenient.lenient_noul_criteria = true;
  const Question question = only_question(R"({"type":"noul","criteria":{"yes":"y","true":"t"}})", lenient);
  CHECK(question.options[0].rendered == R"({"description":"t","option_id":"true"})");
  CHECK(question.options[1].rendered == kFalse);
}

TEST_CASE("choice options are sorted by code point and remember the request's order") {
  const Question question = only_question(
      R"({"type":"choice","criteria":{"b":"x","\ud83d\ude00":null,"":[1.50],"\uffff":{"z":1,"y":2},"B":"\"q\"","10":true,"9":0}})");
  CHECK(ids(question) == std::vector<std::string>{"", "10", "9", "B", "b", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80"});
  CHECK(question.request_order == std::vector<uint32_t>{4, 6, 0, 5, 3, 1, 2});
  const std::vector<std::string> expected{
      R"({"description":[1.5],"option_id":""})", R"({"description":true,"option_id":"10"})",
      R"({"description":0,"option_id":"9"})",    R"({"description":"\"q\"","option_id":"B"})",
      R"({"description":"x","option_id":"b"})",  "{\"description\":{\"y\":2,\"z\":1},\"option_id\":\"\xEF\xBF\xBF\"}",
      "{\"option_id\":\"\xF0\x9F\x98\x80\"}",
  };
  for (size_t i = 0; i < expected.size(); ++i) CHECK(question.options[i].rendered == expected[i]);
  CHECK(only_question(R"({"type":"choice","criteria":{"one":null}})").options.size() == 1);
  CHECK(only_question(R"({"type":"choice","criteria":{"a\n\"":null}})").options[0].rendered ==
        R"({"option_id":"a\n\""})");
}

TEST_CASE("score levels are numbered and echoed in the legend unchanged") {
  const Question question =
      only_question(R"({"type":"score","criteria":["low",{"b":1.50,"a":[ 1e2 , "\u00e9/"]},7,"" ,false]})");
  CHECK(ids(question) == std::vector<std::string>{"0", "1", "2", "3", "4"});
  CHECK(question.request_order == std::vector<uint32_t>{0, 1, 2, 3, 4});
  CHECK(question.options[0].rendered == R"({"description":"low","option_id":"0"})");
  CHECK(question.options[1].rendered ==
        "{\"description\":{\"a\":[100.0,\"\xC3\xA9/\"],\"b\":1.5},\"option_id\":\"1\"}");
  CHECK(question.options[2].rendered == R"({"description":7,"option_id":"2"})");
  CHECK(question.options[3].rendered == R"({"description":"","option_id":"3"})");
  CHECK(question.options[4].rendered == R"({"description":false,"option_id":"4"})");
  REQUIRE(question.legend.size() == 5);
  CHECK(question.legend[0] == "\"low\"");
  CHECK(question.legend[2] == "7");
  CHECK(question.legend[3] == "\"\"");
  CHECK(question.legend[4] == "false");
  // Document order: b before a.
  CHECK(question.legend[1].rfind("{\"b\":1.5", 0) == 0);
  CHECK(contains(question.legend[1], ",\"a\":["));
}

TEST_CASE("a schema alone: the questions, or an object that holds them") {
  const Limits limits;
  const auto only_id = [&](std::string_view text) {
    INFO(text);
    const auto schema = schema::parse_schema(text, limits);
    REQUIRE(schema.ok());
    REQUIRE(schema.value().questions.size() == 1);
    return schema.value().questions[0].id;
  };
  CHECK(only_id(R"({"a":{"type":"noul"}})") == "a");
  CHECK(only_id(R"({"questions":{"a":{"type":"noul"}}})") == "a");
  CHECK(only_id(R"({"state":"s","questions":{"a":{"type":"noul"}},"other":1})") == "a");
  CHECK(only_id(R"({"questions":{"type":"noul"}})") == "questions");
  CHECK(only_id(R"({"questions":{"type":{"type":"noul"}}})") == "type");
}

TEST_CASE("names of types") {
  CHECK(schema::question_type_name(QuestionType::noul) == "noul");
  CHECK(schema::question_type_name(QuestionType::choice) == "choice");
  CHECK(schema::question_type_name(QuestionType::score) == "score");
  CHECK(static_cast<int>(QuestionType::noul) == 0);
  CHECK(static_cast<int>(QuestionType::choice) == 1);
  CHECK(static_cast<int>(QuestionType::score) == 2);
}

}  // namespace clef::test
