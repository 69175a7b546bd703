// Memory: accounting through the host's allocator, limits, reserve and trim, and a failure at every single allocation.
#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "failing_new.hpp"
#include "owned.hpp"

using namespace clef::test;

namespace {

// The host's allocator of the tests.
struct Heap {
  std::atomic<int64_t> blocks{0}, bytes{0}, most{0}, calls{0}, fail{-1}, bad{0};
  int released = 0;
};

void* heap_allocate(size_t size, size_t alignment, void* user) {
  auto& heap = *static_cast<Heap*>(user);
  if (heap.calls.fetch_add(1) == heap.fail.load()) return nullptr;
  if (alignment != 64) ++heap.bad;
  void* pointer = std::aligned_alloc(64, (size + 127) / 64 * 64);
  if (!pointer) return nullptr;
  ++heap.blocks;
  const int64_t now = heap.bytes += static_cast<int64_t>(size);
  if (now > heap.most) heap.most = now;
  return pointer;
}
void heap_free(void* pointer, size_t size, size_t alignment, void* user) {
  auto& heap = *static_cast<Heap*>(user);
  if (alignment != 64 || !pointer) ++heap.bad;
  --heap.blocks;
  heap.bytes -= static_cast<int64_t>(size);
  std::free(pointer);
}

RuntimeOptions with_heap(Heap& heap, uint32_t threads) {
  auto options = make_runtime_options(threads);
  clef_allocator_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.allocate = heap_allocate;
  hooks.free = heap_free;
  hooks.release = [](void* user) { ++static_cast<Heap*>(user)->released; };
  hooks.user = &heap;
  REQUIRE(clef_runtime_options_set_allocator(options.get(), &hooks, nullptr) == CLEF_OK);
  return options;
}

// The whole way from nothing to an answer and back, without Catch in between. Ends at the first failure.
struct Way {
  std::string path = nano_path(), request = request_json();
  clef_status status = CLEF_OK;
  bool error_given = true;

  void walk(bool pooled) {
    clef_runtime_options* options = nullptr;
    clef_runtime* runtime = nullptr;
    clef_source* source = nullptr;
    clef_model* model = nullptr;
    clef_session* session = nullptr;
    clef_decision* decision = nullptr;
    const auto step = [&](auto&& function) {
      if (status != CLEF_OK) return;
      clef_error* error = nullptr;
      status = function(&error);
      if (status != CLEF_OK) error_given = error_given && error && clef_error_status(error) == status;
      clef_error_free(error);
    };
    step([&](auto e) { return clef_runtime_options_create(&options, e); });
    step([&](auto e) { return clef_runtime_options_set_threads(options, pooled ? 2 : 1, e); });
    step([&](auto e) { return clef_runtime_create(CLEF_ABI_VERSION, options, &runtime, e); });
    step([&](auto e) { return clef_source_create(runtime, &source, e); });
    step([&](auto e) { return clef_source_add_path(source, nullptr, 0, path.data(), path.size(), e); });
    step([&](auto e) { return clef_model_load(runtime, source, nullptr, &model, e); });
    step([&](auto e) { return clef_session_create(model, &session, e); });
    step([&](auto e) { return clef_decide_json(session, request.data(), request.size(), nullptr, &decision, e); });
    clef_decision_free(decision);
    clef_session_free(session);
    clef_model_free(model);
    clef_source_free(source);
    clef_runtime_free(runtime);
    clef_runtime_options_free(options);
  }
};

}  // namespace

namespace {
// Sanitizers make every way through dear; builds without them take all.
#ifdef CLEF_SANITIZED
constexpr long kStep = 13;
#else
constexpr long kStep = 1;
#endif
}  // namespace

