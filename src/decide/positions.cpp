#include "decide/positions.hpp"

#include <algorithm>

namespace clef::decide {

std::vector<int32_t> rope_positions(int64_t tokens, std::span<const GridSpan> grids) {
  std::vector<int32_t> positions(static_cast<size_t>(3 * tokens));
  const auto set = [&](int64_t token, int32_t time, int32_t height, int32_t width) {
    positions[static_cast<size_t>(token)] = time;
    positions[static_cast<size_t>(tokens + token)] = height;
    positions[static_cast<size_t>(2 * tokens + token)] = width;
  };
  int64_t token = 0;
  int32_t next = 0;
  for (const GridSpan& grid : grids) {
    for (; token < grid.begin; ++token, ++next) set(token, next, next, next);
    for (int32_t row = 0; row < grid.rows; ++row)
      for (int32_t column = 0; column < grid.columns; ++column) set(token++, next, next + row, next + column);
    next += std::max(grid.rows, grid.columns);
  }
  for (; token < tokens; ++token, ++next) set(token, next, next, next);
  return positions;
}

}  // namespace clef::decide
