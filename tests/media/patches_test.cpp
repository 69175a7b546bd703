// The rows that the vision tower reads.
#include "media/patch_stream.hpp"
#include "media/support.hpp"
#include "media/video.hpp"

namespace clef::test {
namespace {

using base::Code;
using media::Image;
using media::Normalisation;
using media::Processor;

std::vector<float> patches_of(const std::vector<const Image*>& frames, const Processor& processor) {
  const Image& image = *frames[0];
  const uint64_t count = uint64_t{image.width / processor.patch_size} * (image.height / processor.patch_size);
  std::vector<float> out(static_cast<size_t>(count * media::patch_columns(processor)));
  const base::Status status = media::write_patches(frames, processor, Normalisation(processor), 0, count, out);
  INFO(status.message());
  REQUIRE(status.ok());
  return out;
}

TEST_CASE("values of a known picture") {
  Image image = noise(256, 256);
  for (uint32_t y = 0; y < 256; ++y)
    for (uint32_t x = 0; x < 256; ++x) {
      image.row(y)[3 * x] = static_cast<uint8_t>(x);
      image.row(y)[3 * x + 1] = static_cast<uint8_t>(y);
      image.row(y)[3 * x + 2] = static_cast<uint8_t>(x + y);
    }
  const std::vector<float> values = patches_of({&image}, Processor());
  REQUIRE(values.size() == 256 * 1536);
  const auto at = [&](size_t patch, size_t offset) { return Approx(values[patch * 1536 + offset]).margin(1e-6); };
  CHECK(at(0, 0) == -1);
  CHECK(at(0, 15) == -0.882353);
  CHECK(at(0, 512) == -1);
  CHECK(at(0, 1039) == -0.882353);
  CHECK(at(1, 0) == -0.874510);
  CHECK(at(4, 0) == -0.749020);
  CHECK(at(16, 0) == 0.003922);
}

TEST_CASE("any range of rows, any number of frames") {
  const Processor processor;
  const Image first = noise(96, 64), second = accepted(resized(noise(50, 50), 96, 64));
  const Normalisation normalisation(processor);
  const std::vector<float> pair = patches_of({&first, &second}, processor), alone = patches_of({&first}, processor);
  CHECK(alone == patches_of({&first, &first}, processor));
  CHECK(pair != alone);
  for (const uint64_t begin : {0, 1, 5, 23, 24}) {
    for (uint64_t count = 0; begin + count <= 24; ++count) {
      std::vector<float> out(static_cast<size_t>(count * 1536));
      const Image* frames[] = {&first, &second};
      REQUIRE(media::write_patches(frames, processor, normalisation, begin, count, out).ok());
      CHECK(std::equal(out.begin(), out.end(), pair.begin() + static_cast<ptrdiff_t>(begin * 1536)));
    }
  }
}

TEST_CASE("a stream of patches gives those of the whole picture") {
  const Processor processor;
  const Normalisation normalisation(processor);
  const auto frames = [&](uint32_t width, uint32_t height) {
    std::vector<media::ScaledRows> rows;
    for (const uint32_t side : {50, 120})
      rows.push_back(accepted(media::ScaledRows::create(noise(side, 70), width, height, test_memory())));
    return rows;
  };
  const Image first = accepted(resized(noise(50, 70), 96, 64)), second = accepted(resized(noise(120, 70), 96, 64));
  const std::vector<float> whole = patches_of({&first, &second}, processor);
  for (const uint64_t step : {1, 5, 12, 13, 24}) {
    INFO(step);
    auto stream = accepted(media::PatchStream::create(frames(96, 64), processor, normalisation, test_memory()));
    REQUIRE(stream.patches() == 24);
    std::vector<float> out(whole.size());
    for (uint64_t at = 0; at < 24; at += step)
      REQUIRE(stream.read(std::min(step, 24 - at), std::span(out).subspan(static_cast<size_t>(at * 1536))).ok());
    CHECK(stream.position() == 24);
    CHECK(out == whole);
    CHECK(stream.read(1, out).code() == Code::invalid_argument);
  }
  auto stream = accepted(media::PatchStream::create(frames(96, 64), processor, normalisation, test_memory()));
  std::vector<float> out(2 * 1536 - 1);
  CHECK(stream.read(2, out).code() == Code::invalid_argument);
  CHECK(stream.read(25, out).code() == Code::invalid_argument);
  refused(media::PatchStream::create(frames(96, 48), processor, normalisation, test_memory()), Code::invalid_argument);
  refused(media::PatchStream::create({}, processor, normalisation, test_memory()), Code::invalid_argument);
  auto unequal = frames(96, 64);
  unequal.push_back(std::move(frames(64, 64)[0]));
  refused(media::PatchStream::create(std::move(unequal), processor, normalisation, test_memory()),
          Code::invalid_argument);
}

TEST_CASE("other patches") {
  Processor processor;
  processor.patch_size = 2;
  processor.merge_size = 3;
  processor.temporal_patch_size = 1;
  const Image image = noise(12, 6);
  const std::vector<float> values = patches_of({&image}, processor);
  // Patch 10 is the second of the second block: columns 8 and 9, rows 0 and 1.
  for (size_t channel = 0; channel < 3; ++channel)
    for (uint32_t y = 0; y < 2; ++y)
      for (uint32_t x = 0; x < 2; ++x) {
        const float byte = image.row(y)[3 * (8 + x) + channel];
        CHECK(values[10 * 12 + 4 * channel + 2 * y + x] == (byte - 127.5f) / 127.5f);
      }
}

TEST_CASE("other means and deviations") {
  Processor processor;
  processor.mean[0] = 0.48145466;
  processor.std[0] = 0.26862954;
  const Normalisation normalisation(processor);
  const float mean = 0.48145466f * 255.0f, deviation = 0.26862954f * 255.0f;
  for (int byte = 0; byte < 256; ++byte) {
    CHECK(normalisation.values[0][byte] == (static_cast<float>(byte) - mean) / deviation);
    CHECK(normalisation.values[1][byte] == (static_cast<float>(byte) - 127.5f) / 127.5f);
  }
}

TEST_CASE("patches that cannot be") {
  const Processor processor;
  const Normalisation normalisation(processor);
  const Image image = noise(64, 64), other = noise(64, 32), odd = noise(64, 48);
  std::vector<float> out(16 * 1536);
  const auto code = [&](std::vector<const Image*> frames, uint64_t first, uint64_t count, size_t room) {
    return media::write_patches(frames, processor, normalisation, first, count, std::span(out).first(room)).code();
  };
  CHECK(code({&image}, 0, 16, out.size()) == Code::ok);
  CHECK(code({}, 0, 0, out.size()) == Code::invalid_argument);
  CHECK(code({&image, &image, &image}, 0, 1, out.size()) == Code::invalid_argument);
  CHECK(code({&image, &other}, 0, 1, out.size()) == Code::invalid_argument);
  CHECK(code({&odd}, 0, 1, out.size()) == Code::invalid_argument);
  CHECK(code({&image}, 0, 17, out.size()) == Code::invalid_argument);
  CHECK(code({&image}, 17, 0, out.size()) == Code::invalid_argument);
  CHECK(code({&image}, 1, UINT64_MAX, out.size()) == Code::invalid_argument);
  CHECK(code({&image}, 0, 16, out.size() - 1) == Code::invalid_argument);
}

#ifdef CLEF_WITH_MEDIA
// Frames of a request, scaled; frame numbers after sampling.
std::vector<Image> scaled(const std::vector<std::string>& names, bool upright, bool drop_alpha,
                          const media::Size& size) {
  std::vector<Image> out;
  media::DecodeOptions options;
  options.exif_orientation = upright;
  options.drop_alpha = drop_alpha;
  for (const std::string& name : names)
    out.push_back(accepted(resized(accepted(media::decode(bytes_of(picture_file(name)), options, test_memory())),
                                   size.width, size.height)));
  return out;
}

TEST_CASE("recorded input of the vision tower") {
  const std::string folder = golden_path("media");
  if (folder.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set; the tower's input is not compared");
    return;
  }
  const TensorFile file(folder + "/tower.safetensors");
  std::vector<float> normalised(256);
  const std::string_view table = file.data(file.find("normalised"));
  REQUIRE(table.size() == 1024);
  std::memcpy(normalised.data(), table.data(), 1024);
  struct Input {
    const char* name;
    std::vector<std::string> files;
    uint32_t rows, columns;
  };
  const Input inputs[] = {
      {"square", {"rgb_64x48.png"}, 4, 4},
      {"wide", {"rgb_97x53.png"}, 4, 6},
      {"strip", {"rgb_830x30.png"}, 2, 52},
      {"video", {"frame_a0.png", "frame_a1.png", "frame_a2.png", "frame_a3.png", "frame_a4.png"}, 4, 4}};
  for (const Input& input : inputs) {
    INFO(input.name);
    media::Size size;
    size.width = 16 * input.columns, size.height = 16 * input.rows;
    const std::vector<Image> frames = scaled(input.files, false, false, size);
    std::vector<float> values;
    for (const media::FrameGroup& group : media::group_frames(static_cast<uint32_t>(frames.size()), Processor())) {
      const std::vector<float> part = patches_of({&frames[group.first], &frames[group.last]}, Processor());
      values.insert(values.end(), part.begin(), part.end());
    }
    const std::string_view bytes = file.data(file.find(std::string(input.name) + ".pixels"));
    REQUIRE(bytes.size() == values.size());
    size_t different = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      different += values[i] != normalised[static_cast<unsigned char>(bytes[i])] ? 1 : 0;
    CHECK(different == 0);
  }
}

// Reads what a decision says about its processor.
Processor processor_of(const json::Value& decision) {
  Processor processor;
  const json::Value* changes = decision.find("processor");
  if (!changes) return processor;
  const auto limits = [](const json::Value* part, media::AreaLimits& out) {
    if (!part || !part->find("size")) return;
    out = {static_cast<uint64_t>(integer(*part->find("size"), "shortest_edge")),
           static_cast<uint64_t>(integer(*part->find("size"), "longest_edge"))};
  };
  limits(changes->find("image_processor"), processor.image);
  const json::Value* video = changes->find("video_processor");
  limits(video, processor.video);
  if (!video) return processor;
  if (video->find("fps")) REQUIRE(video->find("fps")->to_double(processor.fps));
  if (video->find("min_frames")) processor.min_frames = static_cast<uint64_t>(integer(*video, "min_frames"));
  if (video->find("max_frames")) processor.max_frames = static_cast<uint64_t>(integer(*video, "max_frames"));
  return processor;
}

// Of the frames, each temporal patch whole: the last frame is repeated, a picture stands twice.
std::string frames_sha256(const std::vector<Image>& frames) {
  std::string bytes;
  for (const media::FrameGroup& group : media::group_frames(static_cast<uint32_t>(frames.size()), Processor()))
    bytes.append(pixels_of(frames[group.first])).append(pixels_of(frames[group.last]));
  return sha256(bytes);
}

size_t check_images(const json::Value& decision, bool drop_alpha) {
  const std::span<const json::Value> names = decision.find("images")->items();
  const Processor processor = processor_of(decision);
  const bool upright = decision.find("exif") && decision.find("exif")->text() == "upright";
  for (size_t i = 0; i < names.size(); ++i) {
    media::DecodeOptions options;
    options.exif_orientation = upright;
    const std::string name(names[i].text());
    const media::ImageInfo info = accepted(media::probe(bytes_of(picture_file(name)), options));
    const media::Size size = accepted(media::image_size(info.width, info.height, processor));
    CHECK(grid_of(size) == integers(decision.find("image_grid_thw")->items()[i]));
    CHECK(frames_sha256(scaled({name}, upright, drop_alpha, size)) ==
          decision.find("pixel_values_uint8_sha256")->items()[i].text());
  }
  return names.size();
}

size_t check_videos(const json::Value& decision) {
  const std::span<const json::Value> videos = decision.find("videos")->items();
  const Processor processor = processor_of(decision);
  const bool sample = !decision.find("do_sample_frames") || decision.find("do_sample_frames")->boolean();
  for (size_t i = 0; i < videos.size(); ++i) {
    const std::span<const json::Value> names = videos[i].find("frames")->items();
    media::VideoTiming timing;
    if (videos[i].find("fps")->is_number()) REQUIRE(videos[i].find("fps")->to_double(timing.fps));
    std::vector<std::string> used;
    for (const uint32_t index : accepted(media::sample_frames(names.size(), timing, sample, processor)))
      used.emplace_back(names[index].text());
    const media::ImageInfo info = accepted(media::probe(bytes_of(picture_file(used[0]))));
    const media::Size size = accepted(media::video_size(used.size(), info.width, info.height, processor));
    CHECK(grid_of(size) == integers(decision.find("video_grid_thw")->items()[i]));
    CHECK(frames_sha256(scaled(used, false, false, size)) ==
          decision.find("pixel_values_videos_uint8_sha256")->items()[i].text());
  }
  return videos.size();
}

TEST_CASE("recorded pixels of decisions") {
  const std::string folder = golden_path("media");
  if (folder.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set; decisions with media are not compared");
    return;
  }
  size_t pictures = 0, videos = 0;
  for (const std::string& line : read_lines(folder + "/decisions.jsonl")) {
    const json::Document document = accepted(json::parse(line));
    const json::Value& decision = document.root();
    INFO(text(decision, "name"));
    if (decision.find("error")) continue;
    const bool older = text(decision, "transformers") == "5.10.2";
    pictures += check_images(decision, older);
    videos += check_videos(decision);
  }
  CHECK(pictures == 33);
  CHECK(videos == 22);
}
#endif

}  // namespace
}  // namespace clef::test