TEST_CASE("what passes through the host's allocator is counted and given back") {
  Heap heap;
  auto options = with_heap(heap, 2);
  Runtime runtime = make_runtime(options.get());
  const auto load_options = make<LoadOptions>(clef_load_options_create);
  REQUIRE(clef_load_options_set_copy_weights(load_options.get(), 1, nullptr) == CLEF_OK);
  Model model = load_model(runtime.get(), load_options.get());
  uint64_t used = 0, peak = 0;
  clef_runtime_memory(runtime.get(), &used, &peak);
  CHECK(used == static_cast<uint64_t>(heap.bytes));
  CHECK(used > 4000000);  // the copied weights
  Session session = make_session(model.get());
  Decision decision = decide_json(session.get(), request_json());
  const uint64_t before = used;
  clef_runtime_memory(runtime.get(), &used, &peak);
  CHECK(used == static_cast<uint64_t>(heap.bytes));
  CHECK(peak == static_cast<uint64_t>(heap.most));
  CHECK(peak > before);
  uint64_t session_used = 0, session_peak = 0;
  clef_session_memory(session.get(), &session_used, &session_peak);
  CHECK(before + session_used == used);
  CHECK(before + session_peak == peak);
  clef_session_trim(session.get());
  clef_session_memory(session.get(), &session_used, nullptr);
  CHECK(session_used == 0);
  CHECK(bits_of(decide_json(session.get(), request_json()).get()) == bits_of(decision.get()));
  runtime.reset();
  options.reset();
  session.reset();
  CHECK(heap.released == 0);
  model.reset();
  CHECK(heap.blocks == 0);
  CHECK(heap.bytes == 0);
  CHECK(heap.bad == 0);
  CHECK(heap.released == 1);
}

TEST_CASE("the host's allocator fails at the k-th call, for every k") {
  Heap heap;
  const auto options = with_heap(heap, 2);
  Runtime runtime = make_runtime(options.get());
  const auto load_options = make<LoadOptions>(clef_load_options_create);
  REQUIRE(clef_load_options_set_copy_weights(load_options.get(), 1, nullptr) == CLEF_OK);
  const Source source = make_source(runtime.get());
  for (int64_t k = 0;; ++k) {
    REQUIRE(k < 10000);
    heap.calls = 0, heap.fail = k;
    clef_model* model = nullptr;
    const Fault fault = call(
        [&](auto error) { return clef_model_load(runtime.get(), source.get(), load_options.get(), &model, error); });
    if (fault.status == CLEF_OK) {
      CHECK(k > 10);
      clef_model_free(model);
      break;
    }
    REQUIRE(fault.status == CLEF_OUT_OF_MEMORY);
    REQUIRE(model == nullptr);
    REQUIRE(heap.blocks == 0);
  }
  heap.fail = -1;
  const Model model = load_model(runtime.get());
  Session session = make_session(model.get());
  const std::vector<unsigned char> expected = bits_of(decide_json(session.get(), request_json()).get());
  clef_session_trim(session.get());
  const int64_t blocks = heap.blocks;
  for (int64_t k = 0;; ++k) {
    REQUIRE(k < 10000);
    heap.calls = 0, heap.fail = k;
    const std::string request = request_json();
    clef_decision* decision = nullptr;
    const Fault fault = call([&](auto error) {
      return clef_decide_json(session.get(), request.data(), request.size(), nullptr, &decision, error);
    });
    heap.fail = -1;
    clef_decision_free(decision);
    const bool done = heap.calls <= k;
    REQUIRE(fault.status == (done ? CLEF_OK : CLEF_OUT_OF_MEMORY));
    REQUIRE(bits_of(decide_json(session.get(), request_json()).get()) == expected);  // the session goes on
    clef_session_trim(session.get());
    REQUIRE(heap.blocks == blocks);
    if (done) {
      CHECK(k > 5);
      break;
    }
  }
}

TEST_CASE("the limit of a runtime and of a call") {
  auto options = make_runtime_options(1);
  REQUIRE(clef_runtime_options_set_memory_limit(options.get(), 1 << 20, nullptr) == CLEF_OK);
  const Runtime runtime = make_runtime(options.get());
  const Model model = load_model(runtime.get());  // mapped weights do not count
  const Session session = make_session(model.get());
  const std::string request = request_json();
  clef_decision* none = nullptr;
  const clef_status status = clef_decide_json(session.get(), request.data(), request.size(), nullptr, &none, nullptr);
  CHECK((status == CLEF_MEMORY_LIMIT || status == CLEF_OUT_OF_MEMORY));

  const Runtime free_runtime = serial_runtime();
  const Model free_model = load_model(free_runtime.get());
  const Session free_session = make_session(free_model.get());
  const auto call_options = make_options();
  REQUIRE(clef_options_set_memory_limit(call_options.get(), 1 << 20, nullptr) == CLEF_OK);
  const Fault fault = call([&](auto error) {
    return clef_decide_json(free_session.get(), request.data(), request.size(), call_options.get(), &none, error);
  });
  CHECK(fault.status == CLEF_MEMORY_LIMIT);
  CHECK(fault.message.find("1048576") != std::string::npos);
  CHECK(call([&](auto error) {
          return clef_session_reserve(free_session.get(), 100000, call_options.get(), error);
        }).status == CLEF_MEMORY_LIMIT);
  CHECK(clef_decision_count(decide_json(free_session.get(), request).get()) == 3);
}

