// Pictures and videos through the C interface: every way in gives the same answer.
#include <chrono>

#include "owned.hpp"

using namespace clef::test;

namespace {

const char* const kStar = R"({"a":{"type":"noul","instructions":"Does the picture show a star?"}})";

std::vector<uint8_t> noise(size_t bytes, uint32_t seed) {
  std::vector<uint8_t> out(bytes);
  for (uint8_t& byte : out) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  return out;
}

constexpr uint32_t kWidth = 96, kHeight = 64;
constexpr size_t kFrames = 7;

struct Setting {
  Runtime runtime = serial_runtime();
  Model model = load_model(runtime.get());
  Session session = make_session(model.get());
  Schema schema = parse_schema(kStar);

  std::vector<unsigned char> decide(const State& state) {
    const Decision decision = make<Decision>([&](auto out, auto error) {
      return clef_decide(session.get(), schema.get(), state.get(), nullptr, out, error);
    });
    return bits_of(decision.get());
  }
  Fault refused(const State& state, const clef_options* options = nullptr) {
    clef_decision* decision = nullptr;
    return call(
        [&](auto error) { return clef_decide(session.get(), schema.get(), state.get(), options, &decision, error); });
  }
};

State picture_state(const std::vector<uint8_t>& pixels) {
  State state = text_state("A drawing.");
  REQUIRE(clef_state_add_pixels(state.get(), pixels.data(), kWidth, kHeight, 0, CLEF_PIXEL_RGB8, nullptr) == CLEF_OK);
  return state;
}

// A video that makes its frames.
struct Frames {
  std::vector<uint64_t> asked;
  int released = 0;
  uint64_t broken = UINT64_MAX;
};
int32_t read_frame(uint64_t index, void* pixels, size_t size, void* user) {
  auto& frames = *static_cast<Frames*>(user);
  frames.asked.push_back(index);
  if (index == frames.broken || size != 3 * kWidth * kHeight) return 7;
  const std::vector<uint8_t> frame = noise(size, static_cast<uint32_t>(index));
  std::memcpy(pixels, frame.data(), size);
  return 0;
}

State frames_state(Frames& frames, const double* times = nullptr) {
  clef_frame_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.read = read_frame;
  hooks.release = [](void* user) { ++static_cast<Frames*>(user)->released; };
  hooks.user = &frames;
  hooks.count = kFrames;
  hooks.times = times;
  hooks.frames_per_second = 3;
  hooks.width = kWidth, hooks.height = kHeight;
  hooks.sample = 1;
  State state = text_state("A clip.");
  REQUIRE(clef_state_add_frames(state.get(), &hooks, nullptr) == CLEF_OK);
  return state;
}

}  // namespace

TEST_CASE("pixels in every form are one picture") {
  Setting nano;
  const std::vector<uint8_t> rgb = noise(3 * kWidth * kHeight, 1);
  const auto expected = nano.decide(picture_state(rgb));
  CHECK(expected != nano.decide(text_state("A drawing.")));
  CHECK(expected != nano.decide(picture_state(noise(rgb.size(), 2))));

  constexpr size_t kStride = 4 * kWidth + 20;
  std::vector<uint8_t> bgra(kStride * kHeight, 99);
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kWidth; ++x) {
      const uint8_t* from = rgb.data() + 3 * (y * kWidth + x);
      const uint8_t pixel[] = {from[2], from[1], from[0], 255};
      std::memcpy(bgra.data() + y * kStride + 4 * x, pixel, 4);
    }
  State state = text_state("A drawing.");
  REQUIRE(clef_state_add_pixels_borrow(state.get(), bgra.data(), kWidth, kHeight, kStride, CLEF_PIXEL_BGRA8, nullptr,
                                       nullptr, nullptr) == CLEF_OK);
  CHECK(nano.decide(state) == expected);
}

