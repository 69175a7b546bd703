#include "media/video.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "media/round.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

namespace {

constexpr double kUnknownRate = 24;
constexpr double kLatest = 1e9;  // seconds; keeps texts short

Status check(uint64_t total, const VideoTiming& timing) {
  if (total == 0) return Status(Code::empty, "the video has no frames");
  if (total > UINT32_MAX) return Status(Code::too_many, "the video has " + std::to_string(total) + " frames");
  if (!timing.times.empty()) {
    if (timing.times.size() != total) {
      return Status(Code::invalid_argument, "the video has " + std::to_string(total) + " frames and " +
                                                std::to_string(timing.times.size()) + " times; give one per frame");
    }
    double before = 0;
    for (const double time : timing.times) {
      if (!(time >= before && time <= kLatest))
        return Status(Code::invalid_argument, "the times of a video's frames must be seconds from 0 on, in order");
      before = time;
    }
    return {};
  }
  if (timing.fps == 0) return {};
  // So slow a rate that the last time would be beyond reason is a mistake, too.
  if (!(timing.fps > 0 && std::isfinite(timing.fps) && static_cast<double>(total) / timing.fps <= kLatest))
    return Status(Code::invalid_argument, "the frames per second of a video must be a number above 0 (0: unknown)");
  return {};
}

// Frames per second of the source; 0 when its frames have all the same time.
double rate_of(uint64_t total, const VideoTiming& timing) noexcept {
  if (timing.times.empty()) return timing.fps == 0 ? kUnknownRate : timing.fps;
  const double seconds = timing.times.back() - timing.times.front();
  return seconds > 0 ? static_cast<double>(total - 1) / seconds : 0;
}

std::string seconds_text(double seconds) {
  char digits[32];  // kLatest has 10 before the point
  const auto end = std::to_chars(digits, digits + sizeof(digits), seconds, std::chars_format::fixed, 1).ptr;
  return "<" + std::string(digits, end) + " seconds>";
}

}  // namespace

Result<std::vector<uint32_t>> sample_frames(uint64_t total, const VideoTiming& timing, bool sample,
                                            const Processor& processor) {
  CLEF_RETURN_IF_ERROR(check(total, timing));
  uint64_t count = total;
  if (sample && processor.do_sample_frames) {
    const double rate = rate_of(total, timing);
    // In the reference's order of operations; a video without duration has as many frames as are allowed.
    const double wanted = rate > 0 ? std::trunc(static_cast<double>(total) / rate * processor.fps) : 0;
    const double least = static_cast<double>(processor.min_frames), most = static_cast<double>(processor.max_frames);
    count = std::min(static_cast<uint64_t>(std::min(std::max(wanted, least), most)), total);
  }
  std::vector<uint32_t> indices(static_cast<size_t>(count));
  const double last = static_cast<double>(total - 1);
  const double step = count > 1 ? last / static_cast<double>(count - 1) : 0;
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = static_cast<uint32_t>(round_half_even(static_cast<double>(i) * step));
  if (count > 1) indices.back() = static_cast<uint32_t>(total - 1);
  return indices;
}

std::vector<FrameGroup> group_frames(uint32_t sampled, const Processor& processor) {
  std::vector<FrameGroup> groups;
  const uint32_t size = processor.temporal_patch_size;
  for (uint64_t first = 0; first < sampled; first += size)
    groups.push_back(
        {static_cast<uint32_t>(first), static_cast<uint32_t>(std::min<uint64_t>(first + size, sampled) - 1)});
  return groups;
}

Result<std::vector<std::string>> timestamps(std::span<const uint32_t> indices, uint64_t total,
                                            const VideoTiming& timing, const Processor& processor) {
  CLEF_RETURN_IF_ERROR(check(total, timing));
  const double rate = timing.fps == 0 ? kUnknownRate : timing.fps;
  const auto time = [&](uint32_t place) {
    const uint32_t index = indices[place];
    return timing.times.empty() ? index / rate : timing.times[index];
  };
  std::vector<std::string> texts;
  for (const FrameGroup& group : group_frames(static_cast<uint32_t>(indices.size()), processor)) {
    if (indices[group.first] >= total || indices[group.last] >= total)
      return Status(Code::invalid_argument, "a sampled frame is beyond the end of the video");
    texts.push_back(seconds_text((time(group.first) + time(group.last)) / 2));
  }
  return texts;
}

}  // namespace clef::media
