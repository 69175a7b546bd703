// The runtime: executors, instruction sets, log, floating-point environment, stack, threads.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <thread>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "owned.hpp"

using namespace clef::test;

namespace {

std::vector<unsigned char> decide_with(const clef_runtime_options* options) {
  const Runtime runtime = make_runtime(options);
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  return bits_of(decide_json(session.get(), request_json()).get());
}

// The host's executors of the tests; `user` is the runtime of the one that nests.
struct Host {
  int calls = 0;
  int released = 0;
  int depth = 0;
};

void forwards(size_t count, clef_task task, void* argument, void* user) {
  ++static_cast<Host*>(user)->calls;
  for (size_t i = 0; i < count; ++i) task(i, argument);
}
void backwards(size_t count, clef_task task, void* argument, void* user) {
  ++static_cast<Host*>(user)->calls;
  for (size_t i = count; i-- > 0;) task(i, argument);
}
// Splits the work and calls itself, on fresh threads.
void nested(size_t count, clef_task task, void* argument, void* user) {
  ++static_cast<Host*>(user)->calls;
  std::thread other([&] {
    for (size_t i = count / 2; i < count; ++i) task(i, argument);
  });
  for (size_t i = 0; i < count / 2; ++i) task(i, argument);
  other.join();
}
uint32_t three(void*) {
  return 3;
}

RuntimeOptions with_executor(void (*parallel_for)(size_t, clef_task, void*, void*), Host& host) {
  auto options = make_runtime_options();
  clef_executor_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.parallel_for = parallel_for;
  hooks.concurrency = three;
  hooks.release = [](void* user) { ++static_cast<Host*>(user)->released; };
  hooks.user = &host;
  REQUIRE(clef_runtime_options_set_executor(options.get(), &hooks, nullptr) == CLEF_OK);
  return options;
}

}  // namespace

TEST_CASE("the same bits for any number of threads and any executor of the host") {
  const std::vector<unsigned char> expected = decide_with(make_runtime_options(1).get());
  REQUIRE_FALSE(expected.empty());
  for (const uint32_t threads : {2, 3, 7}) CHECK(decide_with(make_runtime_options(threads).get()) == expected);
  for (const auto parallel_for : {forwards, backwards, nested}) {
    Host host;
    auto options = with_executor(parallel_for, host);
    CHECK(decide_with(options.get()) == expected);
    CHECK(host.calls > 0);
    CHECK(host.released == 0);
    options.reset();
    CHECK(host.released == 1);
  }
}

TEST_CASE("two runtimes of different instruction sets side by side") {
  const Runtime best = make_runtime();
  const auto options = make_runtime_options(2);
  REQUIRE(clef_runtime_options_set_isa(options.get(), "baseline", CLEF_NUL, nullptr) == CLEF_OK);
  const Runtime baseline = make_runtime(options.get());
  CHECK(std::string(clef_runtime_describe(baseline.get(), nullptr)).find(R"("isa":"baseline","threads":2)") !=
        std::string::npos);
  const Model first = load_model(best.get()), second = load_model(baseline.get());
  const Session a = make_session(first.get()), b = make_session(second.get());
  const Decision x = decide_json(a.get(), request_json()), y = decide_json(b.get(), request_json());
  const Decision x2 = decide_json(a.get(), request_json());
  CHECK(bits_of(x.get()) == bits_of(x2.get()));
  for (size_t q = 0; q < 3; ++q) {
    for (size_t o = 0; o < clef_decision_option_count(x.get(), q); ++o) {
      const double p = static_cast<double>(clef_decision_probabilities(x.get(), q)[o]);
      CHECK(static_cast<double>(clef_decision_probabilities(y.get(), q)[o]) == Approx(p).margin(1e-4));
    }
  }
}

TEST_CASE("an instruction set that the processor lacks is refused") {
  const std::string best = clef_runtime_describe(make_runtime().get(), nullptr);
  const auto options = make_runtime_options();
  REQUIRE(clef_runtime_options_set_isa(options.get(), "avx512", CLEF_NUL, nullptr) == CLEF_OK);
  clef_runtime* runtime = nullptr;
  const Fault fault =
      call([&](auto error) { return clef_runtime_create(CLEF_ABI_VERSION, options.get(), &runtime, error); });
  clef_runtime_free(runtime);
  const bool present = best.find("\"isa\":\"avx512\"") != std::string::npos;
  CHECK(fault.status == (present ? CLEF_OK : CLEF_UNSUPPORTED));
}

TEST_CASE("log lines") {
  struct Log {
    std::vector<std::pair<clef_log_level, std::string>> lines;
  } log;
  clef_log_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.user = &log;
  hooks.write = [](clef_log_level level, const char* message, size_t size, void* user) {
    static_cast<Log*>(user)->lines.emplace_back(level, std::string(message, size));
  };
  const auto options = make_runtime_options(1);
  REQUIRE(clef_runtime_options_set_log(options.get(), &hooks, nullptr) == CLEF_OK);
  const Runtime runtime = make_runtime(options.get());
  const Model model = load_model(runtime.get());
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].first == CLEF_LOG_INFO);
  CHECK(log.lines[0].second.find("clef-nano") != std::string::npos);
  const auto cut = make_options();
  REQUIRE(clef_options_set_max_tokens(cut.get(), 130, nullptr) == CLEF_OK);
  REQUIRE(clef_options_set_truncation(cut.get(), CLEF_TRUNCATE_STATE_TAIL, nullptr) == CLEF_OK);
  const Session session = make_session(model.get());
  std::string text;
  for (int i = 0; i < 40; ++i) text += kState;
  const std::string request = R"({"state":")" + text + R"(","questions":{"a":{"type":"noul"}}})";
  const Decision decision = decide_json(session.get(), request, cut.get());
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[1].first == CLEF_LOG_WARNING);
}