TEST_CASE("the time of a decision about pictures, stage by stage") {
  Setting setting;
  std::vector<clef_stage> seen;
  clef_progress_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.progress = [](clef_stage stage, uint64_t, uint64_t, void* user) {
    static_cast<std::vector<clef_stage>*>(user)->push_back(stage);
  };
  hooks.user = &seen;
  const Options options = make_options();
  REQUIRE(clef_options_set_progress(options.get(), &hooks, nullptr) == CLEF_OK);
  const auto decide = [&](const State& state) {
    return make<Decision>([&](auto out, auto error) {
      return clef_decide(setting.session.get(), setting.schema.get(), state.get(), options.get(), out, error);
    });
  };
  const auto sum = [](const Decision& decision) {
    uint64_t all = 0;
    for (clef_stage stage = CLEF_STAGE_LOAD; stage <= CLEF_STAGE_VISION; ++stage)
      all += clef_decision_time(decision.get(), stage);
    return all;
  };

  const State picture = picture_state(noise(size_t{3} * kWidth * kHeight, 5));
  decide(picture);  // loads the vision tower, which is a stage of its own
  seen.clear();
  const auto begin = std::chrono::steady_clock::now();
  const Decision seeing = decide(picture);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
  for (const clef_stage stage :
       {CLEF_STAGE_DECODE, CLEF_STAGE_SCALE, CLEF_STAGE_VISION, CLEF_STAGE_PREFILL, CLEF_STAGE_HEAD})
    CHECK(clef_decision_time(seeing.get(), stage) > 0);
  CHECK(sum(seeing) <= static_cast<uint64_t>(taken.count()));
  // The first report is never held back; those soon after it may be.
  REQUIRE_FALSE(seen.empty());
  CHECK(seen.front() == CLEF_STAGE_VISION);
  for (const clef_stage stage : seen)
    CHECK((stage == CLEF_STAGE_VISION || stage == CLEF_STAGE_PREFILL || stage == CLEF_STAGE_HEAD));

  const Decision reading = decide(text_state("A drawing."));
  for (const clef_stage stage : {CLEF_STAGE_DECODE, CLEF_STAGE_SCALE, CLEF_STAGE_VISION})
    CHECK(clef_decision_time(reading.get(), stage) == 0);
  for (const clef_stage unknown : {7, -1}) CHECK(clef_decision_time(reading.get(), unknown) == 0);
  CHECK(clef_decision_time(reading.get(), CLEF_STAGE_PREFILL) > 0);
}

TEST_CASE("frames at once or on demand are one video") {
  Setting nano;
  std::vector<std::vector<uint8_t>> pixels;
  std::vector<const void*> list;
  for (uint32_t i = 0; i < kFrames; ++i) pixels.push_back(noise(3 * kWidth * kHeight, i));
  for (const auto& frame : pixels) list.push_back(frame.data());
  State given = text_state("A clip.");
  REQUIRE(clef_state_add_video(given.get(), list.data(), kFrames, kWidth, kHeight, 0, CLEF_PIXEL_RGB8, nullptr, 3, 1,
                               nullptr) == CLEF_OK);
  Frames frames;
  State later = frames_state(frames);
  CHECK(nano.decide(later) == nano.decide(given));
  CHECK(frames.asked == std::vector<uint64_t>{0, 2, 4, 6});  // trunc(7 / 3 * 2), evenly
  CHECK(frames.released == 0);
  CHECK(nano.decide(later) == nano.decide(given));  // again from the start

  frames.broken = 4;
  const Fault fault = nano.refused(later);
  CHECK(fault.status == CLEF_IO);
  CHECK(fault.at == "/videos/0/frames/4");
  CHECK(fault.message.find("7") != std::string::npos);
  later.reset();
  CHECK(frames.released == 1);

  Frames timed;
  const double times[kFrames] = {0, 1, 2, 3, 4, 5, 90};
  CHECK(nano.decide(frames_state(timed, times)) != nano.decide(given));
  CHECK(timed.released == 1);
}

TEST_CASE("media that are added to a request as JSON") {
  Setting nano;
  const std::vector<uint8_t> pixels = noise(3 * kWidth * kHeight, 1);
  const State media = picture_state(pixels);
  const std::string request = std::string(R"({"model":"m","state":"A drawing.","questions":)") + kStar + "}";
  const auto decide = [&](clef_decision** out, clef_error** error) {
    return clef_decide_json_media(nano.session.get(), request.data(), request.size(), media.get(), nullptr, out, error);
  };
  const Decision decision = make<Decision>(decide);
  CHECK(bits_of(decision.get()) == nano.decide(media));
  CHECK(json_of(decision).find(R"("model":"m")") != std::string::npos);
}

TEST_CASE("the limits hold for what comes by handles, too") {
  Setting nano;
  const std::vector<uint8_t> pixels = noise(3 * kWidth * kHeight, 1);
  State five = picture_state(pixels);
  for (int i = 0; i < 4; ++i)
    REQUIRE(clef_state_add_pixels(five.get(), pixels.data(), kWidth, kHeight, 0, CLEF_PIXEL_RGB8, nullptr) == CLEF_OK);
  const Fault many = nano.refused(five);
  CHECK(many.status == CLEF_TOO_MANY);
  CHECK(many.at == "/images");
  const Options options = make_options();
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_IMAGES, 5, nullptr) == CLEF_OK);
  clef_decision* decision = nullptr;
  CHECK(clef_decide(nano.session.get(), nano.schema.get(), five.get(), options.get(), &decision, nullptr) == CLEF_OK);
  clef_decision_free(decision);
  Frames frames;
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_VIDEOS, 0, nullptr) == CLEF_OK);
  const Fault video = nano.refused(frames_state(frames), options.get());
  CHECK(video.status == CLEF_TOO_MANY);
  CHECK(video.at == "/videos");
}
