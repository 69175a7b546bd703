// Pictures that a host already has as pixels.
#pragma once
#include <cstddef>
#include <cstdint>

#include "media/image.hpp"

namespace clef::media {

// The numbers of clef_pixel_format in capi/clef.h.
enum class PixelFormat : int32_t { rgb8 = 0, rgba8 = 1, bgr8 = 2, bgra8 = 3, gray8 = 4 };

// 0: no known format.
uint32_t bytes_per_pixel(PixelFormat format) noexcept;

struct PixelView {
  const void* data = nullptr;  // the top row; borrowed
  size_t size = SIZE_MAX;      // bytes that may be read from `data`, where the caller knows
  uint32_t width = 0;
  uint32_t height = 0;
  size_t stride = 0;  // bytes from row to row; 0: rows without padding
  PixelFormat format = PixelFormat::rgb8;
};

// From the first pixel to the end of the last. Errors: as from_pixels, but for max_pixels.
base::Result<uint64_t> pixel_bytes(const PixelView& view);

// Copies to RGB: transparent pixels over white, or as stored with `drop_alpha`. No EXIF: pixels are taken as shown.
// Errors: invalid_argument (null data, unknown format, rows that overlap or do not fit), invalid_value, too_many
// (check_size), memory_limit, out_of_memory.
base::Result<Image> from_pixels(const PixelView& view, bool drop_alpha, uint64_t max_pixels, base::Memory& memory);

}  // namespace clef::media
