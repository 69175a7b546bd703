// What must be refused: the recorded requests, and every other way to be wrong.
#include <string>

#include "json/json.hpp"
#include "schema/request.hpp"
#include "schema/support.hpp"
#include "support/data.hpp"

namespace clef::test {
namespace {

using base::Code;
using schema::Limits;

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

std::string many_questions(size_t count) {
  std::string out = R"({"state":"s","questions":{)";
  for (size_t i = 0; i < count; ++i) {
    out += (i == 0 ? "" : ",");
    out += "\"q" + std::to_string(i) + R"(":{"type":"noul"})";
  }
  return out + "}}";
}

std::string many_options(size_t count) {
  std::string out = R"({"type":"choice","criteria":{)";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "\"o" : ",\"o") + std::to_string(i) + "\":null";
  return with_question(out + "}}");
}

std::string many_levels(size_t count) {
  std::string out = R"({"type":"score","criteria":[)";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "\"l" : ",\"l") + std::to_string(i) + "\"";
  return with_question(out + "]}");
}

}  // namespace

TEST_CASE("every recorded request is refused with its code and place") {
  size_t count = 0;
  for (const std::string& line : read_lines(data_path("requests/refused.jsonl"))) {
    const auto parsed = json::parse(line);
    REQUIRE(parsed.ok());
    const json::Value& root = parsed.value().root();
    const std::string name(root.find("name")->text());
    INFO(name);
    const auto request = schema::parse_request(root.find("request")->text(), Limits());
    REQUIRE_FALSE(request.ok());
    const base::ErrorDetail& detail = request.status().detail();
    INFO("message: " << detail.message);
    CHECK(base::code_name(detail.code) == root.find("code")->text());
    CHECK(detail.has_at);
    CHECK(detail.at == root.find("at")->text());
    CHECK_FALSE(detail.message.empty());
    ++count;
  }
  CHECK(count == 50);
}

TEST_CASE("a broken text names the free value it breaks in, or nothing") {
  const auto question = [](std::string_view text) {
    return std::string(R"({"state":"s","questions":{"a":)").append(text);
  };
  refused(with_state("[1,2,{\"k\":[tru]}]"), Code::invalid_json, "/state");
  refused(R"({"state":"unterminated)", Code::invalid_json, "/state");
  refused(question(R"({"type":"noul","instructions":{"x":01}}}})"), Code::invalid_json, "/questions/a/instructions");
  refused(question(R"({"type":"choice","criteria":{"p":{"d":"\q"},"q":null}}}})"), Code::invalid_json,
          "/questions/a/criteria/p");
  refused(question(R"({"type":"score","criteria":["x",[+1]]}}})"), Code::invalid_json, "/questions/a/criteria/1");
  refused(question(R"({"type":"score","criteria":["x" "y"]}}})"), Code::invalid_json, "");
  refused(question(R"({"type":nul}}})"), Code::invalid_json, "");
  refused(question(R"({"type" "noul"}}})"), Code::invalid_json, "");
  refused(R"({"model":"\q","state":"s"})", Code::invalid_json, "");
  refused(R"({"other":{"state":01}})", Code::invalid_json, "");
  refused("\xEF\xBB\xBF{}", Code::invalid_json, "");
}

TEST_CASE("bad text, depth and size name the innermost field of the contract") {
  const std::string deep = repeated("[", 400) + repeated("]", 400);
  refused(with_question(R"({"type":"noul","instructions":)" + deep + "}"), Code::too_deep, "/questions/a/instructions");
  refused(with_question(R"({"type":"choice","criteria":{"p":)" + deep + "}}"), Code::too_deep,
          "/questions/a/criteria/p");
  refused(with_members("\"ignored\":" + deep), Code::too_deep, "");
  refused(with_members(R"("model":"\ud800")"), Code::invalid_unicode, "/model");
  refused(with_question(R"({"type":"choice","criteria":{"p":"\udc00"}})"), Code::invalid_unicode,
          "/questions/a/criteria/p");
  refused(with_state("\"a\xff\""), Code::invalid_unicode, "/state");
  refused(with_state(repeated("9", 4301)), Code::out_of_range, "/state");
  Limits small;
  small.max_request_bytes = 20;
  refused(with_state("1"), Code::too_long, "", small);
}

TEST_CASE("brackets of any depth are refused fast and without recursion") {
  for (const size_t depth : {5000u, 1000000u}) {
    const std::string open = repeated("[", depth);
    CHECK_FALSE(schema::parse_request(open, Limits()).ok());
    const auto state = schema::parse_request(with_state(open + repeated("]", depth)), Limits());
    check_error(state, Code::too_deep, "/state");
    check_error(schema::render_state(open, Limits()), Code::too_deep, "/state");
    CHECK_FALSE(schema::parse_schema(repeated(R"({"questions":)", depth), Limits()).ok());
  }
}

