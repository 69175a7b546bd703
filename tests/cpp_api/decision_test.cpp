// Decisions: typed access, batches, steps.
#include <cmath>
#include <cstring>
#include <memory>

#include "shared.hpp"
#include "support/catch.hpp"

using namespace clef::test;
using clef::Status;

TEST_CASE("typed answers") {
  const clef::Decision decision = nano_model().decide(nano_schema(), kText).value();
  REQUIRE(decision.size() == 3);

  const clef::Answer refund = decision["refund"];
  REQUIRE(refund);
  CHECK(refund.type() == clef::QuestionType::noul);
  CHECK(refund.probability() > 0.9);
  CHECK(refund.probability() == Approx(refund.probability("true")));
  CHECK(refund.probability("true") + refund.probability("false") == Approx(1.0));
  CHECK(refund.option_id(0) == "true");

  const clef::Answer team = decision["team"];
  CHECK(team.choice() == "billing");
  CHECK(team.top() == 0);
  CHECK(team.option_count() == 3);
  double sum = 0, largest = 0;
  std::vector<std::string> ids;
  for (const clef::OptionProbability option : team.probabilities()) {
    ids.emplace_back(option.id);
    sum += static_cast<double>(option.probability);
    largest = std::max(largest, static_cast<double>(option.probability));
  }
  CHECK(ids == std::vector<std::string>{"billing", "technical", "shipping"});
  CHECK(sum == Approx(1.0));
  CHECK(team.confidence() == Approx(largest));
  CHECK(team.confidence(clef::Confidence::jev) == Approx((3 * largest - 1) / 2).margin(1e-6));
  double entropy = 0;
  for (const float p : team.probabilities().values())
    if (p > 0) entropy -= static_cast<double>(p) * std::log(static_cast<double>(p));
  CHECK(team.confidence(clef::Confidence::entropy) == Approx(1 - entropy / std::log(3.0)).margin(1e-6));
  REQUIRE(team.logits().size() == 3);
  CHECK(std::exp(static_cast<double>(team.logits()[1] - team.logits()[0])) ==
        Approx(static_cast<double>(team.probabilities()[1].probability) /
               static_cast<double>(team.probabilities()[0].probability))
            .epsilon(1e-3));

  const clef::Answer urgency = decision["urgency"];
  const clef::View<float> levels = urgency.probabilities().values();
  REQUIRE(levels.size() == 3);
  CHECK(urgency.score() == Approx(static_cast<double>(levels[1]) + 2 * static_cast<double>(levels[2])));

  std::vector<std::string> order;
  for (const clef::Answer answer : decision) order.emplace_back(answer.id());
  CHECK(order == std::vector<std::string>{"refund", "team", "urgency"});
  CHECK(decision[1].id() == "team");
}

TEST_CASE("answers that do not exist, and accessors of another type") {
  const clef::Decision decision = nano_model().decide(nano_schema(), kText).value();
  const clef::Answer none = decision["refunds"];
  CHECK(!none);
  CHECK(!decision.find("refunds"));
  CHECK(decision.find("refund"));
  CHECK(!decision[3]);
  CHECK(none.id() == "");
  CHECK(none.choice() == "");
  CHECK(std::isnan(none.probability()));
  CHECK(std::isnan(none.score()));
  CHECK(std::isnan(none.probability("true")));
  CHECK(none.probabilities().size() == 0);
  CHECK(none.probabilities().begin() == none.probabilities().end());
  CHECK(none.logits().empty());
  CHECK(none.top() == SIZE_MAX);
  CHECK(!none.span());
  CHECK(std::isnan(decision["team"].probability()));
  CHECK(std::isnan(decision["team"].score()));
  CHECK(std::isnan(decision["team"].probability("sales")));
  CHECK(std::isnan(decision["urgency"].probability()));
  CHECK(decision["refund"].choice() == "");
}

TEST_CASE("tokens, spans, times") {
  clef::Options options;
  options.detail = true;
  const clef::Decision decision = nano_model().decide(nano_schema(), kText, options).value();
  REQUIRE(decision.ids().size() == decision.input_tokens());
  CHECK(decision.tokens_dropped() == 0);
  const clef::Tokenizer tokenizer = nano_model().tokenizer().value();
  const auto text_of = [&](const std::optional<clef::Span>& span) {
    REQUIRE(span);
    return tokenizer.decode(decision.ids().data() + span->begin, span->end - span->begin).value();
  };
  CHECK(text_of(decision["refund"].span()) == "Is the customer asking for a refund?");
  CHECK(text_of(decision["team"].span(1)) == "{\"option_id\":\"technical\"}");
  CHECK(!decision["team"].span(3));
  CHECK(decision.time(clef::Stage::prefill).count() > 0);
  CHECK(decision.time(clef::Stage::head).count() > 0);
  CHECK(decision.json().find("\"detail\"") != std::string_view::npos);
}

TEST_CASE("a long state is refused, or cut when that was asked for") {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "Please refund it. ";
  clef::Options options;
  options.max_tokens = 400;
  const auto refused = nano_model().decide(nano_schema(), text, options);
  REQUIRE(!refused);
  CHECK(refused.error().status() == Status::too_long);
  CHECK(refused.error().at() == std::string_view("/state"));
  options.truncation = clef::Truncation::state_tail;
  const clef::Decision cut = nano_model().decide(nano_schema(), text, options).value();
  CHECK(cut.input_tokens() == 400);
  CHECK(cut.tokens_dropped() > 500);
}