TEST_CASE("a reserved session takes nothing more from the host") {
  for (const uint32_t threads : {1, 4}) {
    Heap heap;
    const auto options = with_heap(heap, threads);
    const Runtime runtime = make_runtime(options.get());
    const Model model = load_model(runtime.get());
    const Session session = make_session(model.get());
    for (const int repeat : {1, 3, 20}) {
      std::string text;
      for (int i = 0; i < repeat; ++i) text += std::string(kState) + " ";
      const State state = text_state(text);
      const Schema schema = parse_schema(kQuestions);
      const auto decide = [&] {
        return make<Decision>([&](auto out, auto error) {
          return clef_decide(session.get(), schema.get(), state.get(), nullptr, out, error);
        });
      };
      clef_session_trim(session.get());
      Session fresh = make_session(model.get());
      const Decision first = make<Decision>([&](auto out, auto error) {
        return clef_decide(fresh.get(), schema.get(), state.get(), nullptr, out, error);
      });
      uint64_t peak_of_decision = 0;
      clef_session_memory(fresh.get(), nullptr, &peak_of_decision);
      fresh.reset();
      const uint64_t tokens = clef_decision_input_tokens(first.get());
      INFO(tokens << " tokens, " << threads << " threads");
      REQUIRE(clef_session_reserve(session.get(), tokens, nullptr, nullptr) == CLEF_OK);
      uint64_t used = 0;
      clef_session_memory(session.get(), &used, nullptr);
      CHECK(used > 0);
      uint64_t estimate = 0;
      REQUIRE(clef_model_estimate(model.get(), tokens, nullptr, &estimate, nullptr, nullptr) == CLEF_OK);
      CHECK(peak_of_decision <= estimate);
      const int64_t calls = heap.calls;
      for (int i = 0; i < 3; ++i) CHECK(bits_of(decide().get()) == bits_of(first.get()));
      CHECK(heap.calls == calls);
    }
    clef_session_trim(session.get());
    uint64_t used = 1;
    clef_session_memory(session.get(), &used, nullptr);
    CHECK(used == 0);
    CHECK(heap.blocks == 0);
  }
}

TEST_CASE("no memory at the k-th allocation of the whole way") {
  for (const bool pooled : {false, true}) {
    Way plain;
    plain.walk(pooled);
    REQUIRE(plain.status == CLEF_OK);
    arm(-1);
    Way counted;
    counted.walk(pooled);
    const long total = disarm();
    REQUIRE(total > 1000);
    // With a pool only where it differs: the set-up and the decision.
    size_t failed = 0;
    for (long k = 0; k<total; k += k> 100 && k < total - 100 ? (pooled ? 97 : kStep) : 1) {
      Way way;
      const long before = live_blocks();
      arm(k);
      way.walk(pooled);
      disarm();
      const long after = live_blocks();
      INFO("allocation " << k << " of " << total << ", status " << way.status);
      REQUIRE((way.status == CLEF_OUT_OF_MEMORY || way.status == CLEF_OK));
      REQUIRE(way.error_given);
      REQUIRE(after == before);
      failed += way.status == CLEF_OUT_OF_MEMORY;
    }
    CHECK(failed > 100);
  }
}