TEST_CASE("counts beyond a limit are named together with it") {
  const std::string questions = refused(many_questions(65), Code::too_many, "/questions");
  CHECK(contains(questions, "65 questions"));
  CHECK(contains(questions, "at most 64"));
  CHECK(contains(refused(many_questions(4097), Code::too_many, "/questions"), "4097"));
  const std::string options = refused(many_options(256), Code::too_many, "/questions/a/criteria");
  CHECK(contains(options, "256 options"));
  CHECK(contains(options, "at most 255"));
  const std::string levels = refused(many_levels(11), Code::too_many, "/questions/a/criteria");
  CHECK(contains(levels, "11 levels"));
  CHECK(contains(levels, "at most 10"));
  const std::string one = refused(many_levels(1), Code::too_few, "/questions/a/criteria");
  CHECK(contains(one, "1 levels"));
  CHECK(contains(one, "at least 2"));
  refused(many_levels(0), Code::empty, "/questions/a/criteria");
}

TEST_CASE("limits can be raised and lowered") {
  Limits limits;
  limits.max_questions = 100;
  limits.max_options = 300;
  limits.max_levels = 30;
  limits.min_levels = 1;
  CHECK(accepted(many_questions(100), limits).schema.questions.size() == 100);
  refused(many_questions(101), Code::too_many, "/questions", limits);
  CHECK(accepted(many_options(300), limits).schema.questions[0].options.size() == 300);
  refused(many_options(301), Code::too_many, "/questions/a/criteria", limits);
  CHECK(accepted(many_levels(30), limits).schema.questions[0].options.size() == 30);
  refused(many_levels(31), Code::too_many, "/questions/a/criteria", limits);
  CHECK(accepted(many_levels(1), limits).schema.questions[0].options.size() == 1);
  CHECK(accepted(many_options(255)).schema.questions[0].options.size() == 255);
  CHECK(accepted(many_questions(64)).schema.questions.size() == 64);
}

TEST_CASE("question ids have a cap in bytes") {
  const auto request = [](std::string_view id) {
    return R"({"state":"s","questions":{")" + std::string(id) + R"(":{"type":"noul"}}})";
  };
  CHECK(accepted(request(repeated("x", 4096))).schema.questions[0].id.size() == 4096);
  const std::string message = refused(request(repeated("x", 4097)), Code::too_long, "/questions");
  CHECK(contains(message, "4097"));
  CHECK(contains(message, "4096"));
  CHECK(message.size() < 400);
  // Shortened between characters, never inside one.
  const std::string wide = refused(request(repeated("\xE2\x82\xAC", 2000)), Code::too_long, "/questions");
  CHECK(contains(wide, "6000"));
  CHECK(contains(wide, "\xE2\x82\xAC...") == false);
  CHECK(contains(wide, "\xE2\x82\xAC\"..."));
  Limits limits;
  limits.max_id_bytes = 3;
  CHECK(accepted(request("abc"), limits).schema.questions[0].id == "abc");
  refused(request("abcd"), Code::too_long, "/questions", limits);
  limits.max_id_bytes = 10000;
  CHECK(accepted(request(repeated("x", 10000)), limits).schema.questions[0].id.size() == 10000);
}

TEST_CASE("names given twice are refused wherever they would hide something") {
  refused(R"({"state":"s","state":"t","questions":{"a":{"type":"noul"}}})", Code::duplicate_key, "/state");
  refused(R"({"x/~":1,"state":"t","questions":{"a":{"type":"noul"}},"x/~":1})", Code::duplicate_key, "/x~1~0");
  refused(with_question(R"({"type":"noul","type":"noul"})"), Code::duplicate_key, "/questions/a/type");
  refused(with_question(R"({"type":"noul","criteria":{"true":"1","true":"2"}})"), Code::duplicate_key,
          "/questions/a/criteria/true");
  refused(with_question(R"({"type":"choice","criteria":{"":"1","":"2"}})"), Code::duplicate_key,
          "/questions/a/criteria/");
  // The first one that repeats, in the order of the text.
  refused(with_question(R"({"type":"choice","criteria":{"z":1,"a":1,"z":2,"a":2}})"), Code::duplicate_key,
          "/questions/a/criteria/z");
  check_error(schema::parse_schema(R"({"a":{"type":"noul"},"a":{"type":"noul"}})", Limits()), Code::duplicate_key,
              "/questions/a");
  check_error(schema::parse_schema(R"({"questions":{},"questions":{"a":{"type":"noul"}}})", Limits()),
              Code::duplicate_key, "/questions");
}

