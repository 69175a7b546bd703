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

}  // namespace

void apply_orientation(Image& image, int orientation) noexcept {
  const bool mirror = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool flip = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  if (mirror)
    for (uint32_t y = 0; y < image.height; ++y) mirror_row(image.row(y), image.width);
  if (flip) flip_rows(image);
  image.transposed = swaps_sides(orientation);
}

}  // namespace clef::media