TEST_CASE("no memory at the k-th allocation of a decision leaves the session usable") {
  const Runtime runtime = serial_runtime();
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  const std::string request = request_json();
  const std::vector<unsigned char> expected = bits_of(decide_json(session.get(), request).get());
  for (long k = 0;; k += kStep) {
    clef_decision* decision = nullptr;
    clef_error* error = nullptr;
    arm(k);
    const clef_status status =
        clef_decide_json(session.get(), request.data(), request.size(), nullptr, &decision, &error);
    const long total = disarm();
    clef_error_free(error);
    if (status == CLEF_OK) {
      REQUIRE(bits_of(decision) == expected);
      clef_decision_free(decision);
      if (total <= k) break;
      continue;
    }
    INFO("allocation " << k);
    REQUIRE(status == CLEF_OUT_OF_MEMORY);
    if (k / kStep % 16 == 0) REQUIRE(bits_of(decide_json(session.get(), request).get()) == expected);
    REQUIRE(k < 100000);
  }
  CHECK(bits_of(decide_json(session.get(), request).get()) == expected);
}

TEST_CASE("no memory while a run gives its result: a second try succeeds") {
  const Runtime runtime = serial_runtime();
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  const Schema schema = parse_schema(kQuestions);
  const State state = text_state(kState);
  for (long k = 0;; ++k) {
    const Run run = make<Run>([&](auto out, auto error) {
      return clef_run_start(session.get(), schema.get(), state.get(), nullptr, out, error);
    });
    int32_t finished = 0;
    while (!finished) REQUIRE(clef_run_step(run.get(), 0, &finished, nullptr) == CLEF_OK);
    clef_decision* decision = nullptr;
    arm(k);
    const clef_status status = clef_run_finish(run.get(), &decision, nullptr);
    const long total = disarm();
    if (status != CLEF_OK) {
      REQUIRE(status == CLEF_OUT_OF_MEMORY);
      REQUIRE(clef_run_finish(run.get(), &decision, nullptr) == CLEF_OK);
    }
    REQUIRE(clef_decision_count(decision) == 3);
    clef_decision_free(decision);
    if (total <= k) break;
    REQUIRE(k < 1000);
  }
}

// A model that has not yet loaded its vision part, so that this, too, fails at every place.
TEST_CASE("no memory at the k-th allocation of a decision about pictures leaves the session usable") {
  const Runtime runtime = serial_runtime();
  const Model model = load_model(runtime.get());
  const Session session = make_session(model.get());
  const Schema schema = parse_schema(R"({"a":{"type":"noul"}})");
  const std::vector<unsigned char> pixels(3 * 96 * 64, 90), frame(4 * 64 * 32, 200);
  const void* const frames[] = {frame.data(), frame.data(), frame.data()};
  const State state = text_state("");
  REQUIRE(clef_state_add_pixels(state.get(), pixels.data(), 96, 64, 0, CLEF_PIXEL_RGB8, nullptr) == CLEF_OK);
  REQUIRE(clef_state_add_video(state.get(), frames, 3, 64, 32, 0, CLEF_PIXEL_RGBA8, nullptr, 2, 1, nullptr) == CLEF_OK);
#ifdef CLEF_WITH_MEDIA
  const std::string file = read_file(data_path("media/images/exif6_40x24.jpg"));
  REQUIRE(clef_state_add_image(state.get(), file.data(), file.size(), nullptr) == CLEF_OK);
#endif
  const Options options = make_options();
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_IMAGE_TOKENS, 4, nullptr) == CLEF_OK);
  const auto decide = [&](clef_session* of, clef_decision** decision, clef_error** error) {
    return clef_decide(of, schema.get(), state.get(), options.get(), decision, error);
  };
  const auto bits = [&](clef_session* of) {
    return bits_of(make<Decision>([&](auto out, auto error) { return decide(of, out, error); }).get());
  };
  const Model loaded = load_model(runtime.get());
  const std::vector<unsigned char> expected = bits(make_session(loaded.get()).get());
  long failed = 0;
  for (long k = 0, total = 1; k < total; k += kStep) {
    clef_decision* decision = nullptr;
    clef_error* error = nullptr;
    arm(k);
    const clef_status status = decide(session.get(), &decision, &error);
    total = std::max(disarm(), k + (status == CLEF_OK ? 0 : kStep + 1));
    clef_error_free(error);
    INFO("allocation " << k << ", status " << status);
    REQUIRE((status == CLEF_OUT_OF_MEMORY || status == CLEF_OK));
    if (status == CLEF_OK) REQUIRE(bits_of(decision) == expected);  // a failure that was got over
    clef_decision_free(decision);
    failed += status != CLEF_OK;
  }
  CHECK(failed > 200 / kStep);
  CHECK(bits(session.get()) == expected);
}
