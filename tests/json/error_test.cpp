// Every refusal with its code, place and offset.
#include "helpers.hpp"
#include "json/locator.hpp"
#include "support/data.hpp"

using namespace clef;
using base::Code;

namespace {

struct Case {
  std::string text;
  Code code;
  std::string at;
  int64_t offset;
};

void check(const Case& c, const json::ParseOptions& options = {}) {
  INFO("text: " << c.text.substr(0, 200));
  const auto result = json::parse(c.text, options);
  REQUIRE_FALSE(result.ok());
  const base::ErrorDetail& detail = result.status().detail();
  CHECK(base::code_name(detail.code) == base::code_name(c.code));
  CHECK(detail.has_at);
  CHECK(detail.at == c.at);
  CHECK(detail.offset == c.offset);
  CHECK(detail.message.size() > 10);
}

}  // namespace

TEST_CASE("broken syntax is refused with its place", "[json]") {
  const Case cases[] = {
      // Nothing, or too little.
      {"", Code::invalid_json, "", 0},
      {" \n\t\r ", Code::invalid_json, "", 5},
      {"{", Code::invalid_json, "", 1},
      {"[", Code::invalid_json, "", 1},
      {"[1", Code::invalid_json, "", 2},
      {"[1,", Code::invalid_json, "", 3},
      {"[[1]", Code::invalid_json, "", 4},
      {"[[1],[2]", Code::invalid_json, "", 8},
      {R"({"a")", Code::invalid_json, "", 4},
      {R"({"a":)", Code::invalid_json, "", 5},
      {R"({"a":1)", Code::invalid_json, "", 6},
      {R"({"a":{"b":[1,{"c":2)", Code::invalid_json, "/a/b/1", 19},
      {R"({"a":"xy)", Code::invalid_json, "/a", 8},
      {R"({"a":"xy\)", Code::invalid_json, "/a", 9},
      {R"({"a":"xy\")", Code::invalid_json, "/a", 10},
      {R"({"ab)", Code::invalid_json, "", 4},
      {"\"", Code::invalid_json, "", 1},
      {"tru", Code::invalid_json, "", 0},
      {"-", Code::invalid_json, "", 1},
      // Separators.
      {"[1,]", Code::invalid_json, "", 3},
      {"[,1]", Code::invalid_json, "", 1},
      {"[1,,2]", Code::invalid_json, "", 3},
      {"[1 2]", Code::invalid_json, "", 3},
      {"[1:2]", Code::invalid_json, "", 2},
      {"[\"a\":1]", Code::invalid_json, "", 4},
      {"[:1]", Code::invalid_json, "", 1},
      {R"({"a":1,})", Code::invalid_json, "", 7},
      {R"({,"a":1})", Code::invalid_json, "", 1},
      {R"({"a":1 "b":2})", Code::invalid_json, "", 7},
      {R"({"a" 1})", Code::invalid_json, "", 5},
      {R"({"a":,"b":2})", Code::invalid_json, "", 5},
      {R"({"a"::1})", Code::invalid_json, "", 5},
      {R"({"a":})", Code::invalid_json, "", 5},
      {R"({"a","b"})", Code::invalid_json, "", 4},
      {R"({1:2})", Code::invalid_json, "", 1},
      {R"({a:2})", Code::invalid_json, "", 1},
      {R"({'state':'s'})", Code::invalid_json, "", 1},
      {R"({"state":'s'})", Code::invalid_json, "/state", 9},
      {R"({"x":{"y":[0,{"z":1,}]}})", Code::invalid_json, "/x/y/1", 20},
      // Brackets.
      {"]", Code::invalid_json, "", 0},
      {"}", Code::invalid_json, "", 0},
      {"[1}", Code::invalid_json, "", 2},
      {R"({"a":1])", Code::invalid_json, "", 6},
      {R"([{"a":1]])", Code::invalid_json, "/0", 7},
      {R"([[1})", Code::invalid_json, "/0", 3},
      {R"({"a":[1}])", Code::invalid_json, "/a", 7},
      // Text after the value.
      {"{} x", Code::invalid_json, "", 3},
      {"[1]]", Code::invalid_json, "", 3},
      {"[1],", Code::invalid_json, "", 3},
      {"[1][2]", Code::invalid_json, "", 3},
      {"1 2", Code::invalid_json, "", 2},
      {"1,", Code::invalid_json, "", 1},
      {"\"a\"x", Code::invalid_json, "", 3},
      {"\"a\" \"b\"", Code::invalid_json, "", 4},
      {"null null", Code::invalid_json, "", 5},
      {"true]", Code::invalid_json, "", 4},
      {std::string("1\0", 2), Code::invalid_json, "", 1},
      {std::string("[1]\0", 4), Code::invalid_json, "", 3},
      {"[1] // end", Code::invalid_json, "", 4},
      {"/* x */ 1", Code::invalid_json, "", 0},
      // A byte order mark.
      {"\xEF\xBB\xBF{}", Code::invalid_json, "", 0},
      // Places are JSON Pointers of decoded names.
      {R"({"a/b~c":{"\u00e9\ud83d\ude00\n":[tru]}})", Code::invalid_json, "/a~1b~0c/\xC3\xA9\xF0\x9F\x98\x80\n/0", 34},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("words and numbers that JSON does not have are refused", "[json]") {
  const std::pair<std::string, int64_t> tokens[] = {
      {"01", 1},        {"-01", 2},      {"00", 1},    {"+1", 0},       {".5", 0},        {"-.5", 1},
      {"1.", 2},        {"1.e5", 2},     {"1e", 2},    {"1e+", 3},      {"1_000", 1},     {"0x10", 1},
      {"1a", 1},        {"--1", 1},      {"-", 1},     {"NaN", 0},      {"nan", 0},       {"-NaN", 1},
      {"-Infinity", 0}, {"Infinity", 0}, {"True", 0},  {"nul", 0},      {"nulls", 0},     {"truefalse", 0},
      {"undefined", 0}, {"1.5.5", 3},    {"1e5.5", 3}, {"\xC2\xA0", 0}, {"1\xC2\xA0", 1},
  };
  for (const auto& [token, place] : tokens) {
    check({token, Code::invalid_json, "", place});
    check({"[0, " + token + " ]", Code::invalid_json, "/1", 4 + place});
    check({R"({"state":)" + token + R"(,"questions":{}})", Code::invalid_json, "/state", 9 + place});
  }
}

TEST_CASE("bad characters and escapes in strings are refused", "[json]") {
  const Case cases[] = {
      {"\"a\nb\"", Code::invalid_json, "", 2},
      {"{\"state\":\"a\tb\"}", Code::invalid_json, "/state", 11},
      {std::string("[\"\0\"]", 5), Code::invalid_json, "/0", 2},
      {"[\"\x1F\"]", Code::invalid_json, "/0", 2},
      {"{\"a\x01\":1}", Code::invalid_json, "", 3},
      {R"({"state":"\x41"})", Code::invalid_json, "/state", 10},
      {R"(["\'"])", Code::invalid_json, "/0", 2},
      {R"(["\U0041"])", Code::invalid_json, "/0", 2},
      {R"(["\u004"])", Code::invalid_json, "/0", 2},
      {R"(["\u00g1"])", Code::invalid_json, "/0", 2},
      {R"(["\u"])", Code::invalid_json, "/0", 2},
      {R"({"\q":1})", Code::invalid_json, "", 2},
      {R"([["ok","\ud83d\u00zz"]])", Code::invalid_unicode, "/0/1", 8},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("text without a UTF-8 form is refused", "[json]") {
  const Case cases[] = {
      {R"("\ud83d")", Code::invalid_unicode, "", 1},
      {R"({"state":"a\ud83d"})", Code::invalid_unicode, "/state", 11},
      {R"({"state":["\ude00x"]})", Code::invalid_unicode, "/state/0", 11},
      {R"(["\ud83d\ud83d\ude00"])", Code::invalid_unicode, "/0", 2},
      {R"(["\ud83d\ude00\ude00"])", Code::invalid_unicode, "/0", 14},
      {R"(["\ud83dx"])", Code::invalid_unicode, "/0", 2},
      {R"(["\ud83d\n"])", Code::invalid_unicode, "/0", 2},
      {R"(["\ud83d\u0041"])", Code::invalid_unicode, "/0", 2},
      {R"(["\udfff"])", Code::invalid_unicode, "/0", 2},
      {R"(["\udc00\ud800"])", Code::invalid_unicode, "/0", 2},
      {R"({"x":{"\ud800":1}})", Code::invalid_unicode, "/x", 7},
      {"[\"\xFF\"]", Code::invalid_unicode, "/0", 2},
      {"{\"state\":\"ab\xC3\"}", Code::invalid_unicode, "/state", 12},
      {"{\"state\":\"\xC0\x80\"}", Code::invalid_unicode, "/state", 10},
      {"[\"\xED\xA0\x80\"]", Code::invalid_unicode, "/0", 2},
      {"[\"\xF4\x90\x80\x80\"]", Code::invalid_unicode, "/0", 2},
      {"[\"\x80\"]", Code::invalid_unicode, "/0", 2},
      {"{\"a\xFE\":1}", Code::invalid_unicode, "", 3},
      {"[1,\xFF]", Code::invalid_unicode, "", 3},
      {"[1\xFF]", Code::invalid_unicode, "/0", 2},
      {"[1]\xFF", Code::invalid_unicode, "", 3},
      {std::string("\xFF\xFE{\0}\0", 6), Code::invalid_unicode, "", 0},
      {"[\"\xE2\x82", Code::invalid_unicode, "/0", 2},
      // The first fault in reading order is the one that is named.
      {"[01,\"\xFF\"]", Code::invalid_json, "/0", 2},
      {"[\"\xFF\",01]", Code::invalid_unicode, "/0", 2},
  };
  for (const Case& c : cases) check(c);
}

TEST_CASE("a fault deep in a long text is found", "[json]") {
  std::string text = "{\"list\":[";
  for (int i = 0; i < 20000; ++i) text += "{\"id\":" + std::to_string(i) + ",\"name\":\"n\\u0041\"},";
  const size_t fault = text.size() + 6;
  check({text + "{\"id\":0123}]}", Code::invalid_json, "/list/20000/id", static_cast<int64_t>(fault) + 1});
  check({text + "{\"id\":\"\\udc00\"}]}", Code::invalid_unicode, "/list/20000/id", static_cast<int64_t>(fault) + 1});
}

TEST_CASE("every cut of a text is refused and the whole accepted", "[json]") {
  const std::string text = R"({"a":[1,-2.5e3,"x\ud83d\ude00\"y",{"b":null}],"c":true,"d":{}})";
  REQUIRE(json::parse(text).ok());
  REQUIRE(json::locate_error(text, {}).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    INFO("size: " << size);
    const auto result = json::parse(std::string_view(text).substr(0, size));
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().detail().offset >= 0);
    CHECK(result.status().detail().offset <= static_cast<int64_t>(size));
  }
}

TEST_CASE("every change of one byte is judged alike by parser and locator", "[json]") {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e9\n"],"b":{"c":null,"d":[]}, "e":false})";
  for (size_t i = 0; i < text.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      const bool accepted = json::parse(changed).ok();
      const base::Status located = json::locate_error(changed, {});
      if (accepted != located.ok()) {
        FAIL("byte " << i << " set to " << byte << ": " << located.message());
      }
    }
  }
}

TEST_CASE("the broken texts among the refused requests have their code and lie within their place", "[json]") {
  size_t broken = 0;
  for (const std::string& line : test::read_lines(test::data_path("requests/refused.jsonl"))) {
    const json::Document record = test::parsed(line);
    const std::string_view code = record.root().find("code")->text();
    const json::Value* request = record.root().find("request");
    const auto result = json::parse(request->text());
    if (result.ok()) {
      INFO(record.root().find("name")->text());
      CHECK((code != "invalid_json" && code != "invalid_unicode"));
      continue;
    }
    ++broken;
    INFO(record.root().find("name")->text() << ": " << result.status().message());
    CHECK(base::code_name(result.status().code()) == code);
    CHECK(std::string_view(result.status().detail().at).starts_with(record.root().find("at")->text()));
  }
  CHECK(broken == 15);
}
