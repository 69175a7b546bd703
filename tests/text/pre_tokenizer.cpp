#include "text/pre_tokenizer.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

using namespace clef;
using text::PreTokenizer;
using Pieces = std::vector<std::string>;

namespace {

Pieces pieces(std::string_view text, PreTokenizer rule) {
  Pieces result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text::piece_end(text, begin, rule);
    REQUIRE(end > begin);
    REQUIRE(end <= text.size());
    result.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return result;
}

// Both rules agree.
void both(std::string_view text, const Pieces& wanted) {
  CAPTURE(text);
  CHECK(pieces(text, PreTokenizer::qwen2) == wanted);
  CHECK(pieces(text, PreTokenizer::qwen35) == wanted);
}

const std::string kAcute = "\xCC\x81", kWide = "\xE3\x80\x80", kNi = "\xE4\xBD\xA0", kLongS = "\xC5\xBF";
const std::string kKelvin = "\xE2\x84\xAA", kSelector = "\xEF\xB8\x8F", kSmile = "\xF0\x9F\x98\x80";

}  // namespace

TEST_CASE("words, numbers and punctuation") {
  both("Hello world", {"Hello", " world"});
  both("a.b", {"a", ".b"});
  both("x1y22", {"x", "1", "y", "2", "2"});
  both("a, b!", {"a", ",", " b", "!"});
  both("(foo)", {"(foo", ")"});
  both("((foo))", {"((", "foo", "))"});
  both("--x", {"--", "x"});
  both("a 1", {"a", " ", "1"});
  both(" !?", {" !?"});
  both("!?\r\n\nx", {"!?\r\n\n", "x"});
  both("! \n", {"!", " \n"});
  both("\tfoo", {"\tfoo"});
  both("\nfoo", {"\n", "foo"});
  both("\rfoo", {"\r", "foo"});
  both(kNi + "a" + kNi, {kNi + "a" + kNi});
  both(std::string("a\0b", 3), {"a", std::string("\0b", 2)});
  both(
      "\xC2\xBD"
      "x",
      {"\xC2\xBD", "x"});
  both(kSmile + "a", {kSmile + "a"});
  both(kSmile + kSmile + "a", {kSmile + kSmile, "a"});
}

TEST_CASE("contractions in any case") {
  both("don't", {"don", "'t"});
  both("I'LL've'D", {"I", "'LL", "'ve", "'D"});
  both("we'rE 'Re", {"we", "'rE", " '", "Re"});
  both("'sometimes", {"'s", "ometimes"});
  both("'" + kLongS + "o", {"'" + kLongS, "o"});
  both("'" + kKelvin, {"'" + kKelvin});
  both("'x", {"'x"});
  both("'r", {"'r"});
  both("'l", {"'l"});
  both("'v'", {"'v", "'"});
  both("'", {"'"});
  both("''s", {"''", "s"});
  both(" 's", {" '", "s"});
  both("\xE2\x80\x99s", {"\xE2\x80\x99s"});
}

TEST_CASE("blanks") {
  both(" ", {" "});
  both("   ", {"   "});
  both("  a", {" ", " a"});
  both("   a", {"  ", " a"});
  both("  1", {" ", " ", "1"});
  both(" 1", {" ", "1"});
  both("  !", {" ", " !"});
  both("\t\t!", {"\t", "\t", "!"});
  both("\t!", {"\t", "!"});
  both(" \n \n  a", {" \n \n", " ", " a"});
  both("\n\n", {"\n\n"});
  both("\n a", {"\n", " a"});
  both("a\r\n", {"a", "\r\n"});
  both(" \x0B\x0C ", {" \x0B\x0C "});
  both(kWide + "a", {kWide + "a"});
  both(kWide + kWide + "1", {kWide, kWide, "1"});
  both(" " + kWide, {" " + kWide});
  both(
      "\xC2\x85"
      "a",
      {"\xC2\x85"
       "a"});
  both(
      "\xE2\x80\x8B"
      "a",
      {"\xE2\x80\x8B"
       "a"});  // U+200B is not white space
}

TEST_CASE("marks are letters in one rule and punctuation in the other") {
  const auto differ = [](std::string_view text, const Pieces& qwen2, const Pieces& qwen35) {
    CAPTURE(text);
    CHECK(pieces(text, PreTokenizer::qwen2) == qwen2);
    CHECK(pieces(text, PreTokenizer::qwen35) == qwen35);
  };
  differ("q" + kAcute, {"q", kAcute}, {"q" + kAcute});
  differ("q" + kAcute + "r", {"q", kAcute + "r"}, {"q" + kAcute + "r"});
  differ("q" + kAcute + kAcute + "r", {"q", kAcute + kAcute, "r"}, {"q" + kAcute + kAcute + "r"});
  differ(kAcute + "!", {kAcute + "!"}, {kAcute, "!"});
  differ("!" + kAcute, {"!" + kAcute}, {"!" + kAcute});
  differ("!!" + kAcute, {"!!" + kAcute}, {"!!", kAcute});
  differ(" " + kAcute, {" " + kAcute}, {" " + kAcute});
  differ("  " + kAcute, {" ", " " + kAcute}, {" ", " " + kAcute});
  differ("1" + kAcute, {"1", kAcute}, {"1", kAcute});
  differ("'" + kAcute, {"'" + kAcute}, {"'" + kAcute});
  differ("\t" + kAcute, {"\t", kAcute}, {"\t" + kAcute});
  differ("\n" + kAcute, {"\n", kAcute}, {"\n", kAcute});
  differ(kSmile + kSelector + "\n", {kSmile + kSelector + "\n"}, {kSmile + kSelector, "\n"});
}

TEST_CASE("patterns") {
  CHECK(text::rule_of_pattern("") == PreTokenizer::automatic);
  CHECK(text::rule_of_pattern("\\s+") == PreTokenizer::automatic);
}
