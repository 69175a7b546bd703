// Decisions with pictures and videos against the recorded ones, their positions, and what they do not depend on.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "check.hpp"
#include "decide/media_plan.hpp"
#include "decide/positions.hpp"
#include "fixture.hpp"

using namespace clef;

namespace {

decide::Picture picture_of(const std::string& path, decide::Media& media) {
  const auto bytes = std::make_shared<const std::string>(test::read_file(path));
  media.owners.push_back(bytes);
  return {std::as_bytes(std::span(*bytes)), {}};
}

// The pictures in the request itself.
decide::Media media_of(schema::Request& request) {
  decide::Media media;
  const auto images = std::make_shared<const std::vector<schema::EncodedImage>>(std::move(request.images));
  media.owners.push_back(images);
  for (const schema::EncodedImage& image : *images) media.images.push_back({std::as_bytes(std::span(image.bytes)), {}});
  return media;
}

// The files that a recorded line names.
decide::Media media_of(const test::Recorded& recorded, const std::string& folder) {
  decide::Media media;
  const json::Value& root = recorded.document.root();
  if (const json::Value* images = root.find("images"))
    for (const json::Value& name : images->items())
      media.images.push_back(picture_of(folder + std::string(name.text()), media));
  if (const json::Value* videos = root.find("videos"))
    for (const json::Value& item : videos->items()) {
      decide::Video video;
      for (const json::Value& name : item.find("frames")->items())
        video.frames.push_back(picture_of(folder + std::string(name.text()), media));
      if (const json::Value* fps = item.find("fps"); fps && fps->is_number()) REQUIRE(fps->to_double(video.fps));
      const json::Value* sample = root.find("do_sample_frames");
      video.sample = !sample || sample->kind() != json::Kind::boolean || sample->boolean();
      media.videos.push_back(std::move(video));
    }
  return media;
}

// A copy of a model's directory with other values in processor_config.json.
std::string variant(const std::string& path, const json::Value& changes) {
  const std::string directory = test::temporary_directory();
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.path().filename() != "processor_config.json")
      std::filesystem::create_symlink(std::filesystem::absolute(entry.path()),
                                      std::filesystem::path(directory) / entry.path().filename());
  const std::string text = test::read_file(path + "/processor_config.json");
  const auto document = json::parse(text);
  REQUIRE(document.ok());
  std::string merged;
  json::Writer writer(merged);
  const auto raw = [&](const json::Value& value) {
    std::string compact;
    json::append_compact(value, compact);
    writer.raw(compact);
  };
  writer.begin_object();
  for (const json::Member& part : document.value().root().members()) {
    writer.key(part.key);
    const json::Value* change = changes.find(part.key);
    if (!change) {
      raw(part.value);
      continue;
    }
    writer.begin_object();
    for (const json::Member& member : part.value.members())
      if (!change->find(member.key)) writer.key(member.key), raw(member.value);
    for (const json::Member& member : change->members()) writer.key(member.key), raw(member.value);
    writer.end_object();
  }
  writer.end_object();
  std::ofstream(directory + "/processor_config.json") << merged;
  return directory;
}

bool is_older(const test::Recorded& recorded) {
  return recorded.name.find("@5.10.2") != std::string::npos;
}

// The reference ignores the orientation; its older release drops transparency.
void set_reading(test::Recorded& recorded) {
  const json::Value* exif = recorded.document.root().find("exif");
  recorded.options.media.exif_orientation = exif && exif->text() == "upright";
  recorded.options.media.drop_alpha = is_older(recorded);
}

void check_positions(const test::Recorded& recorded, const model::Model& loaded, base::Memory& memory,
                     decide::Media media) {
  const json::Value* expected = recorded.document.root().find("position_ids");
  if (!expected) return;
  base::Watch watch{base::Hooks{}};
  auto vision = loaded.vision(watch);
  REQUIRE(vision.ok());
  auto plan =
      decide::MediaPlan::create(std::move(media), recorded.options.media, vision.value()->processor, memory, watch);
  REQUIRE(plan.ok());
  schema::PromptOptions options;
  options.user_text = recorded.options.user_text;
  options.media = plan.value()->items();
  const auto prompt =
      schema::encode_prompt(loaded.tokenizer(), recorded.request.state, recorded.request.schema, options);
  REQUIRE(prompt.ok());
  const std::vector<int32_t> positions = plan.value()->rope_positions(prompt.value());
  size_t at = 0;
  for (const json::Value& axis : expected->items())
    for (const json::Value& item : axis.items()) {
      int64_t position = -1;
      REQUIRE(item.to_int64(position));
      if (at >= positions.size() || position != positions[at]) FAIL(recorded.name << ": position " << at << " differs");
      ++at;
    }
  REQUIRE(at == positions.size());
}

}  // namespace

