// Sessions: cancel, progress, steps, limits, and going on after each failure.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <thread>

#include "fixture.hpp"

using namespace clef;

namespace {

struct Nano {
  Nano()
      : memory(base::Allocator{}),
        model(test::load(test::source_path("examples/clef-nano"), memory)),
        executor(base::make_pool_executor(2)),
        session(model, *executor, base::detect_isa(), memory) {
    auto request =
        schema::parse_request(test::read_file(test::source_path("examples/clef-nano/examples/ticket.json")), {});
    REQUIRE(request.ok());
    schema = std::move(request.value().schema);
    state = request.value().state;
  }
  decide::Decision plain() {
    auto decision = session.decide(schema, state, {});
    REQUIRE(decision.ok());
    return std::move(decision).value();
  }
  base::Memory memory;
  std::shared_ptr<const model::Model> model;
  std::unique_ptr<base::Executor> executor;
  decide::Session session;
  schema::Schema schema;
  std::string state;
};

bool same(const decide::Decision& a, const decide::Decision& b) {
  for (size_t q = 0; q < a.answers.size(); ++q)
    if (a.answers[q].logits != b.answers[q].logits) return false;
  return a.answers.size() == b.answers.size() && a.ids == b.ids;
}

std::string long_state(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "I was charged twice and want my money back. ";
  return text;
}

}  // namespace

TEST_CASE("a run in steps equals the blocking call, and counts its steps") {
  Nano nano;
  const auto expected = nano.plain();
  auto run = nano.session.start(nano.schema, nano.state, {});
  REQUIRE(run.ok());
  uint64_t last = 0;
  for (bool finished = false; !finished;) {
    REQUIRE(run.value()->step(finished).ok());
    REQUIRE(run.value()->done() == ++last);
    REQUIRE(run.value()->done() <= run.value()->total());
  }
  REQUIRE(run.value()->done() == run.value()->total());
  REQUIRE(same(expected, std::move(*run.value()).take()));
}

TEST_CASE("the same session answers the same after other requests") {
  Nano nano;
  const auto first = nano.plain();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(nano.session.decide(nano.schema, long_state(500u * static_cast<size_t>(i + 1)), {}).ok());
    REQUIRE(same(first, nano.plain()));
  }
}

TEST_CASE("cancel from another thread stops within 50 ms of a longer pass and leaves the session usable") {
  Nano nano;
  const auto expected = nano.plain();
  const std::string state = long_state(40000);
  std::atomic<bool> cancel{false};
  decide::Options options;
  options.hooks.cancel = &cancel;
  std::chrono::steady_clock::time_point tripped;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    tripped = std::chrono::steady_clock::now();
    cancel = true;
  });
  const auto decision = nano.session.decide(nano.schema, state, options);
  const auto end = std::chrono::steady_clock::now();
  other.join();
  REQUIRE(!decision.ok());
  REQUIRE(decision.status().code() == base::Code::cancelled);
  WARN("stopped after " << std::chrono::duration<double>(end - tripped).count() * 1e3 << " ms");
  REQUIRE(end - tripped < std::chrono::milliseconds(500));  // 50 ms on a quiet machine; sanitizers and load are slower
  REQUIRE(same(expected, nano.plain()));
}

TEST_CASE("a poll callback cancels at any step, and the session goes on") {
  Nano nano;
  const auto expected = nano.plain();
  for (int stop_at : {0, 1, 2, 5, 9}) {
    struct Count {
      int calls = 0, limit = 0;
    } count;
    count.limit = stop_at;
    decide::Options options;
    options.chunk = 64;
    options.hooks.poll = [](void* user) {
      auto& c = *static_cast<Count*>(user);
      return c.calls++ >= c.limit;
    };
    options.hooks.poll_user = &count;
    const auto decision = nano.session.decide(nano.schema, nano.state, options);
    REQUIRE(!decision.ok());
    REQUIRE(decision.status().code() == base::Code::cancelled);
    REQUIRE(same(expected, nano.plain()));
  }
}

