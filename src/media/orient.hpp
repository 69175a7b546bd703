// Turning and mirroring. Inside src/media only.
#pragma once
#include "media/image.hpp"

namespace clef::media {

// The picture as the EXIF orientation (1 to 8) asks for it to be shown; 5 to 8 swap width and height and need a second
// block of the same size for a while. Errors: out_of_memory, memory_limit.
base::Result<Image> apply_orientation(Image image, int orientation, base::Memory& memory);

inline bool swaps_sides(int orientation) noexcept {
  return orientation >= 5;
}

}  // namespace clef::media
