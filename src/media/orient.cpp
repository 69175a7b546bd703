#include "media/orient.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace clef::media {
namespace {

using Pixel = std::array<uint8_t, kChannels>;

void swap_pixels(uint8_t* a, uint8_t* b) noexcept {
  Pixel kept;
  std::memcpy(kept.data(), a, kChannels);
  std::memcpy(a, b, kChannels);
  std::memcpy(b, kept.data(), kChannels);
}

void mirror_row(uint8_t* row, uint32_t width) noexcept {
  for (uint32_t x = 0; x < width / 2; ++x) swap_pixels(row + kChannels * x, row + kChannels * (width - 1 - x));
}

void flip_rows(Image& image) noexcept {
  for (uint32_t y = 0; y < image.height / 2; ++y)
    std::swap_ranges(image.row(y), image.row(y) + image.row_bytes(), image.row(image.height - 1 - y));
}

// out(y, x) = in(x, y), mirrored as asked for, in tiles that stay in the cache.
void transpose(const Image& in, Image& out, bool mirror_columns, bool mirror_rows) noexcept {
  constexpr uint32_t kTile = 32;
  for (uint32_t y0 = 0; y0 < out.height; y0 += kTile) {
    for (uint32_t x0 = 0; x0 < out.width; x0 += kTile) {
      for (uint32_t y = y0; y < std::min(out.height, y0 + kTile); ++y) {
        const uint32_t column = mirror_rows ? in.width - 1 - y : y;
        uint8_t* to = out.row(y);
        for (uint32_t x = x0; x < std::min(out.width, x0 + kTile); ++x) {
          const uint32_t row = mirror_columns ? in.height - 1 - x : x;
          std::memcpy(to + kChannels * x, in.row(row) + kChannels * column, kChannels);
        }
      }
    }
  }
}

}  // namespace

base::Result<Image> apply_orientation(Image image, int orientation, base::Memory& memory) {
  if (!swaps_sides(orientation)) {
    if (orientation == 2 || orientation == 3)
      for (uint32_t y = 0; y < image.height; ++y) mirror_row(image.row(y), image.width);
    if (orientation == 3 || orientation == 4) flip_rows(image);
    return image;
  }
  CLEF_ASSIGN_OR_RETURN(Image turned, create_image(image.height, image.width, memory));
  const bool mirror_columns = orientation == 6 || orientation == 7;
  const bool mirror_rows = orientation == 7 || orientation == 8;
  transpose(image, turned, mirror_columns, mirror_rows);
  return turned;
}

}  // namespace clef::media
