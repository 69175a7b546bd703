// Rendering equals Python's json.dumps(v, ensure_ascii=False, separators=(",", ":"), sort_keys=True).
#include <clocale>
#include <locale>

#include "helpers.hpp"
#include "support/data.hpp"

using namespace clef;
using test::compact;
using test::python;

TEST_CASE("every recorded rendering is reproduced", "[json]") {
  const std::vector<std::string> lines = test::read_lines(CLEF_RENDER_JSONL);
  REQUIRE(lines.size() == 3666);
  size_t equal = 0;
  for (const std::string& line : lines) {
    const json::Document record = test::parsed(line);
    const json::Value* in = record.root().find("in");
    const json::Value* out = record.root().find("out");
    REQUIRE(in != nullptr);
    REQUIRE(out != nullptr);
    const std::string rendered = python(in->text());
    if (rendered == out->text()) {
      ++equal;
    } else {
      INFO("in: " << in->text());
      CHECK(rendered == out->text());
    }
    // A rendering is a fixed point, but for the infinities that JSON cannot spell.
    if (rendered.find("Infinity") == std::string::npos) REQUIRE(python(rendered) == rendered);
  }
  CHECK(equal == lines.size());
}

TEST_CASE("numbers are rendered as Python does", "[json]") {
  const auto [in, out] = GENERATE(table<std::string, std::string>({
      {"1.0", "1.0"},
      {"1e0", "1.0"},
      {"1E+2", "100.0"},
      {"100.0", "100.0"},
      {"1e15", "1000000000000000.0"},
      {"1e16", "1e+16"},
      {"9.999999999999999e15", "1e+16"},
      {"9.999999999999998e15", "9999999999999998.0"},
      {"1e22", "1e+22"},
      {"1e23", "1e+23"},
      {"123456789012345680.0", "1.2345678901234568e+17"},
      {"9007199254740993", "9007199254740993"},
      {"9007199254740993.0", "9007199254740992.0"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"-123456789012345678901234567890", "-123456789012345678901234567890"},
      {"1234567890123456.7", "1234567890123456.8"},
      {"0.0001", "0.0001"},
      {"3.0e-4", "0.0003"},
      {"0.00012345", "0.00012345"},
      {"0.00001", "1e-05"},
      {"1e-7", "1e-07"},
      {"2.5e-5", "2.5e-05"},
      {"0", "0"},
      {"-0", "0"},
      {"-0.0", "-0.0"},
      {"-0e0", "-0.0"},
      {"0e5", "0.0"},
      {"0E-5", "0.0"},
      {"1e400", "Infinity"},
      {"-1e400", "-Infinity"},
      {"1e-400", "0.0"},
      {"-1e-400", "-0.0"},
      {"0e999999999999999999999999", "0.0"},
      {"1e999999999999999999999999", "Infinity"},
      {"1e-999999999999999999999999", "0.0"},
      {"5e-324", "5e-324"},
      {"2e-324", "0.0"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"1.7976931348623159e308", "Infinity"},
      {"5.684341886080802e-14", "5.684341886080802e-14"},
      {"123.456", "123.456"},
      {"-12.5", "-12.5"},
  }));
  CHECK(python(in) == out);
  CHECK(python("[" + in + "]") == "[" + out + "]");
  CHECK(python(" \n" + in + "\t\r\n") == out);
}

TEST_CASE("a long mantissa decides with its exponent between infinity and zero", "[json]") {
  const std::string zeros(1000, '0');
  CHECK(python("0." + zeros + "1e1001") == "1.0");
  CHECK(python("1" + zeros + "e-1000") == "1.0");
  CHECK(python("0." + zeros + "1e2000") == "Infinity");
  CHECK(python("1" + zeros + "e-2000") == "0.0");
  CHECK(python("1" + zeros + ".0") == "Infinity");
  CHECK(python("-0." + zeros + "1") == "-0.0");
}

