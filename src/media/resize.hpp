// Scaling: bicubic with antialias in fixed point, bit for bit as the reference's.
#pragma once
#include <cstdint>

#include "media/filter.hpp"
#include "media/image.hpp"

namespace clef::media {

// The rows of a picture turned upright and scaled, from the top down. The scaled picture never lies in memory as a whole:
// beside the decoded one there are as many rows as one output row reads.
class ScaledRows {
 public:
  // `width` and `height` of the result. Errors: invalid_argument (a side is 0), memory_limit, out_of_memory.
  static base::Result<ScaledRows> create(Image image, uint32_t width, uint32_t height, base::Memory& memory);

  uint32_t width() const noexcept { return horizontal_.out(); }
  uint32_t height() const noexcept { return vertical_.out(); }
  // Writes the next `count` rows, RGB without padding; no more than there are left.
  void read(uint32_t count, uint8_t* out) noexcept;

 private:
  ScaledRows() = default;
  base::Status reserve(base::Memory& memory);
  size_t row_bytes() const noexcept { return static_cast<size_t>(kChannels * width()); }
  const uint8_t* input_row(uint32_t y) noexcept;
  void scale_row(uint32_t y, uint8_t* out) noexcept;
  void fill_band(uint32_t first) noexcept;

  Image image_;
  Axis horizontal_, vertical_;
  bool keeps_rows_ = false;  // input rows are not read where they lie
  uint32_t row_ = 0;         // the next row to write
  uint32_t next_ = 0;        // the next input row to keep
  uint32_t band_first_ = UINT32_MAX;
  base::Buffer planes_;  // an input row, as horizontal_row wants it
  base::Buffer ring_;    // input rows, scaled in width
  base::Buffer rows_;    // their places
  base::Buffer band_;    // input rows of a transposed picture, from band_first_ on
};

}  // namespace clef::media
