// A decoded picture and what is known of an encoded one. Pixels are RGB, 8 bits each, from the top left, rows without
// padding; their memory comes from the caller's base::Memory, so limits and accounting hold.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/memory.hpp"
#include "base/status.hpp"

namespace clef::media {

inline constexpr uint64_t kChannels = 3;

struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  base::Buffer pixels;      // at least bytes() bytes; more where the block was also used for decoding
  bool transposed = false;  // rows as stored here are the columns of the picture as shown

  uint32_t shown_width() const noexcept { return transposed ? height : width; }
  uint32_t shown_height() const noexcept { return transposed ? width : height; }
  uint64_t row_bytes() const noexcept { return kChannels * width; }
  uint64_t bytes() const noexcept { return row_bytes() * height; }
  uint8_t* row(uint32_t y) noexcept { return pixels.as<uint8_t>() + row_bytes() * y; }
  const uint8_t* row(uint32_t y) const noexcept { return pixels.as<uint8_t>() + row_bytes() * y; }
};

enum class Format : uint8_t { jpeg, png, webp };
std::string_view format_name(Format format) noexcept;  // "JPEG", "PNG", "WebP"

// From the headers of an encoded picture.
struct ImageInfo {
  Format format = Format::jpeg;
  uint32_t width = 0;  // as shown: after the orientation where it is applied
  uint32_t height = 0;
  int orientation = 1;  // the EXIF tag, 1 to 8; 1 where there is none
  bool alpha = false;   // some pixel may be transparent
};

// Refuses empty pictures and those with more than `max_pixels`. What passes can be multiplied by 8 without overflow.
// `name` begins the messages ("the JPEG picture"). Errors: invalid_value, too_many.
base::Status check_size(uint64_t width, uint64_t height, uint64_t max_pixels, std::string_view name);

// A new image, contents not initialised; its size has passed check_size. Errors: out_of_memory, memory_limit.
base::Result<Image> create_image(uint32_t width, uint32_t height, base::Memory& memory);

}  // namespace clef::media
