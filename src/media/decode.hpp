// Encoded pictures: JPEG, PNG and WebP, told apart by their content and never by a declared type.
//
// Pixels are those that the reference's loader gives (golden tests): JPEG with the accurate integer DCT and smooth
// chroma; grey replicated; 16-bit grey clipped at 255, other 16-bit samples cut to their high byte; CMYK taken as
// inverted; of an animation the first frame. No colour profile and no gamma is applied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "media/image.hpp"

namespace clef::media {

struct DecodeOptions {
  bool exif_orientation = true;      // turn the picture as its EXIF data say; false: pixels as stored
  bool drop_alpha = false;           // take colours as stored; false: over white
  uint64_t max_pixels = 16'777'216;  // width * height; checked before anything is allocated
};

// Reads headers only and allocates nothing for pixels. Width and height are as shown when options.exif_orientation.
// Errors as decode(), as far as headers tell.
base::Result<ImageInfo> probe(std::span<const std::byte> bytes, const DecodeOptions& options = {});

// A picture that its orientation lays on its side comes transposed (Image::transposed).
// Errors: empty (no bytes); unsupported (another kind of picture, named, or a build without decoders); invalid_value
// (not a picture, cut off or broken; the message names format and reason); too_many (max_pixels); memory_limit,
// out_of_memory.
base::Result<Image> decode(std::span<const std::byte> bytes, const DecodeOptions& options, base::Memory& memory);

}  // namespace clef::media
