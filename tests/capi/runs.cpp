// Runs in steps, many at once, cancel, the order of frees.
#include "owned.hpp"

using namespace clef::test;

namespace {

struct Nano {
  Runtime runtime = make_runtime();
  Model model = load_model(runtime.get());
  Session session = make_session(model.get());
};

}  // namespace

TEST_CASE("a run in steps equals the call, for every chunk size") {
  const Nano nano;
  const Decision whole = decide_json(nano.session.get(), request_json());
  const State state = text_state(kState);
  for (const uint64_t chunk : {0, 1, 64, 100, 1000}) {
    Schema schema = parse_schema(kQuestions);
    Options options = make_options();
    REQUIRE(clef_options_set_chunk(options.get(), chunk, nullptr) == CLEF_OK);
    Run run = make<Run>([&](auto out, auto error) {
      return clef_run_start(nano.session.get(), schema.get(), state.get(), options.get(), out, error);
    });
    schema.reset();
    options.reset();  // the run keeps what it needs
    clef_decision* early = nullptr;
    CHECK(clef_run_finish(run.get(), &early, nullptr) == CLEF_INVALID_ARGUMENT);
    CHECK(clef_decide_json(nano.session.get(), "{}", 2, nullptr, &early, nullptr) == CLEF_BUSY);
    clef_run* second = nullptr;
    const Schema another = parse_schema(kQuestions);
    CHECK(clef_run_start(nano.session.get(), another.get(), state.get(), nullptr, &second, nullptr) == CLEF_BUSY);
    CHECK(clef_session_reserve(nano.session.get(), 10, nullptr, nullptr) == CLEF_BUSY);
    int32_t finished = 0;
    size_t steps = 0;
    uint64_t before = 0, done = 0, total = 0;
    while (!finished) {
      REQUIRE(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_OK);
      clef_run_progress(run.get(), &done, &total);
      CHECK(done > before);
      CHECK(done <= total);
      before = done;
      REQUIRE(++steps < 10000);
    }
    CHECK(steps > 4);
    CHECK(done == total);
    CHECK(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_OK);
    CHECK(finished == 1);
    const Decision decision =
        make<Decision>([&](auto out, auto error) { return clef_run_finish(run.get(), out, error); });
    CHECK(bits_of(decision.get()) == bits_of(whole.get()));
    CHECK(clef_run_finish(run.get(), &early, nullptr) == CLEF_INVALID_ARGUMENT);
    run.reset();
    const Decision after = decide_json(nano.session.get(), request_json());
    CHECK(bits_of(after.get()) == bits_of(whole.get()));
  }
}

TEST_CASE("a large budget finishes a run in one step; a run that is dropped frees the session") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  const auto start = [&] {
    return make<Run>([&](auto out, auto error) {
      return clef_run_start(nano.session.get(), schema.get(), state.get(), nullptr, out, error);
    });
  };
  Run run = start();
  int32_t finished = 0;
  REQUIRE(clef_run_step(run.get(), 60000000, &finished, nullptr) == CLEF_OK);
  CHECK(finished == 1);
  run = nullptr;
  run = start();
  REQUIRE(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_OK);
  run.reset();
  CHECK(clef_decision_count(decide_json(nano.session.get(), request_json()).get()) == 3);
}

TEST_CASE("many at once: one that fails leaves the others alone") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  const State short_state = text_state(kState);
  std::string text;
  for (int i = 0; i < 60; ++i) text += kState;
  const State long_state = text_state(text);
  const auto options = make_options();
  REQUIRE(clef_options_set_max_tokens(options.get(), 400, nullptr) == CLEF_OK);
  const clef_schema* schemas[] = {schema.get(), schema.get(), nullptr, schema.get()};
  const clef_state* states[] = {short_state.get(), long_state.get(), short_state.get(), short_state.get()};
  clef_decision* decisions[4];
  clef_error* errors[4];
  CHECK(clef_decide_many(nano.session.get(), 4, schemas, states, options.get(), decisions, errors) == CLEF_TOO_LONG);
  const Decision whole = decide_json(nano.session.get(), request_json());
  for (const size_t i : {0, 3}) {
    REQUIRE(decisions[i] != nullptr);
    CHECK(errors[i] == nullptr);
    CHECK(bits_of(decisions[i]) == bits_of(whole.get()));
    clef_decision_free(decisions[i]);
  }
  CHECK(decisions[1] == nullptr);
  CHECK(take(errors[1]).status == CLEF_TOO_LONG);
  CHECK(decisions[2] == nullptr);
  CHECK(take(errors[2]).status == CLEF_INVALID_ARGUMENT);
  CHECK(clef_decide_many(nano.session.get(), 0, nullptr, nullptr, nullptr, nullptr, nullptr) == CLEF_OK);
}