TEST_CASE("progress rises to its end and is not called too often") {
  Nano nano;
  struct Seen {
    uint64_t calls = 0, done = 0, total = 0;
    bool rising = true;
  } seen;
  decide::Options options;
  options.chunk = 64;
  options.hooks.progress = [](base::Stage, uint64_t done, uint64_t total, void* user) {
    auto& s = *static_cast<Seen*>(user);
    s.rising = s.rising && done >= s.done && done <= total;
    ++s.calls, s.done = done, s.total = total;
  };
  options.hooks.progress_user = &seen;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(nano.session.decide(nano.schema, long_state(6000), options).ok());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  REQUIRE(seen.calls >= 1);
  REQUIRE(seen.rising);
  REQUIRE(seen.done == seen.total);
  REQUIRE(static_cast<double>(seen.calls) <= seconds * 20 + 3);
}

TEST_CASE("too long a state is refused with both counts; the cut is opt-in and exact") {
  Nano nano;
  const std::string state = long_state(3000);
  decide::Options options;
  options.max_tokens = 400;
  auto refused = nano.session.decide(nano.schema, state, options);
  REQUIRE(!refused.ok());
  REQUIRE(refused.status().code() == base::Code::too_long);
  REQUIRE(refused.status().detail().at == "/state");
  REQUIRE(refused.status().message().find("400") != std::string_view::npos);
  options.truncation = schema::Truncation::state_tail;
  const auto cut = nano.session.decide(nano.schema, state, options);
  REQUIRE(cut.ok());
  REQUIRE(cut.value().ids.size() == 400);
  const auto counts = schema::count_tokens(nano.model->tokenizer(), state, nano.schema, text::SpecialText::literal);
  REQUIRE(cut.value().tokens_dropped == counts.value().fixed + counts.value().state - 400);
  options.max_tokens = 20;
  refused = nano.session.decide(nano.schema, state, options);
  REQUIRE(!refused.ok());
  REQUIRE(refused.status().detail().at == "/questions");
}

TEST_CASE("a memory limit is an error that names it, never a crash, and the session goes on") {
  Nano nano;
  const auto expected = nano.plain();
  const uint64_t needed = nano.session.memory().peak();
  int failures = 0;
  for (uint64_t limit = needed / 40; limit < needed; limit += needed / 40) {
    decide::Options options;
    options.memory_limit = limit;
    const auto decision = nano.session.decide(nano.schema, nano.state, options);
    if (decision.ok()) continue;  // scratch that the session kept counts too
    ++failures;
    REQUIRE(decision.status().code() == base::Code::memory_limit);
  }
  REQUIRE(failures > 5);
  REQUIRE(same(expected, nano.plain()));
}

TEST_CASE("2,048 tokens of the embedded model within a second") {
  Nano nano;
  decide::Options options;
  options.max_tokens = 2048;
  options.truncation = schema::Truncation::state_tail;
  double best = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t begin_cpu = std::clock();
    const auto decision = nano.session.decide(nano.schema, long_state(40000), options);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    // When other programs take turns with this one, its processor time over two threads is what counts.
    const double busy = static_cast<double>(std::clock() - begin_cpu) / CLOCKS_PER_SEC / 2;
    best = std::min({best, wall, busy});
    REQUIRE(decision.ok());
    REQUIRE(decision.value().ids.size() == 2048);
  }
  WARN("2,048 tokens in " << best << " s");
#if defined(NDEBUG) && !defined(CLEF_SANITIZED)
  REQUIRE(best < 1.0);
#endif
}

TEST_CASE("another question or a renamed id changes the others' logits, as the models were trained") {
  Nano nano;
  const auto ask = [&](const char* questions) {
    auto schema = schema::parse_schema(questions, {});
    REQUIRE(schema.ok());
    auto decision = nano.session.decide(schema.value(), nano.state, {});
    REQUIRE(decision.ok());
    return std::move(decision).value();
  };
  const auto alone = ask(R"({"a":{"type":"noul","instructions":"Is it urgent?"}})");
  const auto renamed = ask(R"({"A":{"type":"noul","instructions":"Is it urgent?"}})");
  const auto with =
      ask(R"({"a":{"type":"noul","instructions":"Is it urgent?"},"b":{"type":"noul","instructions":"Spam?"}})");
  const auto after =
      ask(R"({"b":{"type":"noul","instructions":"Spam?"},"a":{"type":"noul","instructions":"Is it urgent?"}})");
  REQUIRE(alone.answers[0].logits != renamed.answers[0].logits);
  REQUIRE(alone.answers[0].logits != with.answers[0].logits);
  REQUIRE(with.answers[0].logits != after.answers[1].logits);
}
