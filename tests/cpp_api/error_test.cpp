// Result, Error, Exception, and errors of schemas and states.
#include <memory>

#include "shared.hpp"
#include "support/catch.hpp"

using namespace clef::test;
using clef::Status;

TEST_CASE("versions") {
  CHECK(clef::header_version() == "0.1.0");
  CHECK(clef::library_version() == "0.1.0");
  CHECK(clef::library_abi_version() == CLEF_ABI_VERSION);
  CHECK(clef::status_name(Status::too_long) == "too_long");
  CHECK(clef::status_name(static_cast<Status>(12345)) == "unknown");
}

TEST_CASE("a result holds a value or an error") {
  clef::Result<clef::Schema> good = clef::Schema::parse(R"({"a":{"type":"noul","instructions":"x?"}})");
  REQUIRE(good);
  CHECK(good.ok());
  CHECK(good->size() == 1);
  CHECK((*good).id(0) == "a");
  const clef::Schema moved = std::move(*good);
  CHECK(moved.id(0) == "a");

  clef::Result<clef::Schema> bad = clef::Schema::parse(R"({"a":{"type":"maybe","instructions":"x?"}})");
  REQUIRE(!bad);
  CHECK(bad.error().status() == Status::invalid_value);
  CHECK(bad.error().at() == std::string_view("/questions/a/type"));
  CHECK(bad.error().message().find("maybe") != std::string_view::npos);
  CHECK(bad.error().file() == "");
  CHECK(bad.error().tensor() == "");
  CHECK(bad.error().json().rfind(R"({"error":{"code":"invalid_value","message":")", 0) == 0);
  // An error outlives its result.
  const clef::Error kept = std::move(bad).error();
  CHECK(kept.at() == std::string_view("/questions/a/type"));
}

TEST_CASE("an error without an object still says what it is") {
  const clef::Error error(CLEF_TOO_MANY, nullptr);
  CHECK(error.status() == Status::too_many);
  CHECK(error.message() == "too_many");
  CHECK(!error.at());
  CHECK(error.file() == "");
  CHECK(error.offset() == -1);
  CHECK(error.json().find("error") != std::string_view::npos);
  CHECK(error.get() == nullptr);
}

TEST_CASE("value() gives the value or throws") {
  CHECK(clef::Schema::parse(R"({"a":{"type":"noul"}})").value().size() == 1);
  std::unique_ptr<clef::Exception> caught;
  try {
    (void)clef::Model::load(nano() + "/absent.gguf").value();
  } catch (const clef::Exception& exception) {
    caught = std::make_unique<clef::Exception>(exception);
  }
  REQUIRE(caught);
  CHECK(caught->error().status() == Status::not_found);
  CHECK(std::string(caught->what()) == caught->error().message());
  CHECK(std::string(caught->what()).find("absent.gguf") != std::string::npos);

  clef::State state = clef::State::create().value();
  CHECK_NOTHROW(state.set_text("fine").value());
  CHECK_THROWS_AS(state.set_text("\xff").value(), clef::Exception);
  clef::Result<void> failed = state.set_json("{");
  REQUIRE(!failed);
  CHECK(failed.error().status() == Status::invalid_json);
}

TEST_CASE("a builder keeps its first error") {
  clef::SchemaBuilder builder;
  builder.noul("a", "x?").score("s", "y?", {"only one"}).choice("c", "z?", std::vector<clef::ChoiceOption>{});
  auto schema = builder.build();
  REQUIRE(!schema);
  CHECK(schema.error().status() == Status::too_few);
  CHECK(schema.error().at() == std::string_view("/questions/s/criteria"));
}

TEST_CASE("what a builder makes is what the JSON says") {
  clef::SchemaBuilder builder;
  builder.noul("plain").noul("worded", "Is it?", "yes it is", "no it is not");
  builder.choice("c", "Which?", {{"b", "second"}, "a", {"", ""}});
  builder.score("s", "How?", std::vector<std::string_view>{"low", "high"});
  const clef::Schema built = builder.build().value();
  const clef::Schema parsed = clef::Schema::parse(R"({"questions":{
    "plain":{"type":"noul"},
    "worded":{"type":"noul","instructions":"Is it?","criteria":{"true":"yes it is","false":"no it is not"}},
    "c":{"type":"choice","instructions":"Which?","criteria":{"b":"second","a":null,"":""}},
    "s":{"type":"score","instructions":"How?","criteria":["low","high"]}}})")
                                  .value();
  REQUIRE(built.size() == 4);
  CHECK(built.type(2) == clef::QuestionType::choice);
  CHECK(built.type(3) == clef::QuestionType::score);
  CHECK(built.option_count(2) == 3);
  CHECK(built.id(1) == "worded");
  CHECK(built.id(9) == "");
  const clef::State state = clef::State::text(kText).value();
  const std::string prompt = nano_model().prompt(built, state).value();
  CHECK(prompt == nano_model().prompt(parsed, state).value());
  CHECK(prompt.find("yes it is") != std::string::npos);
  // The builder is empty afterwards.
  CHECK(builder.build().error().status() == Status::empty);
}

TEST_CASE("limits and strictness of schemas come from the options") {
  clef::Options options;
  options.max_questions = 1;
  const char* const two = R"({"a":{"type":"noul","instructions":"x"},"b":{"type":"noul"}})";
  CHECK(clef::Schema::parse(two));
  CHECK(clef::Schema::parse(two, options).error().status() == Status::too_many);
  CHECK(clef::Schema::builder(options).noul("a").noul("b").build().error().status() == Status::too_many);
  options.max_questions = 0;
  options.strict = true;
  CHECK(clef::Schema::parse(two, options).error().at() == std::string_view("/questions/b/instructions"));
}