TEST_CASE("cancel and progress of a decision") {
  const Nano nano;
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  const auto options = make_options();
  Cancel cancel = make<Cancel>(clef_cancel_create);
  REQUIRE(clef_options_set_cancel(options.get(), cancel.get(), nullptr) == CLEF_OK);
  const auto decide = [&] {
    clef_decision* decision = nullptr;
    const clef_status status =
        clef_decide(nano.session.get(), schema.get(), state.get(), options.get(), &decision, nullptr);
    clef_decision_free(decision);
    return status;
  };
  CHECK(decide() == CLEF_OK);
  clef_cancel_trip(cancel.get());
  CHECK(decide() == CLEF_CANCELLED);
  clef_cancel_reset(cancel.get());
  CHECK(decide() == CLEF_OK);

  struct Watch {
    clef_cancel* cancel = nullptr;
    uint64_t trip_at = 0, done = 0, total = 0;
    int asked = 0, released = 0;
  } watch;
  watch.cancel = cancel.get();
  clef_progress_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.user = &watch;
  hooks.progress = [](clef_stage, uint64_t done, uint64_t total, void* user) {
    auto& w = *static_cast<Watch*>(user);
    w.done = done, w.total = total;
    if (w.trip_at != 0 && done >= w.trip_at) clef_cancel_trip(w.cancel);
  };
  hooks.cancelled = [](void* user) -> int32_t { return ++static_cast<Watch*>(user)->asked > 1000000; };
  hooks.release = [](void* user) { ++static_cast<Watch*>(user)->released; };
  REQUIRE(clef_options_set_progress(options.get(), &hooks, nullptr) == CLEF_OK);
  CHECK(decide() == CLEF_OK);
  CHECK(watch.asked > 4);
  CHECK(watch.done == watch.total);
  CHECK(watch.total > 0);
  watch.trip_at = 1;
  CHECK(decide() == CLEF_CANCELLED);
  clef_cancel_reset(cancel.get());
  watch.trip_at = 0;
  watch.asked = 1000000;
  CHECK(decide() == CLEF_CANCELLED);
  watch.asked = 0;
  cancel.reset();  // the options keep the switch
  CHECK(decide() == CLEF_OK);
  CHECK(watch.released == 0);

  watch.cancel = nullptr;
  const Run run = make<Run>([&](auto out, auto error) {
    return clef_run_start(nano.session.get(), schema.get(), state.get(), options.get(), out, error);
  });
  watch.asked = 1000000;
  int32_t finished = 0;
  CHECK(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_CANCELLED);
  CHECK(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_INVALID_ARGUMENT);  // the run is over
}

TEST_CASE("kept states are not there yet") {
  const Nano nano;
  const State state = text_state(kState);
  clef_prefix* prefix = nullptr;
  CHECK(clef_prefix_create(nano.session.get(), state.get(), nullptr, &prefix, nullptr) == CLEF_UNSUPPORTED);
  const Source source = make_source(nano.runtime.get());
  CHECK(clef_prefix_load(nano.model.get(), source.get(), &prefix, nullptr) == CLEF_UNSUPPORTED);
  CHECK(prefix == nullptr);
}

TEST_CASE("handles may be freed in any order") {
  const Schema schema = parse_schema(kQuestions);
  State state = text_state(kState);
  Nano nano;
  const std::vector<unsigned char> expected = bits_of(decide_json(nano.session.get(), request_json()).get());
  Run run = make<Run>([&](auto out, auto error) {
    return clef_run_start(nano.session.get(), schema.get(), state.get(), nullptr, out, error);
  });
  Tokenizer tokenizer =
      make<Tokenizer>([&](auto out, auto error) { return clef_model_tokenizer(nano.model.get(), out, error); });
  nano.runtime.reset();
  nano.model.reset();
  state.reset();
  nano.session.reset();
  int32_t finished = 0;
  while (!finished) REQUIRE(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_OK);
  Decision decision = make<Decision>([&](auto out, auto error) { return clef_run_finish(run.get(), out, error); });
  run.reset();
  size_t count = 0;
  CHECK(clef_tokenizer_encode(tokenizer.get(), kState, CLEF_NUL, 0, nullptr, 0, &count, nullptr) == CLEF_OK);
  CHECK(count > 0);
  tokenizer.reset();
  CHECK(bits_of(decision.get()) == expected);  // a decision needs nothing else
}
