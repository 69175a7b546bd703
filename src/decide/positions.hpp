// Positions of the tokens of a prompt with pictures on the three axes of the rotary embedding.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace clef::decide {

// The placeholders of one picture, or of one pair of frames: tokens [begin, begin + rows * columns) in raster order.
struct GridSpan {
  int64_t begin = 0;
  int32_t rows = 0, columns = 0;
};

// Time, height and width of `tokens` tokens, one axis after another. Text goes on by one on all axes. A grid stands still
// in time and spreads over height and width from there; what follows it begins behind its longer side. Spans in rising
// order.
std::vector<int32_t> rope_positions(int64_t tokens, std::span<const GridSpan> grids);

}  // namespace clef::decide