TEST_CASE("fields with meanings that clef does not have are refused") {
  refused(with_members(R"("files":["data:image/png;base64,AAAA"])"), Code::unknown_field, "/files");
  refused(with_members(R"("audio":[])"), Code::unknown_field, "/audio");
  refused(with_members(R"("videos":"x")"), Code::wrong_type, "/videos");
  accepted(with_members(R"("videos":[])"));
  accepted(with_members(R"("videos":null)"));
  refused(with_members(R"("truncation":1)"), Code::invalid_value, "/truncation");
  refused(with_members(R"("truncation":"")"), Code::invalid_value, "/truncation");
  CHECK(contains(refused(with_members(R"("truncation":"middle")"), Code::invalid_value, "/truncation"), "state_tail"));
  refused(with_members(R"("model":1)"), Code::wrong_type, "/model");
}

TEST_CASE("wrong types say what was given") {
  CHECK(contains(refused("[1]", Code::wrong_type, ""), "an array"));
  CHECK(contains(refused(with_question("3"), Code::wrong_type, "/questions/a"), "a number"));
  CHECK(contains(refused(with_question(R"({"type":true})"), Code::wrong_type, "/questions/a/type"), "a boolean"));
  CHECK(contains(refused(with_question(R"({"type":null})"), Code::wrong_type, "/questions/a/type"), "null"));
  CHECK(contains(refused(with_question(R"({"type":"Noul"})"), Code::invalid_value, "/questions/a/type"), "\"Noul\""));
  refused(with_question(R"({"type":"noul","instructions":0})"), Code::wrong_type, "/questions/a/instructions");
  refused(with_question(R"({"type":"noul","instructions":true})"), Code::wrong_type, "/questions/a/instructions");
  refused(with_question(R"({"type":"noul","criteria":"yes"})"), Code::wrong_type, "/questions/a/criteria");
  refused(with_question(R"({"type":"choice","criteria":null})"), Code::wrong_type, "/questions/a/criteria");
  refused(with_question(R"({"type":"choice","criteria":"pq"})"), Code::wrong_type, "/questions/a/criteria");
  refused(with_question(R"({"type":"score"})"), Code::missing_field, "/questions/a/criteria");
  refused(with_question(R"({"type":"score","criteria":null})"), Code::wrong_type, "/questions/a/criteria");
  refused(with_question(R"({"type":"score","criteria":"low"})"), Code::wrong_type, "/questions/a/criteria");
  CHECK(contains(refused(with_question(R"({"type":"noul","criteria":{"yes":"y"}})"), Code::unknown_field,
                         "/questions/a/criteria/yes"),
                 "true, false"));
}

TEST_CASE("strict checking refuses what is ignored or replaced otherwise") {
  Limits strict;
  strict.strict = true;
  const std::string fine = R"({"type":"noul","instructions":"x?"})";
  accepted(with_question(fine), strict);
  accepted(with_members(R"("model":"m","images":[],"videos":[],"truncation":null)"), strict);
  accepted(with_members(R"("keep_alive":5)"));
  CHECK(contains(refused(with_members(R"("keep_alive":5)"), Code::unknown_field, "/keep_alive", strict), "truncation"));
  const std::string extra = with_question(R"({"type":"noul","instructions":"x?","weight":2})");
  accepted(extra);
  refused(extra, Code::unknown_field, "/questions/a/weight", strict);
  refused(with_question(R"({"type":"noul"})"), Code::missing_field, "/questions/a/instructions", strict);
  refused(with_question(R"({"type":"noul","instructions":null})"), Code::wrong_type, "/questions/a/instructions",
          strict);
  refused(with_question(R"({"type":"noul","instructions":""})"), Code::empty, "/questions/a/instructions", strict);
  accepted(with_question(R"({"type":"noul","instructions":" "})"), strict);
  check_error(schema::parse_schema(R"({"questions":{"a":)" + fine + R"(},"other":1})", strict), Code::unknown_field,
              "/other");
}

TEST_CASE("a schema alone is refused with the places of a request") {
  const Limits limits;
  check_error(schema::parse_schema("", limits), Code::invalid_json, "");
  check_error(schema::parse_schema("[]", limits), Code::wrong_type, "/questions");
  check_error(schema::parse_schema("{}", limits), Code::empty, "/questions");
  check_error(schema::parse_schema(R"({"questions":[]})", limits), Code::wrong_type, "/questions");
  check_error(schema::parse_schema(R"({"a":{"type":"x"}})", limits), Code::invalid_value, "/questions/a/type");
  check_error(schema::parse_schema(R"({"questions":{"a":{"type":"x"}}})", limits), Code::invalid_value,
              "/questions/a/type");
  check_error(schema::parse_schema(R"({"a":{"type":"noul","instructions":[01]}})", limits), Code::invalid_json,
              "/questions/a/instructions");
  check_error(schema::parse_schema(R"({"questions":{"a":{"type":"noul","instructions":[01]}}})", limits),
              Code::invalid_json, "/questions/a/instructions");
  check_error(schema::parse_schema(R"({"a":{"type":"choice","criteria":{"p":"\ud800"}}})", limits),
              Code::invalid_unicode, "/questions/a/criteria/p");
}

}  // namespace clef::test
