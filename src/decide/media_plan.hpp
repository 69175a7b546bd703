// What the pictures and videos of a request come to: sizes and tokens from their headers, then, frame by frame, the rows
// that the vision tower reads. Only the picture in work is decoded.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/hooks.hpp"
#include "decide/media.hpp"
#include "media/patch_stream.hpp"
#include "media/size.hpp"
#include "model/executor.hpp"
#include "model/vision_config.hpp"
#include "model/vision_pass.hpp"
#include "schema/prompt.hpp"

namespace clef::decide {

// Nanoseconds spent on pictures before the tower.
struct MediaTimes {
  uint64_t decode = 0;
  uint64_t scale = 0;  // turning, scaling and cutting into patches
};

// How one picture is read.
struct PictureSize {
  uint32_t width = 0, height = 0;  // as shown
  media::Size target;
};
// Errors: those of the picture's header, out_of_range (sides too unequal), too_many (max_pixels).
base::Result<PictureSize> picture_size(const Picture& picture, const MediaOptions& options,
                                       const model::Processor& processor);

class MediaPlan {
 public:
  // Errors carry /images/I or /videos/V/frames/F as their place. The memory outlives the plan.
  static base::Result<std::unique_ptr<MediaPlan>> create(Media media, const MediaOptions& options,
                                                         const model::Processor& processor, base::Memory& memory,
                                                         base::Watch& watch);

  // What stands for them in the prompt.
  std::span<const schema::MediaItem> items() const noexcept { return items_; }
  // Where they stand in a prompt that was made with items().
  std::vector<model::TokenRange> ranges(const schema::Prompt& prompt) const;
  std::vector<int32_t> rope_positions(const schema::Prompt& prompt) const;
  // The frames for the tower, which write the rows of their placeholders into `hidden`, the rows of the prompt. They use
  // this plan.
  std::vector<model::VisionFrame> frames(const schema::Prompt& prompt, device::Rows hidden);
  // So far.
  const MediaTimes& times() const noexcept { return times_; }

 private:
  struct Frame {
    const Picture* picture = nullptr;  // else frame `index` of the source
    const FrameSource* source = nullptr;
    uint64_t index = 0;
    std::string place;
  };
  // A picture, or the frames of a video that share their patches.
  struct Block {
    std::vector<Frame> frames;
    bool video = false;
    media::Size size;
  };
  MediaPlan(Media media, const MediaOptions& options, const model::Processor& processor, base::Memory& memory,
            base::Watch& watch);
  base::Status add_image(size_t index);
  base::Status add_video(size_t index);
  base::Result<media::Image> decode(const Frame& frame);
  base::Status open(size_t block);
  base::Status patches(size_t block, int64_t first, int64_t count, float* out);

  Media media_;
  const MediaOptions options_;
  const model::Processor model_processor_;
  const media::Processor image_, video_;
  const media::Normalisation image_values_, video_values_;
  base::Memory& memory_;
  base::Watch& watch_;
  std::vector<schema::MediaItem> items_;
  std::vector<Block> blocks_;
  size_t open_ = SIZE_MAX;  // the block of `stream_`
  std::optional<media::PatchStream> stream_;
  MediaTimes times_;
};

}  // namespace clef::decide
