// Which frames of a video are used, how they pair up, and the times that stand in the prompt. No file is read here: a
// video comes as frames.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "media/size.hpp"

namespace clef::media {

// Where the frames of a video stand in time. `times`, one per frame in seconds, in order, wins over `fps`; with neither
// the rate is taken as 24, as the reference does.
struct VideoTiming {
  double fps = 0;                 // frames per second; 0: unknown
  std::span<const double> times;  // empty: not known
};

// The frames to use, in order, from 0: all of them unless `sample` and the processor's do_sample_frames. Errors: empty
// (total is 0), too_many (more than UINT32_MAX), invalid_argument (times that are not one per frame, negative, not
// finite or not in order; a rate that is not a number above 0).
base::Result<std::vector<uint32_t>> sample_frames(uint64_t total, const VideoTiming& timing, bool sample,
                                                  const Processor& processor);

// One temporal patch: places in the list of sampled frames (not frame numbers).
struct FrameGroup {
  uint32_t first;
  uint32_t last;  // the last one of the group; frames that a short last group lacks repeat it
};
std::vector<FrameGroup> group_frames(uint32_t sampled, const Processor& processor);

// For each temporal patch the text that stands before it: "<0.3 seconds>", the mean of the times of its first and last
// frame. Errors: as sample_frames; `indices` must be from there.
base::Result<std::vector<std::string>> timestamps(std::span<const uint32_t> indices, uint64_t total,
                                                  const VideoTiming& timing, const Processor& processor);

}  // namespace clef::media
