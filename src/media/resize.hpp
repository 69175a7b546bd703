// Scaling as the reference does it: bicubic with antialias on 8-bit values, bit for bit.
#pragma once
#include <cstdint>

#include "media/image.hpp"

namespace clef::media {

// The picture at width x height; unchanged when it has that size. Along each axis that changes: weights of 16 bits,
// exact integer sums, rounded to 8 bits after the horizontal and again after the vertical pass.
//
// Memory: input + output + some rows; the output is written into the input's block where it fits and fills at least half
// of it. Errors: invalid_argument (an empty size), out_of_memory, memory_limit.
base::Result<Image> resize(Image image, uint32_t width, uint32_t height, base::Memory& memory);

}  // namespace clef::media
