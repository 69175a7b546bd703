#include "media/pixels.hpp"

#include <cstring>
#include <string>

#include "media/alpha.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

uint32_t bytes_per_pixel(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::rgb8:
    case PixelFormat::bgr8:
      return 3;
    case PixelFormat::rgba8:
    case PixelFormat::bgra8:
      return 4;
    case PixelFormat::gray8:
      return 1;
  }
  return 0;
}

namespace {

void swap_red_and_blue(uint8_t* pixels, uint64_t count) noexcept {
  for (; count > 0; --count, pixels += 3) {
    const uint8_t red = pixels[2];
    pixels[2] = pixels[0];
    pixels[0] = red;
  }
}

void copy_row(const uint8_t* in, PixelFormat format, bool drop_alpha, uint8_t* out, uint64_t width) noexcept {
  switch (format) {
    case PixelFormat::rgb8:
    case PixelFormat::bgr8:
      std::memcpy(out, in, static_cast<size_t>(3 * width));
      break;
    case PixelFormat::rgba8:
    case PixelFormat::bgra8:
      rgba_to_rgb(in, out, width, drop_alpha);
      break;
    case PixelFormat::gray8:
      for (uint64_t x = 0; x < width; ++x, out += 3) out[0] = out[1] = out[2] = in[x];
      return;
  }
  if (format == PixelFormat::bgr8 || format == PixelFormat::bgra8) swap_red_and_blue(out, width);
}

}  // namespace

Result<uint64_t> pixel_bytes(const PixelView& view) {
  const uint64_t each = bytes_per_pixel(view.format);
  if (each == 0) {
    return Status(Code::invalid_argument, "the pixel format " + std::to_string(static_cast<int32_t>(view.format)) +
                                              " is not known; 0 to 4 are");
  }
  CLEF_RETURN_IF_ERROR(check_size(view.width, view.height, UINT64_MAX, "the picture"));
  if (view.data == nullptr) return Status(Code::invalid_argument, "the pixels are null");
  const uint64_t row_bytes = each * view.width;
  const uint64_t stride = view.stride != 0 ? view.stride : row_bytes;
  if (stride < row_bytes) {
    return Status(Code::invalid_argument, "the stride of " + std::to_string(stride) +
                                              " bytes is shorter than a row of " + std::to_string(row_bytes) +
                                              " bytes");
  }
  // The last row needs no padding.
  if (view.size < row_bytes || (view.height > 1 && stride > (view.size - row_bytes) / (view.height - 1))) {
    return Status(Code::invalid_argument, std::to_string(view.height) + " rows of " + std::to_string(stride) +
                                              " bytes do not fit into " + std::to_string(view.size) +
                                              " bytes of pixels");
  }
  return stride * (view.height - 1) + row_bytes;
}

Result<Image> from_pixels(const PixelView& view, bool drop_alpha, uint64_t max_pixels, base::Memory& memory) {
  CLEF_RETURN_IF_ERROR(pixel_bytes(view).status());
  CLEF_RETURN_IF_ERROR(check_size(view.width, view.height, max_pixels, "the picture"));
  CLEF_ASSIGN_OR_RETURN(Image image, create_image(view.width, view.height, memory));
  const uint64_t stride = view.stride != 0 ? view.stride : uint64_t{bytes_per_pixel(view.format)} * view.width;
  const auto* row = static_cast<const uint8_t*>(view.data);
  for (uint32_t y = 0; y < view.height; ++y)
    copy_row(row + static_cast<size_t>(stride * y), view.format, drop_alpha, image.row(y), view.width);
  return image;
}

}  // namespace clef::media
