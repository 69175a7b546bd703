#include "media/image.hpp"

#include <algorithm>
#include <string>

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

std::string_view format_name(Format format) noexcept {
  switch (format) {
    case Format::jpeg:
      return "JPEG";
    case Format::png:
      return "PNG";
    case Format::webp:
      return "WebP";
  }
  return "unknown";
}

Status check_size(uint64_t width, uint64_t height, uint64_t max_pixels, std::string_view name) {
  const std::string size = std::string(name) + " is " + std::to_string(width) + " x " + std::to_string(height);
  if (width == 0 || height == 0) return Status(Code::invalid_value, size + " pixels; a picture needs at least one");
  const uint64_t most = std::min<uint64_t>(max_pixels, UINT64_MAX / 8);
  if (width > most / height) {
    return Status(Code::too_many, size + ", more than the " + std::to_string(most) +
                                      " pixels allowed (limit max_image_pixels); make it smaller or raise the limit");
  }
  return {};
}

Result<Image> create_image(uint32_t width, uint32_t height, base::Memory& memory) {
  Image image{width, height, {}};
  CLEF_ASSIGN_OR_RETURN(image.pixels, base::Buffer::create(memory, image.bytes(), "the pixels of a picture"));
  return image;
}

}  // namespace clef::media
