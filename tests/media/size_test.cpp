// Target sizes of pictures and videos, and the processor's own rules.
#include <cmath>
#include <limits>

#include "media/support.hpp"

namespace clef::test {
namespace {

using base::Code;
using media::Processor;

void check_size(const media::Size& size, const json::Value& expected) {
  CHECK(size.width == u32(expected, "target_width"));
  CHECK(size.height == u32(expected, "target_height"));
  CHECK(grid_of(size) == integers(*expected.find("grid")));
  CHECK(size.patches() == 4 * size.tokens);
}

TEST_CASE("recorded sizes of pictures") {
  const json::Document recorded = read_json(data_path("media/sizes.json"));
  REQUIRE(recorded.root().items().size() == 249);
  for (const json::Value& row : recorded.root().items()) {
    Processor processor;
    processor.image = {static_cast<uint64_t>(integer(row, "shortest_edge")),
                       static_cast<uint64_t>(integer(row, "longest_edge"))};
    CHECK(media::validate(processor).ok());
    const uint32_t width = u32(row, "width"), height = u32(row, "height");
    INFO(width << " x " << height << ", " << processor.image.shortest_edge << " to " << processor.image.longest_edge);
    const auto size = media::image_size(width, height, processor);
    if (row.find("error")) {
      CHECK(contains(refused(size, Code::out_of_range), "at most 200 times"));
      continue;
    }
    REQUIRE(size.ok());
    check_size(size.value(), row);
    CHECK(static_cast<int64_t>(size.value().tokens) == integer(row, "tokens"));
  }
}

TEST_CASE("recorded sizes of videos") {
  const json::Document recorded = read_json(data_path("media/video.json"));
  const std::span<const json::Value> rows = recorded.root().find("sizes")->items();
  REQUIRE(rows.size() == 273);
  const auto pair_of = [&](uint32_t width, uint32_t height) -> const json::Value& {
    for (const json::Value& row : rows)
      if (integer(row, "frames") == 2 && u32(row, "width") == width && u32(row, "height") == height) return row;
    throw std::runtime_error("no row with two frames");
  };
  for (const json::Value& row : rows) {
    const auto frames = static_cast<uint64_t>(integer(row, "frames"));
    const uint32_t width = u32(row, "width"), height = u32(row, "height");
    INFO(frames << " frames, " << width << " x " << height);
    const auto size = media::video_size(frames, width, height, Processor());
    const json::Value* expected = &row;
    // One frame is taken twice, as the older release did; the newer one refuses it.
    if (frames == 1) expected = row.find("older");
    if (frames == 1 && expected->find("error") && contains(text(*expected, "error"), "factor")) {
      expected = &pair_of(width, height);
    }
    if (expected->find("error")) {
      refused(size, Code::out_of_range);
      continue;
    }
    REQUIRE(size.ok());
    check_size(size.value(), *expected);
  }
  refused(media::video_size(0, 64, 64, Processor()), Code::empty);
}

TEST_CASE("sizes of extreme pictures") {
  const Processor processor;
  const uint32_t most = std::numeric_limits<uint32_t>::max();
  refused(media::image_size(0, 10, processor), Code::out_of_range);
  refused(media::image_size(10, 0, processor), Code::out_of_range);
  refused(media::video_size(3, 0, 0, processor), Code::out_of_range);
  const media::Size largest = accepted(media::image_size(most, most, processor));
  CHECK(largest.width == 4096);
  CHECK(largest.height == 4096);
  CHECK(largest.tokens == 16384);
  CHECK(accepted(media::video_size(most, most, most, processor)).width == 32);
}

TEST_CASE("a processor's values are checked") {
  CHECK(media::validate(Processor()).ok());
  const auto refuse = [](auto change, std::string_view key) {
    Processor processor;
    change(processor);
    const base::Status status = media::validate(processor);
    CHECK(status.code() == Code::out_of_range);
    CHECK(contains(status.message(), key));
  };
  refuse([](Processor& p) { p.patch_size = 0; }, "patch_size");
  refuse([](Processor& p) { p.patch_size = 1u << 31; }, "patch_size");
  refuse([](Processor& p) { p.merge_size = 0; }, "merge_size");
  refuse([](Processor& p) { p.temporal_patch_size = 0; }, "temporal_patch_size");
  refuse([](Processor& p) { p.image.shortest_edge = 0; }, "image_processor");
  refuse([](Processor& p) { p.image.longest_edge = 65'535; }, "image_processor");
  refuse([](Processor& p) { p.video.longest_edge = UINT64_MAX; }, "video_processor");
  refuse([](Processor& p) { p.mean[1] = std::nan(""); }, "image_mean");
  refuse([](Processor& p) { p.std[2] = 0; }, "image_std");
  refuse([](Processor& p) { p.rescale_factor = -1; }, "rescale_factor");
  refuse([](Processor& p) { p.fps = 0; }, "fps");
  refuse([](Processor& p) { p.min_frames = 0; }, "min_frames");
  refuse([](Processor& p) { p.min_frames = 769; }, "min_frames");
}

TEST_CASE("a processor with other patches") {
  Processor processor;
  processor.patch_size = 14;
  processor.merge_size = 1;
  processor.image = {1, 1 << 20};
  const media::Size size = accepted(media::image_size(100, 50, processor));
  CHECK(size.width == 98);
  CHECK(size.height == 56);
  CHECK(size.columns == 7);
  CHECK(size.rows == 4);
  CHECK(size.tokens == 28);
}

}  // namespace
}  // namespace clef::test
