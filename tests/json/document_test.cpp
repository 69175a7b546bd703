// What a Document gives back.
#include <limits>

#include "helpers.hpp"

using namespace clef;
using json::Kind;
using test::parsed;

TEST_CASE("scalars may stand alone", "[json]") {
  CHECK(parsed("null").root().is_null());
  CHECK(parsed(" true ").root().kind() == Kind::boolean);
  CHECK(parsed("true").root().boolean());
  CHECK_FALSE(parsed("\tfalse\n").root().boolean());
  CHECK(parsed("1e400 ").root().text() == "1e400");
  CHECK(parsed("\n-0").root().text() == "-0");
  CHECK(parsed("\"\"").root().text().empty());
  CHECK(parsed(" \"a\\u0000b\" ").root().text() == std::string_view("a\0b", 3));
  const std::string digits(4300, '7');
  CHECK(parsed(digits).root().text() == digits);
  CHECK(parsed("-" + digits).root().text() == "-" + digits);
  const std::string long_double = "0." + std::string(20000, '3');
  CHECK(parsed(long_double).root().text() == long_double);
}

TEST_CASE("members keep order and duplicates, find takes the last", "[json]") {
  const json::Document document = parsed(R"({"b":1,"a":[true,{"x":null}],"b":"two","\u0063\n":{}})");
  const json::Value& root = document.root();
  REQUIRE(root.is_object());
  REQUIRE(root.members().size() == 4);
  CHECK(root.members()[0].key == "b");
  CHECK(root.members()[0].value.text() == "1");
  CHECK(root.members()[1].key == "a");
  CHECK(root.members()[2].key == "b");
  CHECK(root.members()[3].key == "c\n");
  REQUIRE(root.find("b") != nullptr);
  CHECK(root.find("b")->text() == "two");
  CHECK(root.find("c") == nullptr);
  CHECK(root.items().empty());

  const json::Value& list = *root.find("a");
  REQUIRE(list.items().size() == 2);
  CHECK(list.items()[0].boolean());
  CHECK(list.items()[1].find("x")->is_null());
  CHECK(list.members().empty());
  CHECK(list.find("x") == nullptr);
  CHECK(root.find("c\n")->members().empty());
}

TEST_CASE("numbers convert only when they are what is asked for", "[json]") {
  const json::Document document = parsed(
      "[0,-0,9223372036854775807,-9223372036854775808,9223372036854775808,1.0,1e3,1e400,-1e400,1e-400,\"1\",true,0.1]");
  const auto items = document.root().items();
  int64_t integer = 77;
  CHECK((items[0].to_int64(integer) && integer == 0));
  CHECK((items[1].to_int64(integer) && integer == 0));
  CHECK((items[2].to_int64(integer) && integer == std::numeric_limits<int64_t>::max()));
  CHECK((items[3].to_int64(integer) && integer == std::numeric_limits<int64_t>::min()));
  integer = 77;
  for (const size_t i : {4, 5, 6, 7, 10, 11}) CHECK_FALSE(items[i].to_int64(integer));
  CHECK(integer == 77);

  double number = 77;
  CHECK((items[4].to_double(number) && number == 9223372036854775808.0));
  CHECK((items[6].to_double(number) && number == 1000.0));
  CHECK((items[7].to_double(number) && number == std::numeric_limits<double>::infinity()));
  CHECK((items[8].to_double(number) && number == -std::numeric_limits<double>::infinity()));
  CHECK((items[9].to_double(number) && number == 0.0));
  CHECK((items[12].to_double(number) && number == 0.1));
  number = 77;
  CHECK_FALSE(items[10].to_double(number));
  CHECK_FALSE(items[11].to_double(number));
  CHECK(number == 77);
}

TEST_CASE("a document owns its text and can be moved", "[json]") {
  json::Document kept;
  CHECK(kept.root().is_null());
  {
    std::string text = R"({"plain":"abc","escaped":"a\tb"})";
    json::Document document = parsed(text);
    text.assign(text.size(), '#');
    kept = std::move(document);
    CHECK(document.root().is_null());
  }
  const json::Document moved = std::move(kept);
  CHECK(moved.root().find("plain")->text() == "abc");
  CHECK(moved.root().find("escaped")->text() == "a\tb");
}

TEST_CASE("strings of every length around the block sizes survive", "[json]") {
  for (size_t size = 0; size < 300; ++size) {
    std::string plain(size, 'x');
    CHECK(parsed("[\"" + plain + "\"]").root().items()[0].text() == plain);
    // An escape at the end, then one at the start; both are decoded behind other decoded strings.
    const json::Document document = parsed("[\"" + plain + "\\n\",\"\\\"" + plain + "\",\"\\u00e9" + plain + "\"]");
    CHECK(document.root().items()[0].text() == plain + "\n");
    CHECK(document.root().items()[1].text() == "\"" + plain);
    CHECK(document.root().items()[2].text() == "\xC3\xA9" + plain);
  }
}
