// Pictures and videos of a request, before anything of them is decoded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "media/pixels.hpp"

namespace clef::decide {

// Either a file's bytes (PNG, JPEG, WebP) or pixels.
struct Picture {
  std::span<const std::byte> encoded;
  media::PixelView pixels;  // when there are no bytes
};

// Frames that the host makes when they are needed: in rising order within a pass, one at a time.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  // Fills `out` with frame `index`, rows without padding.
  virtual base::Status read(uint64_t index, std::span<std::byte> out) = 0;
};

struct FrameSource {
  std::shared_ptr<FrameReader> reader;  // null: there is none
  uint64_t count = 0;
  uint32_t width = 0, height = 0;
  media::PixelFormat format = media::PixelFormat::rgb8;
};

struct Video {
  std::vector<Picture> frames;
  std::vector<double> times;  // in seconds, one for each frame; empty: by fps
  double fps = 0;             // of the frames given; 0: unknown
  bool sample = true;         // let the model's processor choose frames
  FrameSource source;         // instead of `frames`

  uint64_t count() const noexcept { return source.reader ? source.count : frames.size(); }
};

struct Media {
  std::vector<Picture> images;
  std::vector<Video> videos;
  std::vector<std::shared_ptr<const void>> owners;  // of the bytes behind them

  bool empty() const noexcept { return images.empty() && videos.empty(); }
};

struct MediaOptions {
  bool exif_orientation = true;             // of encoded pictures
  bool drop_alpha = false;                  // instead of laying transparent pictures over white
  uint64_t max_pixels = 16'777'216;         // of one picture as given
  uint64_t max_image_tokens = 0;            // of one picture; larger ones are scaled down. 0: the processor's limit
  uint32_t max_images = 4, max_videos = 4;  // of one request
};

}  // namespace clef::decide