TEST_CASE("strings are escaped as Python does with ensure_ascii=False", "[json]") {
  const auto [in, out] = GENERATE(table<std::string, std::string>({
      {R"("\"\\\/\b\f\n\r\t")", R"("\"\\/\b\f\n\r\t")"},
      {R"("\u0000\u0001\u001f\u001F\u000b")", R"("\u0000\u0001\u001f\u001f\u000b")"},
      {R"("\u007f\u0080")", "\"\x7F\xC2\x80\""},
      {R"("\u2028\u2029\ufeff")", "\"\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF\""},
      {R"("\ud83d\ude00")", "\"\xF0\x9F\x98\x80\""},
      {R"("\uD83D\uDE00\uffff")", "\"\xF0\x9F\x98\x80\xEF\xBF\xBF\""},
      {R"("<a href='x'>&/</a>")", R"("<a href='x'>&/</a>")"},
      {"\"\xC3\xA9\"", "\"\xC3\xA9\""},
      {R"("")", R"("")"},
  }));
  CHECK(python(in) == out);
  std::string rendered;
  json::append_python_string(test::parsed(in).root().text(), rendered);
  CHECK(rendered == out);
}

TEST_CASE("objects are sorted by code point with the last of duplicates", "[json]") {
  const auto [in, out] = GENERATE(table<std::string, std::string>({
      {"{ }", "{}"},
      {"[ ]", "[]"},
      {R"({"b": 1, "a": [ {"d": null, "c": true} , false ]})", R"({"a":[{"c":true,"d":null},false],"b":1})"},
      {R"({"9":0,"10":1,"1":2})", R"({"1":2,"10":1,"9":0})"},
      {R"({"\ud83d\ude00":1,"\uffff":2})", "{\"\xEF\xBF\xBF\":2,\"\xF0\x9F\x98\x80\":1}"},
      {R"({"a":1,"b":2,"a":3})", R"({"a":3,"b":2})"},
      {R"({"a":{"x":1},"\u0061":{"y":[]},"":0})", R"({"":0,"a":{"y":[]}})"},
      {R"({"ab":1,"a":2,"a ":3,"B":4})", R"({"B":4,"a":2,"a ":3,"ab":1})"},
  }));
  CHECK(python(in) == out);
}

TEST_CASE("the compact form keeps order and spelling", "[json]") {
  const auto [in, out] = GENERATE(table<std::string, std::string>({
      {R"({ "b" : 1e400, "a" : -0 })", R"({"b":1e400,"a":-0})"},
      {R"({"b":1,"a":2,"b":[3],"c":4,"a":5})", R"({"b":[3],"a":5,"c":4})"},
      {R"([1.0, 1E2, "\u0041\n", null, true, {}, []])", R"([1.0,1E2,"A\n",null,true,{},[]])"},
      {"\"x\"", "\"x\""},
  }));
  CHECK(compact(in) == out);
}

TEST_CASE("text is appended", "[json]") {
  std::string out = "state: ";
  json::append_python(test::parsed("[1]").root(), out);
  json::append_compact(test::parsed("{}").root(), out);
  json::append_python_double(0.5, out);
  json::append_rounded4(0.25, out);
  json::append_python_string("x", out);
  CHECK(out == "state: [1]{}0.50.25\"x\"");
}

namespace {

struct CommaPunctuation : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("a locale with a decimal comma changes nothing", "[json]") {
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPunctuation));
  bool found = false;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "ru_RU.UTF-8", "pt_BR.UTF-8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) {
      found = true;
      break;
    }
  }
  std::string rounded;
  json::append_rounded4(1234.56789, rounded);
  std::string written;
  json::Writer writer(written);
  writer.begin_array();
  writer.number(1234567.5);
  writer.integer(1234567);
  writer.end_array();
  const std::string rendered = python("[0.5,1234567.25,1234567,1e-7,0.1e400]");
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);

  if (!found) WARN("no C locale with a decimal comma is installed; only the C++ locale was changed");
  CHECK(rounded == "1234.5679");
  CHECK(written == "[1234567.5,1234567]");
  CHECK(rendered == "[0.5,1234567.25,1234567,1e-07,Infinity]");
}
