// The writer puts commas, colons and line breaks in their places.
#include <limits>

#include "helpers.hpp"

using namespace clef;

TEST_CASE("the writer nests and separates", "[json]") {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.key("a\"b");
  writer.string("x\ny");
  writer.key("list");
  writer.begin_array();
  writer.integer(-5);
  writer.unsigned_integer(std::numeric_limits<uint64_t>::max());
  writer.integer(std::numeric_limits<int64_t>::min());
  writer.number(0.1);
  writer.number(1.0);
  writer.rounded4(0.123456);
  writer.boolean(true);
  writer.boolean(false);
  writer.null();
  writer.begin_object();
  writer.end_object();
  writer.begin_array();
  writer.end_array();
  writer.raw("{\"r\":1}");
  writer.begin_array();
  writer.begin_array();
  writer.string("");
  writer.end_array();
  writer.end_array();
  writer.end_array();
  writer.key("after");
  writer.raw("2");
  writer.end_object();
  const std::string expected =
      R"({"a\"b":"x\ny","list":[-5,18446744073709551615,-9223372036854775808,0.1,1.0,0.1235,true,false,null,{},[],)"
      R"({"r":1},[[""]]],"after":2})";
  CHECK(out == expected);
  CHECK(test::compact(out) == out);
}

TEST_CASE("the writer writes null for what JSON cannot spell", "[json]") {
  std::string out;
  json::Writer writer(out);
  writer.begin_array();
  writer.number(std::numeric_limits<double>::infinity());
  writer.number(-std::numeric_limits<double>::infinity());
  writer.number(std::numeric_limits<double>::quiet_NaN());
  writer.rounded4(std::numeric_limits<double>::infinity());
  writer.rounded4(std::numeric_limits<double>::quiet_NaN());
  writer.end_array();
  CHECK(out == "[null,null,null,null,null]");
}

TEST_CASE("the writer indents", "[json]") {
  std::string out = ">";
  json::Writer writer(out, 2);
  writer.begin_object();
  writer.key("a");
  writer.begin_array();
  writer.integer(1);
  writer.begin_object();
  writer.key("b");
  writer.null();
  writer.end_object();
  writer.end_array();
  writer.key("empty");
  writer.begin_array();
  writer.end_array();
  writer.end_object();
  CHECK(out == ">{\n  \"a\": [\n    1,\n    {\n      \"b\": null\n    }\n  ],\n  \"empty\": []\n}");
}

TEST_CASE("a scalar may be all that is written", "[json]") {
  std::string out;
  json::Writer(out).string("x");
  json::Writer(out, 2).integer(7);
  CHECK(out == "\"x\"7");
}

TEST_CASE("pointer tokens are escaped", "[json]") {
  std::string pointer = "/questions";
  json::append_pointer(pointer, "a/b~c");
  json::append_pointer(pointer, "");
  json::append_pointer(pointer, "~1");
  CHECK(pointer == "/questions/a~1b~0c//~01");
}
