// Strings as pointer and size, tables of callbacks by struct_size, release exactly once.
#include <cmath>

#include "owned.hpp"

using namespace clef::test;

namespace {

struct Counter {
  int released = 0;
  int called = 0;
};
void release(void* user) {
  ++static_cast<Counter*>(user)->released;
}
void write_log(clef_log_level, const char*, size_t, void* user) {
  ++static_cast<Counter*>(user)->called;
}
int32_t read_nothing(uint64_t, void*, size_t, void*) {
  return 1;
}

struct LongerLogHooks {
  clef_log_hooks known;
  void* more;
};

}  // namespace

TEST_CASE("strings: sizes, NUL and UTF-8") {
  const auto state = make<State>(clef_state_create);
  clef_state* s = state.get();
  CHECK(clef_state_set_text(s, "text", CLEF_NUL, nullptr) == CLEF_OK);
  CHECK(clef_state_set_text(s, nullptr, 0, nullptr) == CLEF_OK);
  CHECK(clef_state_set_text(s, "a\0b", 3, nullptr) == CLEF_OK);
  CHECK(clef_state_set_text(s, nullptr, 3, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_state_set_text(s, nullptr, CLEF_NUL, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_state_set_text(s, "x", SIZE_MAX - 1, nullptr) == CLEF_INVALID_ARGUMENT);
  const Fault fault = call([&](auto error) { return clef_state_set_text(s, "ab\xff", 3, error); });
  CHECK(fault.status == CLEF_INVALID_UNICODE);
  CHECK(fault.offset == 2);
  CHECK(fault.at == "/state");
  CHECK(fault.has_at);

  const auto options = make_options();
  CHECK(clef_options_set(options.get(), "ch\xc3", CLEF_NUL, "1", CLEF_NUL, nullptr) == CLEF_INVALID_UNICODE);
  CHECK(clef_options_set(options.get(), "chunk", CLEF_NUL, "6\xf5", CLEF_NUL, nullptr) == CLEF_INVALID_UNICODE);
  CHECK(clef_options_set(options.get(), "chunkXYZ", 5, "64Z", 2, nullptr) == CLEF_OK);

  clef_schema* schema = nullptr;
  CHECK(call([&](auto error) { return clef_schema_parse("{\"\xff\":1}", CLEF_NUL, nullptr, &schema, error); }).status ==
        CLEF_INVALID_UNICODE);
  const Fault lone = call([&](auto error) { return clef_state_set_json(s, R"("\ud800")", CLEF_NUL, error); });
  CHECK(lone.status == CLEF_INVALID_UNICODE);
}

TEST_CASE("the error as JSON is what a server answers") {
  clef_schema* schema = nullptr;
  const std::string text = R"({"a/b\"":{"type":"maybe"}})";
  const Fault fault =
      call([&](auto error) { return clef_schema_parse(text.data(), text.size(), nullptr, &schema, error); });
  CHECK(fault.status == CLEF_INVALID_VALUE);
  CHECK(fault.at == "/questions/a~1b\"/type");
  CHECK(fault.json.rfind(R"({"error":{"code":"invalid_value","message":")", 0) == 0);
  const std::string end = R"(,"at":"/questions/a~1b\"/type"}})";
  REQUIRE(fault.json.size() > end.size());
  CHECK(fault.json.substr(fault.json.size() - end.size()) == end);
  const Fault plain = call([&](auto error) { return clef_schema_parse("{}", 2, nullptr, nullptr, error); });
  CHECK(plain.json.find("\"at\"") == std::string::npos);
}