#if defined(__x86_64__)
TEST_CASE("the caller's floating-point environment is neither used nor changed") {
  const Runtime runtime = make_runtime();
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  const std::vector<unsigned char> expected = bits_of(decide_json(session.get(), request_json()).get());
  const unsigned before = _mm_getcsr();
  // Flush to zero, denormals are zero, round down, as a plug-in of the host might leave it.
  const unsigned altered = (before & ~0x3fu) | 0x8000u | 0x0040u | 0x2000u;
  _mm_setcsr(altered);
  const Model again = load_model(runtime.get());
  const unsigned after_load = _mm_getcsr();
  const Session other = make_session(again.get());
  const Decision decision = decide_json(other.get(), request_json());
  const unsigned after_decide = _mm_getcsr();
  clef_decision* none = nullptr;
  const clef_status refused = clef_decide_json(other.get(), "{", 1, nullptr, &none, nullptr);
  const unsigned after_error = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after_load & ~0x3fu) == (altered & ~0x3fu));
  CHECK((after_decide & ~0x3fu) == (altered & ~0x3fu));
  CHECK((after_error & ~0x3fu) == (altered & ~0x3fu));
  CHECK(refused == CLEF_INVALID_JSON);
  CHECK(bits_of(decision.get()) == expected);
}
#endif

TEST_CASE("eight threads with a session each give what one gives") {
  const Runtime runtime = make_runtime();
  const Model model = load_model(runtime.get());
  const std::vector<unsigned char> expected =
      bits_of(decide_json(make_session(model.get()).get(), request_json()).get());
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      clef_session* session = nullptr;
      if (clef_session_create(model.get(), &session, nullptr) != CLEF_OK) return;
      for (int i = 0; i < 4; ++i) {
        clef_decision* decision = nullptr;
        if (clef_decide(session, schema.get(), state.get(), nullptr, &decision, nullptr) == CLEF_OK)
          equal += bits_of(decision) == expected;
        clef_decision_free(decision);
      }
      clef_session_free(session);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(equal == 32);
}

TEST_CASE("two threads on one session: one is answered BUSY") {
  const Runtime runtime = serial_runtime();
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  // The first call asks the other from its progress callback, while it is at work.
  struct Other {
    clef_session* session;
    clef_status status = -1;
  } other{session.get()};
  clef_progress_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.user = &other;
  hooks.cancelled = [](void* user) -> int32_t {
    auto& o = *static_cast<Other*>(user);
    std::thread([&] {
      clef_decision* decision = nullptr;
      o.status = clef_decide_json(o.session, "{}", 2, nullptr, &decision, nullptr);
    }).join();
    return 0;
  };
  const auto options = make_options();
  REQUIRE(clef_options_set_progress(options.get(), &hooks, nullptr) == CLEF_OK);
  const Decision decision = make<Decision>([&](auto out, auto error) {
    return clef_decide(session.get(), schema.get(), state.get(), options.get(), out, error);
  });
  CHECK(other.status == CLEF_BUSY);
}

#if !defined(CLEF_SANITIZED)  // sanitizers enlarge every frame
TEST_CASE("a stack of 128 KB is enough") {
  const std::vector<unsigned char> expected = decide_with(make_runtime_options(1).get());
  struct Work {
    const std::string path = nano_path(), request = request_json();
    std::vector<unsigned char> bits;
    clef_status status = -1;
  } work;
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 128 * 1024) == 0);
  pthread_t thread;
  const auto body = [](void* argument) -> void* {
    auto& w = *static_cast<Work*>(argument);
    clef_runtime_options* options = nullptr;
    clef_runtime* runtime = nullptr;
    clef_source* source = nullptr;
    clef_model* model = nullptr;
    clef_session* session = nullptr;
    clef_decision* decision = nullptr;
    clef_runtime_options_create(&options, nullptr);
    clef_runtime_options_set_threads(options, 1, nullptr);
    clef_runtime_create(CLEF_ABI_VERSION, options, &runtime, nullptr);
    clef_source_create(runtime, &source, nullptr);
    clef_source_add_path(source, nullptr, 0, w.path.data(), w.path.size(), nullptr);
    clef_model_load(runtime, source, nullptr, &model, nullptr);
    clef_session_create(model, &session, nullptr);
    w.status = clef_decide_json(session, w.request.data(), w.request.size(), nullptr, &decision, nullptr);
    w.bits = bits_of(decision);
    clef_decision_free(decision);
    // The deepest JSON that is taken, and one that is not.
    std::string deep = std::string(250, '[') + std::string(250, ']');
    clef_state* state = nullptr;
    clef_state_create(&state, nullptr);
    if (clef_state_set_json(state, deep.data(), deep.size(), nullptr) != CLEF_OK) w.status = -2;
    deep = std::string(100000, '[');
    if (clef_state_set_json(state, deep.data(), deep.size(), nullptr) == CLEF_OK) w.status = -3;
    clef_state_free(state);
    clef_session_free(session);
    clef_model_free(model);
    clef_source_free(source);
    clef_runtime_free(runtime);
    clef_runtime_options_free(options);
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, body, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  CHECK(work.status == CLEF_OK);
  CHECK(work.bits == expected);
}
#endif