TEST_CASE("pictures in the requests of clef-nano") {
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(2);
  decide::Session session(test::load(test::source_path("examples/clef-nano"), memory), *executor, base::detect_isa(),
                          memory);
  size_t count = 0;
  for (test::Recorded& recorded : test::read_decisions(test::data_path("nano/decisions.jsonl"))) {
    if (recorded.request.images.empty()) continue;
    const auto decision =
        session.decide(recorded.request.schema, recorded.request.state, recorded.options, media_of(recorded.request));
    if (!decision.ok()) FAIL(recorded.name << ": " << decision.status().message());
    test::check(recorded, decision.value());
    ++count;
  }
  CHECK(count == 4);
}

TEST_CASE("recorded decisions with pictures and videos") {
  const std::string folder = test::golden_path("media");
  if (folder.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set: the recorded decisions with pictures are not checked");
    return;
  }
  const auto executor = base::make_pool_executor(2);
  size_t answered = 0, refused = 0;
  for (test::Recorded& recorded : test::read_decisions(folder + "/decisions.jsonl")) {
    INFO(recorded.name);
    base::Memory memory{base::Allocator{}};
    const json::Value& root = recorded.document.root();
    std::string path = test::data_path("models/" + std::string(recorded.get("model").text()));
    if (const json::Value* processor = root.find("processor")) path = variant(path, *processor);
    const auto loaded = test::load(path, memory);
    decide::Session session(loaded, *executor, base::detect_isa(), memory);
    set_reading(recorded);
    const decide::Media media = media_of(recorded, folder + "/images/");
    const auto decision = session.decide(recorded.request.schema, recorded.request.state, recorded.options, media);
    if (root.find("error") && recorded.name.find("video-1-frame") == std::string::npos) {
      REQUIRE(!decision.ok());
      CHECK(decision.status().detail().has_at);
      ++refused;
      continue;
    }
    if (!decision.ok()) FAIL(decision.status().message() << " at " << decision.status().detail().at);
    if (root.find("error")) continue;  // one frame: taken twice, as the older release does
    test::check(recorded, decision.value());
    check_positions(recorded, *loaded, memory, media);
    ++answered;
  }
  CHECK(answered == 39);
  CHECK(refused == 2);
}

TEST_CASE("a projector beside a GGUF file") {
  const std::string folder = test::golden_path("gguf");
  if (folder.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set: the projector is not checked");
    return;
  }
  const auto executor = base::make_pool_executor(2);
  size_t count = 0;
  for (test::Recorded& recorded : test::read_decisions(folder + "/decisions.jsonl")) {
    const json::Value* projector = recorded.document.root().find("mmproj");
    if (!projector || projector->kind() != json::Kind::string) continue;
    INFO(recorded.name);
    base::Memory memory{base::Allocator{}};
    const auto loaded =
        test::load(folder + "/" + recorded.file, memory, {}, folder + "/" + std::string(projector->text()));
    decide::Session session(loaded, *executor, base::detect_isa(), memory);
    set_reading(recorded);
    const auto decision = session.decide(recorded.request.schema, recorded.request.state, recorded.options,
                                         media_of(recorded, folder + "/"));
    if (!decision.ok()) FAIL(decision.status().message());
    test::check(recorded, decision.value());
    ++count;
  }
  CHECK(count > 0);
}

TEST_CASE("positions of text around grids") {
  const decide::GridSpan grids[] = {{2, 2, 3}, {9, 1, 1}};
  CHECK(decide::rope_positions(11, grids) == std::vector<int32_t>{0, 1, 2, 2, 2, 2, 2, 2, 5, 6, 7,  //
                                                                  0, 1, 2, 2, 2, 3, 3, 3, 5, 6, 7,  //
                                                                  0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 7});
  CHECK(decide::rope_positions(2, {}) == std::vector<int32_t>{0, 1, 0, 1, 0, 1});
}

namespace {

// Pixels of any size that every run gives alike.
std::vector<std::byte> noise(size_t bytes, uint32_t seed) {
  std::vector<std::byte> out(bytes);
  for (std::byte& byte : out) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(seed >> 24);
  }
  return out;
}