TEST_CASE("struct_size of tables") {
  Counter counter;
  const auto options = make_runtime_options();
  clef_runtime_options* o = options.get();
  clef_log_hooks hooks{};
  hooks.write = write_log;
  hooks.release = release;
  hooks.user = &counter;
  const auto status_for = [&](uint32_t size) {
    hooks.struct_size = size;
    return clef_runtime_options_set_log(o, &hooks, nullptr);
  };
  CHECK(status_for(0) == CLEF_INVALID_ARGUMENT);
  CHECK(status_for(4) == CLEF_INVALID_ARGUMENT);
  CHECK(status_for(sizeof(void*)) == CLEF_INVALID_ARGUMENT);
  CHECK(status_for(sizeof(void*) * 2 + 4) == CLEF_INVALID_ARGUMENT);
  CHECK(status_for(0xfffffff8u) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 0);

  // Only the first function: the rest counts as zero, so there is nothing to release.
  CHECK(status_for(sizeof(void*) * 2) == CLEF_OK);
  CHECK(status_for(sizeof hooks) == CLEF_OK);
  CHECK(counter.released == 0);

  LongerLogHooks longer{hooks, nullptr};
  longer.known.struct_size = sizeof longer;
  CHECK(clef_runtime_options_set_log(o, &longer.known, nullptr) == CLEF_OK);
  CHECK(counter.released == 1);  // of the table that was replaced
  longer.more = &longer;
  const Fault fault = call([&](auto error) { return clef_runtime_options_set_log(o, &longer.known, error); });
  CHECK(fault.status == CLEF_UNSUPPORTED);
  CHECK(fault.message.find("clef_log_hooks") != std::string::npos);
  CHECK(counter.released == 1);

  hooks.write = nullptr;
  CHECK(status_for(sizeof hooks) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_runtime_options_set_log(o, nullptr, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 1);
}

TEST_CASE("required functions of tables") {
  const auto options = make_runtime_options();
  clef_allocator_hooks allocator{};
  allocator.struct_size = sizeof allocator;
  CHECK(clef_runtime_options_set_allocator(options.get(), &allocator, nullptr) == CLEF_INVALID_ARGUMENT);
  allocator.allocate = [](size_t, size_t, void*) -> void* { return nullptr; };
  CHECK(clef_runtime_options_set_allocator(options.get(), &allocator, nullptr) == CLEF_INVALID_ARGUMENT);
  clef_executor_hooks executor{};
  executor.struct_size = sizeof executor;
  executor.concurrency = [](void*) { return uint32_t{1}; };
  const Fault fault =
      call([&](auto error) { return clef_runtime_options_set_executor(options.get(), &executor, error); });
  CHECK(fault.status == CLEF_INVALID_ARGUMENT);
  CHECK(fault.message.find("parallel_for") != std::string::npos);
  // Progress needs none.
  clef_progress_hooks progress{};
  progress.struct_size = sizeof progress;
  CHECK(clef_options_set_progress(make_options().get(), &progress, nullptr) == CLEF_OK);
}

TEST_CASE("a table is shared by options and runtimes and released once") {
  Counter counter;
  clef_log_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.write = write_log;
  hooks.release = release;
  hooks.user = &counter;
  auto options = make_runtime_options(1);
  REQUIRE(clef_runtime_options_set_log(options.get(), &hooks, nullptr) == CLEF_OK);
  Runtime first = make_runtime(options.get());
  Runtime second = make_runtime(options.get());
  options.reset();
  first.reset();
  CHECK(counter.released == 0);
  Source source = make_source(second.get());
  second.reset();
  CHECK(counter.released == 0);
  source.reset();
  CHECK(counter.released == 1);
}

TEST_CASE("borrowed text is released once, on failure too") {
  Counter counter;
  CHECK(clef_state_set_text_borrow(nullptr, "a", 1, release, &counter, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 1);
  auto state = make<State>(clef_state_create);
  CHECK(clef_state_set_text_borrow(state.get(), "\xff", 1, release, &counter, nullptr) == CLEF_INVALID_UNICODE);
  CHECK(counter.released == 2);
  CHECK(clef_state_set_text_borrow(state.get(), "first", 5, release, &counter, nullptr) == CLEF_OK);
  CHECK(counter.released == 2);
  CHECK(clef_state_set_text_borrow(state.get(), "second", 6, release, &counter, nullptr) == CLEF_OK);
  CHECK(counter.released == 3);
  CHECK(clef_state_set_text(state.get(), "third", 5, nullptr) == CLEF_OK);
  CHECK(counter.released == 4);
  CHECK(clef_state_set_text_borrow(state.get(), "fourth", 6, release, &counter, nullptr) == CLEF_OK);
  CHECK(clef_state_set_text_borrow(state.get(), "fifth", 5, nullptr, nullptr, nullptr) == CLEF_OK);
  CHECK(counter.released == 5);
  state.reset();
  CHECK(counter.released == 5);
}

namespace {

// 3 x 2 pixels.
const unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0x12, 0x16, 0xf1, 0x4d, 0x00,
    0x00, 0x00, 0x1c, 0x49, 0x44, 0x41, 0x54, 0x78, 0xda, 0x63, 0x60, 0x60, 0x60, 0x60, 0x64, 0x64, 0x64,
    0x62, 0x62, 0x62, 0xe0, 0xe2, 0xe2, 0xe2, 0xe6, 0xe6, 0xe6, 0xe1, 0xe1, 0x01, 0x00, 0x02, 0x66, 0x00,
    0x6d, 0x7f, 0x6d, 0x9d, 0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

#ifdef CLEF_WITH_MEDIA
constexpr clef_status kPicture = CLEF_OK;
#else
constexpr clef_status kPicture = CLEF_UNSUPPORTED;
#endif

}  // namespace

TEST_CASE("pictures are copied or borrowed, and borrowed ones released once") {
  Counter counter;
  auto state = make<State>(clef_state_create);
  const unsigned char junk[16] = {};
  const Fault fault = call([&](auto error) { return clef_state_add_image(state.get(), junk, sizeof junk, error); });
  CHECK(fault.status == CLEF_INVALID_VALUE);
  CHECK(fault.at == "/images/0");
  CHECK(call([&](auto error) { return clef_state_add_image(state.get(), junk, 0, error); }).status == CLEF_EMPTY);
  CHECK(clef_state_add_image_borrow(state.get(), junk, sizeof junk, release, &counter, nullptr) == CLEF_INVALID_VALUE);
  CHECK(counter.released == 1);
  CHECK(clef_state_add_image(state.get(), kPng, sizeof kPng, nullptr) == kPicture);
  CHECK(clef_state_add_image_borrow(state.get(), kPng, sizeof kPng, release, &counter, nullptr) == kPicture);
  CHECK(counter.released == (kPicture == CLEF_OK ? 1 : 2));
  CHECK(clef_state_add_image_borrow(nullptr, kPng, sizeof kPng, release, &counter, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == (kPicture == CLEF_OK ? 2 : 3));
  state.reset();
  CHECK(counter.released == 3);
}

TEST_CASE("pixels and frames are checked when they are given") {
  Counter counter;
  auto state = make<State>(clef_state_create);
  clef_state* s = state.get();
  const unsigned char bytes[64] = {};
  CHECK(clef_state_add_pixels(s, bytes, 2, 2, 8, CLEF_PIXEL_RGBA8, nullptr) == CLEF_OK);
  CHECK(clef_state_add_pixels(s, bytes, 2, 2, 0, CLEF_PIXEL_GRAY8, nullptr) == CLEF_OK);  // 0: no padding
  CHECK(clef_state_add_pixels(s, nullptr, 2, 2, 8, CLEF_PIXEL_RGBA8, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_state_add_pixels(s, bytes, 2, 2, 7, CLEF_PIXEL_RGBA8, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_state_add_pixels(s, bytes, 0, 2, 8, CLEF_PIXEL_RGBA8, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_state_add_pixels(s, bytes, 2, 2, 8, 5, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_state_add_pixels(s, bytes, 2, 0xffffffffu, SIZE_MAX / 2, CLEF_PIXEL_RGBA8, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  CHECK(clef_state_add_pixels_borrow(s, bytes, 2, 2, 7, CLEF_PIXEL_RGBA8, release, &counter, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 1);
  CHECK(clef_state_add_pixels_borrow(s, bytes, 2, 2, 8, CLEF_PIXEL_RGBA8, release, &counter, nullptr) == CLEF_OK);
  CHECK(counter.released == 1);

  const void* frames[3] = {bytes, bytes, bytes};
  const auto video = [&](const double* times, double fps, int32_t sample, size_t count = 3) {
    return clef_state_add_video(s, frames, count, 2, 2, 8, CLEF_PIXEL_RGBA8, times, fps, sample, nullptr);
  };
  const double times[3] = {0.0, 0.5, 2.0}, backwards[3] = {0.0, 2.0, 0.5}, infinite[3] = {0.0, 1.0, INFINITY};
  CHECK(video(nullptr, 2.0, 1) == CLEF_OK);
  CHECK(video(nullptr, 0.0, 0) == CLEF_OK);  // unknown
  CHECK(video(times, 0.0, 1) == CLEF_OK);
  CHECK(video(backwards, 0.0, 1) == CLEF_INVALID_ARGUMENT);
  CHECK(video(infinite, 0.0, 1) == CLEF_OUT_OF_RANGE);
  CHECK(video(nullptr, -1.0, 1) == CLEF_OUT_OF_RANGE);
  CHECK(video(nullptr, NAN, 1) == CLEF_OUT_OF_RANGE);
  CHECK(video(nullptr, 2.0, 2) == CLEF_INVALID_VALUE);
  CHECK(video(nullptr, 2.0, 1, 0) == CLEF_EMPTY);
  frames[1] = nullptr;
  CHECK(video(nullptr, 2.0, 1) == CLEF_INVALID_ARGUMENT);
  state.reset();
  CHECK(counter.released == 2);
}

TEST_CASE("frames on demand: what a table must say") {
  Counter counter;
  auto state = make<State>(clef_state_create);
  const double times[3] = {0.0, 0.5, 2.0}, backwards[3] = {0.0, 2.0, 0.5};
  clef_frame_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.read = read_nothing;
  hooks.release = release;
  hooks.user = &counter;
  hooks.count = 3;
  hooks.width = 4, hooks.height = 2;
  hooks.sample = 1;
  const auto add = [&](const auto& change) {
    clef_frame_hooks changed = hooks;
    change(changed);
    return clef_state_add_frames(state.get(), &changed, nullptr);
  };
  using Table = clef_frame_hooks;
  CHECK(clef_state_add_frames(state.get(), nullptr, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(add([](Table& t) { t.struct_size = 0; }) == CLEF_INVALID_ARGUMENT);
  CHECK(add([](Table& t) { t.read = nullptr; }) == CLEF_INVALID_ARGUMENT);
  CHECK(add([](Table& t) { t.count = 0; }) == CLEF_EMPTY);
  CHECK(add([](Table& t) { t.count = uint64_t{1} << 32; }) == CLEF_TOO_MANY);
  CHECK(add([](Table& t) { t.width = 0; }) == CLEF_INVALID_VALUE);
  CHECK(add([](Table& t) { t.format = 9; }) == CLEF_INVALID_VALUE);
  CHECK(add([](Table& t) { t.sample = 2; }) == CLEF_INVALID_VALUE);
  CHECK(add([](Table& t) { t.frames_per_second = -1; }) == CLEF_OUT_OF_RANGE);
  CHECK(add([&](Table& t) { t.times = backwards; }) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 0);  // a refused table stays the host's
  CHECK(add([&](Table& t) { t.times = times; }) == CLEF_OK);
  CHECK(counter.released == 0);
  state.reset();
  CHECK(counter.released == 1);
}

TEST_CASE("files of a source: names, borrowing, callbacks") {
  Counter counter;
  const Runtime runtime = serial_runtime();
  auto source = make<Source>([&](auto out, auto error) { return clef_source_create(runtime.get(), out, error); });
  clef_source* s = source.get();
  CHECK(clef_source_add_path(s, nullptr, 0, "", 0, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_source_add_path(s, nullptr, 0, "a\0b", 3, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_source_add_path(s, nullptr, 0, "\xff", 1, nullptr) == CLEF_INVALID_UNICODE);
  CHECK(clef_source_add_memory(s, nullptr, 0, "x", 1, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_source_add_memory(s, "a.json", CLEF_NUL, nullptr, 1, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_source_add_memory(s, "a.json", CLEF_NUL, "x", 1, nullptr) == CLEF_OK);
  const Fault twice = call([&](auto error) { return clef_source_add_memory(s, "a.json", CLEF_NUL, "x", 1, error); });
  CHECK(twice.status == CLEF_INVALID_ARGUMENT);
  CHECK(twice.file == "a.json");
#ifdef _WIN32
  CHECK(clef_source_add_fd(s, "b", CLEF_NUL, 0, 0, 0, nullptr) == CLEF_UNSUPPORTED);
  CHECK(clef_source_add_handle(s, "b", CLEF_NUL, nullptr, 0, 0, nullptr) == CLEF_INVALID_ARGUMENT);
#else
  CHECK(clef_source_add_fd(s, "b", CLEF_NUL, -1, 0, 0, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_source_add_handle(s, "b", CLEF_NUL, &counter, 0, 0, nullptr) == CLEF_UNSUPPORTED);
#endif
  CHECK(clef_source_add_memory_borrow(nullptr, "b", CLEF_NUL, "x", 1, release, &counter, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 1);
  CHECK(clef_source_add_memory_borrow(s, "a.json", CLEF_NUL, "x", 1, release, &counter, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 2);
  CHECK(clef_source_add_memory_borrow(s, "b.json", CLEF_NUL, "x", 1, release, &counter, nullptr) == CLEF_OK);
  CHECK(counter.released == 2);

  clef_read_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.release = release;
  hooks.user = &counter;
  CHECK(clef_source_add_callbacks(s, "c", CLEF_NUL, &hooks, nullptr) == CLEF_INVALID_ARGUMENT);
  hooks.read_at = read_nothing;
  hooks.size = UINT64_MAX;
  CHECK(clef_source_add_callbacks(s, "c", CLEF_NUL, &hooks, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(counter.released == 2);  // a refused table stays the host's
  hooks.size = 10;
  CHECK(clef_source_add_callbacks(s, "c", CLEF_NUL, &hooks, nullptr) == CLEF_OK);
  CHECK(counter.released == 2);
  source.reset();
  CHECK(counter.released == 4);
}
