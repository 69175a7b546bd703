// What the codecs of this folder share. Inside src/media only; one codec = one file, the only one that sees its
// library.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "media/decode.hpp"

namespace clef::media {

using Bytes = std::span<const std::byte>;

inline uint32_t byte_at(Bytes bytes, size_t at) noexcept {
  return std::to_integer<uint32_t>(bytes[at]);
}
inline uint32_t big16(Bytes bytes, size_t at) noexcept {
  return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}
inline uint32_t big32(Bytes bytes, size_t at) noexcept {
  return big16(bytes, at) << 16 | big16(bytes, at + 2);
}
inline uint32_t little24(Bytes bytes, size_t at) noexcept {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2) << 16;
}
inline uint32_t little32(Bytes bytes, size_t at) noexcept {
  return little24(bytes, at) | byte_at(bytes, at + 3) << 24;
}
inline std::string_view text_at(Bytes bytes, size_t at, size_t size) noexcept {
  if (at > bytes.size() || size > bytes.size() - at) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + at, size};
}

// "the JPEG picture (1234 bytes) " + reason
base::Status broken(Format format, Bytes bytes, std::string_view reason);
base::Status cut_off(Format format, Bytes bytes);

// Refuses where the limit of `memory` leaves no room for what a codec's library takes by itself, which cannot be
// counted. Errors: memory_limit.
base::Status check_room(const base::Memory& memory, uint64_t bytes, Format format);

// Stored size and orientation as found: nothing is turned here. Sizes are checked by the caller.
base::Result<ImageInfo> probe_jpeg(Bytes bytes);
base::Result<ImageInfo> probe_png(Bytes bytes);
base::Result<ImageInfo> probe_webp(Bytes bytes);

// `info` is what the codec's probe found, its size within the limits; orientation is not applied here.
base::Result<Image> decode_jpeg(Bytes bytes, const ImageInfo& info, base::Memory& memory);
base::Result<Image> decode_png(Bytes bytes, const ImageInfo& info, bool drop_alpha, base::Memory& memory);
base::Result<Image> decode_webp(Bytes bytes, const ImageInfo& info, bool drop_alpha, base::Memory& memory);

}  // namespace clef::media
