// The builder gives what JSON with the same texts gives, and refuses what it refuses.
#include <string>
#include <vector>

#include "schema/request.hpp"
#include "schema/support.hpp"

namespace clef::test {
namespace {

using base::Code;
using schema::Limits;
using schema::SchemaBuilder;

void check_equal(const schema::Schema& built, const schema::Schema& parsed) {
  REQUIRE(built.questions.size() == parsed.questions.size());
  for (size_t q = 0; q < built.questions.size(); ++q) {
    const schema::Question& a = built.questions[q];
    const schema::Question& b = parsed.questions[q];
    CHECK(a.id == b.id);
    CHECK(a.type == b.type);
    CHECK(a.instruction == b.instruction);
    CHECK(a.request_order == b.request_order);
    CHECK(a.legend == b.legend);
    REQUIRE(a.options.size() == b.options.size());
    for (size_t i = 0; i < a.options.size(); ++i) {
      CHECK(a.options[i].id == b.options[i].id);
      CHECK(a.options[i].rendered == b.options[i].rendered);
    }
  }
}

void check_status(const base::Status& status, Code code, std::string_view at) {
  REQUIRE_FALSE(status.ok());
  INFO("message: " << status.message());
  CHECK(base::code_name(status.code()) == base::code_name(code));
  CHECK(status.detail().has_at);
  CHECK(status.detail().at == at);
}

}  // namespace

TEST_CASE("built and parsed schemas are equal") {
  SchemaBuilder builder{Limits()};
  REQUIRE(builder.add_noul("refund", "Does the customer \"ask\"?\n", std::nullopt, std::nullopt).ok());
  REQUIRE(builder.add_noul("a/b", std::nullopt, "yes \xF0\x9F\x98\x80", std::nullopt).ok());
  REQUIRE(builder.add_noul("c", "", std::nullopt, "").ok());
  REQUIRE(builder
              .add_choice("team", "Which?",
                          {{"z", "last"}, {"10", std::nullopt}, {"", "empty"}, {"\xEF\xBF\xBF", "b"}, {"9", ""}})
              .ok());
  REQUIRE(builder.add_score("urgency", "How?", {"low", "", "high \\ \x01"}).ok());
  const auto built = std::move(builder).finish();
  REQUIRE(built.ok());
  const auto parsed = schema::parse_schema(
      R"({"refund":{"type":"noul","instructions":"Does the customer \"ask\"?\n"},)"
      R"("a/b":{"type":"noul","criteria":{"true":"yes \ud83d\ude00"}},)"
      R"("c":{"type":"noul","instructions":"","criteria":{"false":""}},)"
      R"("team":{"type":"choice","instructions":"Which?","criteria":{"z":"last","10":null,"":"empty","\uffff":"b","9":""}},)"
      R"("urgency":{"type":"score","instructions":"How?","criteria":["low","","high \\ \u0001"]}})",
      Limits());
  REQUIRE(parsed.ok());
  check_equal(built.value(), parsed.value());
  CHECK(built.value().questions[1].instruction == "a/b");
}

TEST_CASE("the builder refuses with the places of a request and stays usable") {
  Limits limits;
  limits.max_questions = 2;
  limits.max_options = 2;
  limits.max_id_bytes = 5;
  SchemaBuilder builder{limits};
  check_status(builder.add_noul("", "x", {}, {}), Code::empty, "/questions");
  check_status(builder.add_noul("123456", "x", {}, {}), Code::too_long, "/questions");
  check_status(builder.add_noul("\xff", "x", {}, {}), Code::invalid_unicode, "/questions");
  check_status(builder.add_noul("a", "x\x80", {}, {}), Code::invalid_unicode, "/questions/a/instructions");
  check_status(builder.add_noul("a", "x", "\xff", {}), Code::invalid_unicode, "/questions/a/criteria/true");
  check_status(builder.add_noul("a", "x", {}, "\xff"), Code::invalid_unicode, "/questions/a/criteria/false");
  check_status(builder.add_choice("a", "x", {}), Code::empty, "/questions/a/criteria");
  check_status(builder.add_choice("a", "x", {{"p", {}}, {"q", {}}, {"r", {}}}), Code::too_many,
               "/questions/a/criteria");
  check_status(builder.add_choice("a", "x", {{"p", {}}, {"p", "2"}}), Code::duplicate_key, "/questions/a/criteria/p");
  check_status(builder.add_choice("a", "x", {{"\xff", {}}}), Code::invalid_unicode, "/questions/a/criteria");
  check_status(builder.add_choice("a", "x", {{"p/q", "\xff"}}), Code::invalid_unicode, "/questions/a/criteria/p~1q");
  check_status(builder.add_score("a", "x", {}), Code::empty, "/questions/a/criteria");
  check_status(builder.add_score("a", "x", {"1"}), Code::too_few, "/questions/a/criteria");
  check_status(builder.add_score("a", "x", std::vector<std::string_view>(11, "l")), Code::too_many,
               "/questions/a/criteria");
  check_status(builder.add_score("a", "x", {"1", "\xff"}), Code::invalid_unicode, "/questions/a/criteria/1");

  REQUIRE(builder.add_noul("a", "x", {}, {}).ok());
  check_status(builder.add_score("a", "x", {"1", "2"}), Code::duplicate_key, "/questions/a");
  REQUIRE(builder.add_score("b", "x", {"1", "2"}).ok());
  const base::Status third = builder.add_noul("c", "x", {}, {});
  check_status(third, Code::too_many, "/questions");
  CHECK(contains(third.message(), "3 questions"));
  CHECK(contains(third.message(), "at most 2"));
  const auto schema = std::move(builder).finish();
  REQUIRE(schema.ok());
  REQUIRE(schema.value().questions.size() == 2);
  CHECK(schema.value().questions[0].id == "a");
  CHECK(schema.value().questions[1].id == "b");
}

TEST_CASE("a builder without questions has nothing to finish") {
  check_error(SchemaBuilder{Limits()}.finish(), Code::empty, "/questions");
}

TEST_CASE("strict builders want instructions") {
  Limits strict;
  strict.strict = true;
  SchemaBuilder builder{strict};
  check_status(builder.add_noul("a", std::nullopt, {}, {}), Code::missing_field, "/questions/a/instructions");
  check_status(builder.add_noul("a", "", {}, {}), Code::empty, "/questions/a/instructions");
  CHECK(builder.add_noul("a", " ", {}, {}).ok());
}

}  // namespace clef::test