decide::Picture raw(const std::vector<std::byte>& bytes, uint32_t width, uint32_t height) {
  return {{}, {bytes.data(), bytes.size(), width, height, 0, media::PixelFormat::rgb8}};
}

std::vector<float> logits_of(const decide::Decision& decision) {
  std::vector<float> all;
  for (const decide::Answer& answer : decision.answers)
    all.insert(all.end(), answer.logits.begin(), answer.logits.end());
  return all;
}

schema::Schema star_question() {
  auto parsed = schema::parse_schema(R"({"a":{"type":"noul","instructions":"Does the picture show a star?"}})", {});
  REQUIRE(parsed.ok());
  return std::move(parsed).value();
}

struct Nano {
  base::Memory memory{base::Allocator{}};
  std::shared_ptr<const model::Model> model = test::load(test::source_path("examples/clef-nano"), memory);
  schema::Schema questions = star_question();

  base::Result<decide::Decision> decide(const decide::Media& media, const decide::Options& options = {},
                                        unsigned threads = 1) {
    const auto executor = base::make_pool_executor(threads);
    decide::Session session(model, *executor, base::detect_isa(), memory);
    return session.decide(questions, "A drawing.", options, media);
  }
};

}  // namespace

TEST_CASE("pictures give the same bits for all chunks and threads, and raw pixels those of the file") {
  Nano nano;
  const auto wide = noise(3 * 700 * 90, 1), tall = noise(3 * 60 * 400, 2), frame = noise(3 * 96 * 64, 3),
             next = noise(3 * 96 * 64, 4);
  decide::Media media;
  media.images = {raw(wide, 700, 90), raw(tall, 60, 400)};
  media.videos.push_back({{raw(frame, 96, 64), raw(next, 96, 64), raw(frame, 96, 64)}, {}, 2.0, false, {}});
  const auto expected = nano.decide(media);
  REQUIRE(expected.ok());
  for (const int64_t chunk : {64, 128, 512, 100000})
    for (const unsigned threads : {1u, 2u, 5u}) {
      decide::Options options;
      options.chunk = chunk;
      const auto decision = nano.decide(media, options, threads);
      REQUIRE(decision.ok());
      CHECK(logits_of(decision.value()) == logits_of(expected.value()));
    }
  // Pictures count: without the first one the answer is another.
  decide::Media fewer = media;
  fewer.images.erase(fewer.images.begin());
  CHECK(logits_of(nano.decide(fewer).value()) != logits_of(expected.value()));
}

TEST_CASE("a run can be stepped, cancelled and limited with pictures") {
  Nano nano;
  const auto pixels = noise(3 * 500 * 300, 7);
  decide::Media media;
  media.images = {raw(pixels, 500, 300)};
  const auto executor = base::make_serial_executor();
  decide::Session session(nano.model, *executor, base::detect_isa(), nano.memory);
  auto run = session.start(nano.questions, "A drawing.", {}, media);
  REQUIRE(run.ok());
  uint64_t steps = 0;
  for (bool finished = false; !finished; ++steps) REQUIRE(run.value()->step(finished).ok());
  CHECK(run.value()->total() == steps);
  run.value().reset();

  std::atomic<bool> cancel{true};
  decide::Options options;
  options.hooks.cancel = &cancel;
  CHECK(session.decide(nano.questions, "A drawing.", options, media).status().code() == base::Code::cancelled);

  options = {};
  options.max_tokens = 100;
  const auto too_long = session.decide(nano.questions, "A drawing.", options, media);
  REQUIRE(!too_long.ok());
  CHECK(too_long.status().code() == base::Code::too_long);

  options = {};
  options.media.max_image_tokens = 64;
  const auto fewer = session.decide(nano.questions, "A drawing.", options, media);
  REQUIRE(fewer.ok());
  CHECK(fewer.value().ids.size() < session.decide(nano.questions, "A drawing.", {}, media).value().ids.size());

  options = {};
  options.media.max_pixels = 1000;
  const auto too_large = session.decide(nano.questions, "A drawing.", options, media);
  REQUIRE(!too_large.ok());
  CHECK(too_large.status().code() == base::Code::too_many);
  CHECK(too_large.status().detail().at == "/images/0");
}

