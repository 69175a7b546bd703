// Turning and mirroring. Inside src/media only.
#pragma once
#include "media/image.hpp"

namespace clef::media {

// The picture as the EXIF orientation (1 to 8) asks for it to be shown, in its own memory: 5 to 8, which swap width and
// height, only set Image::transposed.
void apply_orientation(Image& image, int orientation) noexcept;

inline bool swaps_sides(int orientation) noexcept {
  return orientation >= 5;
}

}  // namespace clef::media
