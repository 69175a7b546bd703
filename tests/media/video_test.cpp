// Sampling of frames and the times in the prompt.
#include <limits>

#include "media/support.hpp"
#include "media/video.hpp"

namespace clef::test {
namespace {

using base::Code;
using media::Processor;
using media::VideoTiming;

std::string joined(const std::vector<uint32_t>& numbers) {
  std::string out;
  for (const uint32_t number : numbers) {
    if (!out.empty()) out += ',';
    out += std::to_string(number);
  }
  return out;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& part : texts) out += part;
  return out;
}

TEST_CASE("recorded sampling of frames") {
  const json::Document recorded = read_json(data_path("media/video.json"));
  const std::span<const json::Value> rows = recorded.root().find("sampling")->items();
  REQUIRE(rows.size() == 276);
  size_t digests = 0;
  for (const json::Value& row : rows) {
    const auto total = static_cast<uint64_t>(integer(row, "total"));
    VideoTiming timing;
    if (!row.find("fps")->is_null()) REQUIRE(row.find("fps")->to_double(timing.fps));
    INFO(total << " frames, " << timing.fps << " per second");
    const std::vector<uint32_t> indices = accepted(media::sample_frames(total, timing, true, Processor()));
    const std::vector<std::string> times = accepted(media::timestamps(indices, total, timing, Processor()));
    CHECK(static_cast<int64_t>(indices.size()) == integer(row, "sampled"));
    CHECK(static_cast<int64_t>(times.size()) == integer(row, "blocks"));
    if (row.find("indices_sha256")) {
      CHECK(sha256(joined(indices)) == text(row, "indices_sha256"));
      CHECK(sha256(joined(times)) == text(row, "timestamps_sha256"));
      ++digests;
      continue;
    }
    const std::vector<int64_t> expected = integers(*row.find("indices"));
    CHECK(std::vector<int64_t>(indices.begin(), indices.end()) == expected);
    std::vector<std::string> texts;
    for (const json::Value& item : row.find("timestamps")->items()) texts.emplace_back(item.text());
    CHECK(times == texts);
  }
  CHECK(digests == 16);
}

TEST_CASE("all frames where none are to be left out") {
  VideoTiming timing;
  timing.fps = 29.97;
  const std::vector<uint32_t> all{0, 1, 2, 3, 4};
  CHECK(accepted(media::sample_frames(5, timing, false, Processor())) == all);
  Processor processor;
  processor.do_sample_frames = false;
  CHECK(accepted(media::sample_frames(5, timing, true, processor)) == all);
}

TEST_CASE("a processor's own sampling") {
  VideoTiming timing;
  timing.fps = 2;
  Processor slow;
  slow.fps = 1;
  slow.min_frames = 2;
  CHECK(accepted(media::sample_frames(6, timing, true, slow)) == std::vector<uint32_t>{0, 2, 5});
  Processor few;
  few.max_frames = 5;
  CHECK(accepted(media::sample_frames(6, timing, true, few)) == std::vector<uint32_t>{0, 1, 2, 4, 5});
}

TEST_CASE("times given for each frame") {
  // Equal steps of half a second give what two frames per second give.
  std::vector<double> times(50);
  for (size_t i = 0; i < times.size(); ++i) times[i] = 0.5 * static_cast<double>(i);
  VideoTiming given, rate;
  given.times = times;
  rate.fps = 2;
  for (const uint64_t total : {1, 2, 3, 49, 50}) {
    given.times = std::span(times).first(static_cast<size_t>(total));
    const auto indices = accepted(media::sample_frames(total, given, true, Processor()));
    CHECK(indices == accepted(media::sample_frames(total, rate, true, Processor())));
    CHECK(accepted(media::timestamps(indices, total, given, Processor())) ==
          accepted(media::timestamps(indices, total, rate, Processor())));
  }
  const std::vector<double> uneven{0, 10, 10.5, 100, 1e9};
  given.times = uneven;
  const auto all = accepted(media::sample_frames(5, given, false, Processor()));
  CHECK(accepted(media::timestamps(all, 5, given, Processor())) ==
        std::vector<std::string>{"<5.0 seconds>", "<55.2 seconds>", "<1000000000.0 seconds>"});
  const std::vector<double> at_once(10, 3.0);
  given.times = at_once;
  CHECK(accepted(media::sample_frames(10, given, true, Processor())).size() == 4);
}

TEST_CASE("halves of a tenth are rounded as C does") {
  const std::vector<double> times{0.25, 0.25, 0.75, 0.75, 0.05, 0.05};
  for (size_t i = 0; i < 3; ++i) {
    VideoTiming timing;
    timing.times = std::span(times).subspan(2 * i, 2);
    const std::vector<uint32_t> indices{0, 1};
    const char* expected[] = {"<0.2 seconds>", "<0.8 seconds>", "<0.1 seconds>"};  // 0.05 lies above its half
    CHECK(accepted(media::timestamps(indices, 2, timing, Processor())) == std::vector<std::string>{expected[i]});
  }
}

TEST_CASE("frames in groups") {
  const auto groups = media::group_frames(5, Processor());
  REQUIRE(groups.size() == 3);
  CHECK((groups[1].first == 2 && groups[1].last == 3));
  CHECK((groups[2].first == 4 && groups[2].last == 4));
  CHECK(media::group_frames(0, Processor()).empty());
}

TEST_CASE("videos that are refused") {
  const auto sample = [](uint64_t total, double fps, std::vector<double> times = {}) {
    VideoTiming timing;
    timing.fps = fps;
    timing.times = times;
    return media::sample_frames(total, timing, true, Processor());
  };
  refused(sample(0, 2), Code::empty);
  refused(sample(uint64_t{1} << 32, 2), Code::too_many);
  for (const double fps :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e-300})
    refused(sample(5, fps), Code::invalid_argument);
  CHECK(contains(refused(sample(3, 0, {0, 1}), Code::invalid_argument), "one per frame"));
  refused(sample(2, 0, {1, 0.5}), Code::invalid_argument);
  refused(sample(2, 0, {-1, 0.5}), Code::invalid_argument);
  refused(sample(2, 0, {0, std::numeric_limits<double>::quiet_NaN()}), Code::invalid_argument);
  refused(sample(2, 0, {0, std::numeric_limits<double>::infinity()}), Code::invalid_argument);
  const std::vector<uint32_t> beyond{0, 9};
  refused(media::timestamps(beyond, 5, {}, Processor()), Code::invalid_argument);
}

}  // namespace
}  // namespace clef::test