// Decides on a picture of 4,096 x 4,096 pixels that is scaled to so many tokens.
void check_peak(Nano& nano, const decide::Media& media, uint64_t tokens) {
  const auto executor = base::make_serial_executor();
  decide::Session session(nano.model, *executor, base::detect_isa(), nano.memory);
  decide::Options options;
  options.media.max_image_tokens = tokens;
  const auto decision = session.decide(nano.questions, "", options, media);
  REQUIRE(decision.ok());
  // 4 patches of a token: hidden, keys, values.
  const uint64_t rows = 4 * tokens * 3 * 72 * sizeof(float);
  INFO(session.memory().peak() << " bytes");
  CHECK(session.memory().peak() <= rows + (uint64_t{64} << 20));
}

TEST_CASE("a picture of 16 megapixels takes 64 MiB beside the tower's rows") {
  Nano nano;
  const std::vector<std::byte> pixels = noise(size_t{3} * 4096 * 4096, 5);
  decide::Media media;
  media.images = {raw(pixels, 4096, 4096)};
  check_peak(nano, media, 256);
}

#ifdef CLEF_WITH_MEDIA
TEST_CASE("one that lies on its side as well") {
  Nano nano;
  decide::Media media;
  media.images = {picture_of(test::data_path("media/turned_4096x4096.png"), media)};
  check_peak(nano, media, 256);
}
#endif

// Makes frames of noise, and notes which.
class NoiseFrames : public decide::FrameReader {
 public:
  std::vector<uint64_t> asked;
  uint64_t broken = UINT64_MAX;

  base::Status read(uint64_t index, std::span<std::byte> out) override {
    asked.push_back(index);
    if (index == broken) return base::Status(base::Code::io, "frame lost");
    const std::vector<std::byte> frame = noise(out.size(), static_cast<unsigned>(index) + 1);
    std::copy(frame.begin(), frame.end(), out.begin());
    return {};
  }
};

TEST_CASE("frames on demand are those that were given at once") {
  Nano nano;
  const auto executor = base::make_serial_executor();
  decide::Session session(nano.model, *executor, base::detect_isa(), nano.memory);
  for (const auto& [format, bytes] :
       {std::pair(media::PixelFormat::rgb8, 3), std::pair(media::PixelFormat::bgra8, 4)}) {
    std::vector<std::vector<std::byte>> pixels;
    decide::Media given, later;
    given.videos.resize(1), later.videos.resize(1);
    for (unsigned i = 0; i < 9; ++i) {
      pixels.push_back(noise(static_cast<size_t>(bytes) * 64 * 48, i + 1));
      given.videos[0].frames.push_back({{}, {pixels.back().data(), pixels.back().size(), 64, 48, 0, format}});
    }
    const auto reader = std::make_shared<NoiseFrames>();
    later.videos[0].source = {reader, 9, 64, 48, format};
    given.videos[0].fps = later.videos[0].fps = 3;
    const auto expected = session.decide(nano.questions, "A clip.", {}, given);
    const auto decision = session.decide(nano.questions, "A clip.", {}, later);
    REQUIRE((expected.ok() && decision.ok()));
    CHECK(logits_of(expected.value()) == logits_of(decision.value()));
    CHECK(reader->asked == std::vector<uint64_t>{0, 2, 3, 5, 6, 8});
    // A frame that cannot be read has its place.
    reader->broken = 5;
    const auto refused = session.decide(nano.questions, "A clip.", {}, later);
    REQUIRE(!refused.ok());
    CHECK(refused.status().code() == base::Code::io);
    CHECK(refused.status().detail().at == "/videos/0/frames/5");
    decide::Options small;
    small.media.max_pixels = 3071;
    CHECK(session.decide(nano.questions, "A clip.", small, later).status().code() == base::Code::too_many);
    reader->broken = UINT64_MAX;
    CHECK(session.decide(nano.questions, "A clip.", {}, later).ok());
  }
}

TEST_CASE("a model without a vision part refuses pictures") {
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_serial_executor();
  decide::Session session(test::load(test::data_path("gguf/mini-f32.gguf"), memory), *executor, base::detect_isa(),
                          memory);
  const auto pixels = noise(3 * 64 * 64, 1);
  decide::Media media;
  media.images = {raw(pixels, 64, 64)};
  auto questions = schema::parse_schema(R"({"a":{"type":"noul"}})", {});
  REQUIRE(questions.ok());
  const auto decision = session.decide(questions.value(), "s", {}, media);
  REQUIRE(!decision.ok());
  CHECK(decision.status().code() == base::Code::missing_part);
  CHECK(std::string(decision.status().message()).find("mmproj") != std::string::npos);
  // Without pictures it goes on as before.
  CHECK(session.decide(questions.value(), "s", {}).ok());
}
