// How pictures and videos are prepared (processor_config.json) and the sizes that follow from it.
#pragma once
#include <cstdint>

#include "base/status.hpp"

namespace clef::media {

// Least and most of a size after scaling. The names are the file's; they are areas, not edges: pixels of a picture,
// pixels * frames of a video.
struct AreaLimits {
  uint64_t shortest_edge;
  uint64_t longest_edge;
};

// Rules of the model's processor; the defaults are those of the release.
struct Processor {
  AreaLimits image{65'536, 16'777'216};
  AreaLimits video{4'096, 25'165'824};
  uint32_t patch_size = 16;          // side of a patch in pixels
  uint32_t temporal_patch_size = 2;  // frames of a patch
  uint32_t merge_size = 2;           // side, in patches, of the block that becomes one token
  double mean[3] = {0.5, 0.5, 0.5};  // of red, green and blue, on the scale of 0 to 1
  double std[3] = {0.5, 0.5, 0.5};
  double rescale_factor = 1.0 / 255;
  bool do_sample_frames = true;  // false: all frames of a video are used
  double fps = 2;                // frames taken per second
  uint64_t min_frames = 4;
  uint64_t max_frames = 768;

  uint32_t factor() const noexcept { return patch_size * merge_size; }  // sides are multiples of it
};

// Errors: out_of_range (a value with which nothing could be computed; the message names its key).
base::Status validate(const Processor& processor);

struct Size {
  uint32_t width = 0;  // pixels after scaling
  uint32_t height = 0;
  uint64_t frames = 0;   // temporal patches, 1 for a picture ("t" of the grid)
  uint32_t rows = 0;     // patches
  uint32_t columns = 0;  // patches

  uint64_t patches() const noexcept { return frames * rows * columns; }
  uint64_t tokens = 0;
};

// The size to which a picture is scaled. Errors: out_of_range (one side more than 200 times the other, or empty).
base::Result<Size> image_size(uint32_t width, uint32_t height, const Processor& processor);

// The same for a video of `frames` sampled frames. One frame is taken twice. Errors: out_of_range, empty (no frames).
base::Result<Size> video_size(uint64_t frames, uint32_t width, uint32_t height, const Processor& processor);

}  // namespace clef::media
