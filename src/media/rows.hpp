// The two inner loops of a resize. Inside src/media only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "media/filter.hpp"
#include "media/image.hpp"

namespace clef::media {

// A row as three planes of 16-bit values, zeros behind each, since weights are read in groups.
struct Planes {
  int16_t* values;
  size_t stride;
};

// The last outputs read as many values as all others, up to one whole set of weights behind the row.
inline size_t plane_stride(const Axis& axis) noexcept {
  return size_t{axis.in()} + axis.taps();
}

// One RGB row of axis.in() pixels to one of axis.out(), which may lie over it. `planes` is scratch, zero at first.
void horizontal_row(const uint8_t* row, const Axis& axis, Planes planes, uint8_t* out) noexcept;

// Row y of the output from rows[0] to rows[axis.count(y) - 1], the input rows from axis.first(y) on.
void vertical_row(const uint8_t* const* rows, const Axis& axis, uint32_t y, size_t bytes, uint8_t* out) noexcept;

}  // namespace clef::media
