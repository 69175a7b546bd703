#include "base/unicode.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef;
using base::CharClass;

namespace {

std::string utf8(std::initializer_list<uint32_t> code_points) {
  std::string text;
  for (const uint32_t c : code_points) base::append_utf8(c, text);
  return text;
}

std::string nfc(std::string_view text) {
  std::string scratch;
  return std::string(base::nfc(text, scratch));
}

// "0044 0307" as UTF-8.
std::string from_hex(std::string_view field) {
  std::string text;
  for (size_t i = 0; i < field.size();) {
    const size_t end = std::min(field.find(' ', i), field.size());
    base::append_utf8(static_cast<uint32_t>(std::stoul(std::string(field.substr(i, end - i)), nullptr, 16)), text);
    i = end + 1;
  }
  return text;
}

// Processor time, so that a busy machine does not matter.
double seconds_of_nfc(const std::string& text) {
  const std::clock_t start = std::clock();
  nfc(text);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("UTF-8 goes both ways for every code point") {
  for (uint32_t c = 0; c < 0x110000; c++) {
    if (c >= 0xD800 && c < 0xE000) continue;
    const std::string text = utf8({c});
    size_t i = 0;
    const uint32_t decoded = base::decode_utf8(text, i);
    if (decoded != c || i != text.size() || base::find_invalid_utf8(text) != std::string_view::npos) {
      CAPTURE(c);
      REQUIRE(decoded == c);
      REQUIRE(i == text.size());
      REQUIRE(base::find_invalid_utf8(text) == std::string_view::npos);
    }
  }
  CHECK(utf8({0x24, 0xA3, 0x20AC, 0x10348}) == "$\xC2\xA3\xE2\x82\xAC\xF0\x90\x8D\x88");
}

TEST_CASE("invalid UTF-8 is found at its first byte") {
  struct Case {
    std::string bytes;
    size_t offset;
  };
  const std::string prefix = "0123456789\xC3\xA9";
  for (const Case& c : std::vector<Case>{{"\x80", 0},
                                         {"\xBF", 0},
                                         {"\xC0\x80", 0},
                                         {"\xC1\xBF", 0},
                                         {"\xC2", 0},
                                         {"\xC2"
                                          "A",
                                          0},
                                         {"\xE0\x9F\xBF", 0},
                                         {"\xE2\x82", 0},
                                         {"\xE2\x82\x41", 0},
                                         {"\xED\xA0\x80", 0},
                                         {"\xED\xBF\xBF", 0},
                                         {"\xF0\x8F\xBF\xBF", 0},
                                         {"\xF0\x90\x8D", 0},
                                         {"\xF4\x90\x80\x80", 0},
                                         {"\xF5\x80\x80\x80", 0},
                                         {"\xFF", 0},
                                         {"a\xFE", 1},
                                         {"\xE2\x82\xAC\xE2\x82", 3}}) {
    CAPTURE(c.bytes);
    CHECK(base::find_invalid_utf8(c.bytes) == c.offset);
    CHECK(base::find_invalid_utf8(prefix + c.bytes + "tail") == prefix.size() + c.offset);
  }
  CHECK(base::find_invalid_utf8("") == std::string_view::npos);
  CHECK(base::find_invalid_utf8(std::string_view("\0\x7F", 2)) == std::string_view::npos);
  CHECK(base::find_invalid_utf8("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF") == std::string_view::npos);
}

TEST_CASE("classes of code points") {
  struct Case {
    uint32_t code_point;
    CharClass kind;
  };
  for (const Case& c :
       std::vector<Case>{{'a', CharClass::letter},      {'Z', CharClass::letter},     {'0', CharClass::number},
                         {'_', CharClass::other},       {'\0', CharClass::other},     {0x00AA, CharClass::letter},
                         {0x00B2, CharClass::number},   {0x00BD, CharClass::number},  {0x0300, CharClass::mark},
                         {0x0488, CharClass::mark},     {0x0903, CharClass::mark},    {0x0661, CharClass::number},
                         {0x2163, CharClass::number},   {0x3007, CharClass::number},  {0x4E00, CharClass::letter},
                         {0x9FFF, CharClass::letter},   {0xAC00, CharClass::letter},  {0xD7A3, CharClass::letter},
                         {0xE000, CharClass::other},    {0xFE0F, CharClass::mark},    {0x1F600, CharClass::other},
                         {0x20000, CharClass::letter},  {0x323AF, CharClass::letter}, {0x323B0, CharClass::other},
                         {0xE0100, CharClass::mark},    {0x10FFFF, CharClass::other}, {0x110000, CharClass::other},
                         {0xFFFFFFFF, CharClass::other}}) {
    CAPTURE(c.code_point);
    CHECK(base::char_class(c.code_point) == c.kind);
  }
  std::vector<uint32_t> spaces;
  for (uint32_t c = 0; c < 0x110000; c++)
    if (base::char_class(c) == CharClass::space) spaces.push_back(c);
  CHECK(spaces == std::vector<uint32_t>{0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,   0xA0,   0x1680,
                                        0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
                                        0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000});
  CHECK(base::unicode_version() == "15.0.0");
}

TEST_CASE("the Unicode normalization test") {
  size_t count = 0;
  for (const std::string& line : test::read_lines(test::data_path("unicode/normalization.txt"))) {
    if (line[0] == '#') continue;
    std::vector<std::string> columns;
    for (size_t i = 0; i <= line.size();) {
      const size_t end = std::min(line.find(';', i), line.size());
      columns.push_back(from_hex(std::string_view(line).substr(i, end - i)));
      i = end + 1;
    }
    CAPTURE(line);
    REQUIRE((columns.size() == 3 || columns.size() == 5));
    for (size_t i = 0; i < 3; i++) REQUIRE(nfc(columns[i]) == columns[1]);
    for (size_t i = 3; i < columns.size(); i++) REQUIRE(nfc(columns[i]) == columns[3]);
    // The same inside other text, where only a part changes.
    REQUIRE(nfc("abcdefgh\n" + columns[0] + "z\n" + columns[2] + "!") ==
            "abcdefgh\n" + columns[1] + "z\n" + columns[1] + "!");
    count++;
  }
  CHECK(count == 4028);
}

TEST_CASE("characters newer than Unicode 9.0 stay where they are") {
  for (const std::string& text : {utf8({0x1DFA, 0x0E49}),          // 14.0; a newer table would swap them
                                  utf8({0x2B1B, 0x0301, 0x1DF8}),  // 10.0
                                  utf8({0x11935, 0x11930}),        // 13.0; would compose to U+11938
                                  utf8({0x11938}), utf8({'a', 0x1AC0, 0x0323})})
    CHECK(nfc(text) == text);
  CHECK(nfc(utf8({0x2B1B, 0x0301, 0x1DF5, 0x0323})) == utf8({0x2B1B, 0x0323, 0x0301, 0x1DF5}));  // 9.0
}

TEST_CASE("Hangul syllables compose from their letters") {
  for (uint32_t s = 0; s < 11172; s++) {
    const uint32_t l = 0x1100 + s / 588, v = 0x1161 + s % 588 / 28, t = 0x11A7 + s % 28;
    const std::string letters = s % 28 == 0 ? utf8({l, v}) : utf8({l, v, t});
    if (nfc(letters) != utf8({0xAC00 + s})) {
      CAPTURE(s);
      REQUIRE(nfc(letters) == utf8({0xAC00 + s}));
    }
  }
  CHECK(nfc(utf8({0xAC00, 0x11A8})) == utf8({0xAC01}));
  CHECK(nfc(utf8({0xAC01, 0x11A8})) == utf8({0xAC01, 0x11A8}));
  CHECK(nfc(utf8({0xAC00, 0x11A7})) == utf8({0xAC00, 0x11A7}));
  CHECK(nfc(utf8({0x1100, 0x0300, 0x1161})) == utf8({0x1100, 0x0300, 0x1161}));
}

TEST_CASE("normalized text comes back as it is") {
  std::string scratch = "untouched";
  for (const std::string& text :
       {std::string(), std::string("plain"), utf8({0xE9, 0x4F60, 0x1F600, 0xAC01}), utf8({0x0301, 'a'}),
        // Marks that might compose, but do not here.
        utf8({'q', 0x0327, 0x0301}), utf8({0x0915, 0x094D, 0x0937})}) {
    const std::string_view result = base::nfc(text, scratch);
    CHECK(result == text);
    CHECK(static_cast<const void*>(result.data()) == text.data());
  }
}

TEST_CASE("long runs of marks are ordered in good time") {
  std::string marks = "a", low, high;
  for (int i = 0; i < 125'000; i++) {
    marks += utf8({0x0301, 0x0323});
    low += utf8({0x0323});
    high += utf8({0x0301});
  }
  CHECK(nfc(marks) == utf8({0x1EA1}) + low.substr(2) + high);
  CHECK(seconds_of_nfc(marks) < 5);  // a quadratic way takes minutes
}