TEST_CASE("requests as JSON, and states of both kinds") {
  clef::Session session = nano_model().session().value();
  const std::string request = read_file(nano() + "/examples/ticket_json.json");
  const clef::Decision whole = session.decide_json(request).value();
  const clef::Schema schema = clef::Schema::parse(request).value();
  const clef::State state =
      clef::State::json(
          R"({"subject":"Cannot log in","body":"The login code never arrives. I use Firefox on my MacBook.)"
          R"( There is no hurry.","plan":"pro","amount":249.0,"attachments":0})")
          .value();
  CHECK(session.decide(schema, state).value().json() == whole.json());
  CHECK(nano_model().decide_json(request).value().json() == whole.json());
  const std::string prompt = nano_model().prompt_json(request).value();
  CHECK(prompt == nano_model().prompt(schema, state).value());
  CHECK(session.decide_json("{}").error().status() == Status::missing_field);

  clef::State text = clef::State::text(kText).value();
  const std::string same = std::string("\"") + kText + "\"";
  CHECK(session.decide(nano_schema(), clef::State::json(same).value()).value().json() ==
        session.decide(nano_schema(), text).value().json());
  REQUIRE(text.set_text_borrow(kText));
  CHECK(session.decide(nano_schema(), text).value()["team"].choice() == "billing");
  CHECK(session.decide(nano_schema(), clef::State::create().value()));  // the empty text
}

TEST_CASE("several at once") {
  clef::Session session = nano_model().session().value();
  const clef::Schema schema = nano_schema();
  const clef::State good = clef::State::text(kText).value();
  std::string text;
  for (int i = 0; i < 300; ++i) text += "Please refund it. ";
  const clef::State large = clef::State::text(text).value();
  clef::Options options;
  options.max_tokens = 400;
  auto results = session.decide_many({&schema, &schema, &schema}, {&good, &large, &good}, options);
  REQUIRE(results.size() == 3);
  const std::string alone(session.decide(schema, good, options).value().json());
  CHECK(results[0].value().json() == alone);
  REQUIRE(!results[1]);
  CHECK(results[1].error().status() == Status::too_long);
  CHECK(results[2].value().json() == alone);
  CHECK(session.decide_many({&schema}, {})[0].error().status() == Status::invalid_argument);
  CHECK(session.decide_many({}, {}).empty());
}

TEST_CASE("in steps") {
  clef::Session session = nano_model().session().value();
  const clef::Schema schema = nano_schema();
  const clef::State state = clef::State::text(kText).value();
  const std::string expected(session.decide(schema, state).value().json());
  REQUIRE(session.reserve(512));
  CHECK(session.memory().used > 0);
  int steps = 0;
  {
    clef::Run run = session.start(schema, state).value();
    CHECK(session.decide(schema, state).error().status() == Status::busy);
    CHECK(!run.finished());
    CHECK(run.finish().error().status() == Status::invalid_argument);
    std::uint64_t last = 0;
    while (!run.finished()) {
      REQUIRE(run.step());
      ++steps;
      CHECK(run.progress().done >= last);
      last = run.progress().done;
      REQUIRE(steps < 10000);
    }
    CHECK(run.progress().done == run.progress().total);
    CHECK(run.finish().value().json() == expected);
  }
  CHECK(steps > 4);
  {
    clef::Run run = session.start(schema, state).value();
    REQUIRE(run.step(std::chrono::seconds(60)));
    CHECK(run.finished());
  }
  session.trim();
  CHECK(session.decide(schema, state).value().json() == expected);
}

TEST_CASE("pixels, frames, and media beside a request") {
  const std::vector<unsigned char> pixels(3 * 64 * 64, 90);
  clef::State picture = clef::State::text("A drawing.").value();
  picture.add_pixels({pixels.data(), 64, 64, 0, clef::PixelFormat::rgb8}).value();
  const clef::Decision seen = nano_model().decide(nano_schema(), picture).value();
  CHECK(seen.input_tokens() > nano_model().decide(nano_schema(), "A drawing.").value().input_tokens());
  clef::Session session = nano_model().session().value();
  const std::string request = R"({"state":"A drawing.","questions":{"q":{"type":"noul"}}})";
  CHECK(session.decide_json(request, picture).value().input_tokens() >
        session.decide_json(request).value().input_tokens());

  const auto alive = std::make_shared<int>(0);
  std::vector<std::uint64_t> asked;
  clef::FrameSource source;
  source.read = [&asked, alive](std::uint64_t index, void* out, std::size_t size) {
    asked.push_back(index);
    std::memset(out, static_cast<int>(index), size);
    return index != 5;
  };
  source.count = 5, source.width = 64, source.height = 32, source.frames_per_second = 2;
  {
    clef::State clip = clef::State::text("A clip.").value();
    clip.add_frames(source).value();
    CHECK(session.decide(nano_schema(), clip));
    CHECK(asked == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
    source.count = 6;
    clef::State broken = clef::State::text("A clip.").value();
    broken.add_frames(source).value();
    CHECK(session.decide(nano_schema(), broken).error().status() == Status::io);
    CHECK(alive.use_count() == 4);
  }
  source.read = nullptr;
  CHECK(alive.use_count() == 1);  // states and source are gone

  source.times = {0, 1};
  const auto refused = picture.add_frames(source);
  REQUIRE(!refused);
  CHECK(refused.error().status() == Status::invalid_argument);
  CHECK(refused.error().message().find("one per frame") != std::string_view::npos);
  source.times.clear();
  CHECK(picture.add_frames(source).error().status() == Status::invalid_argument);  // no function
}
