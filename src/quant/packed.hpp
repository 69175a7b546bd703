// Codes of 2 to 8 bits in dense bit streams, lowest bit first, and the scales that lie in arrays of their own.
#pragma once
#include <algorithm>
#include <cstdint>

#include "quant/format.hpp"
#include "quant/load.hpp"

namespace clef::quant {

// Codes [first, first + count) of a stream, as floats.
void unpack_codes(const std::byte* stream, int64_t first, int64_t count, int32_t bits, float* dst) noexcept;

inline uint32_t code_mask(int32_t bits) noexcept {
  return (1u << bits) - 1u;
}

// A code of a stream.
inline uint32_t code_at(const std::byte* stream, int64_t index, int32_t bits) noexcept {
  const int64_t bit = index * bits;
  const auto shift = static_cast<int32_t>(bit & 7);
  const std::byte* at = stream + (bit >> 3);
  uint32_t word = std::to_integer<uint32_t>(at[0]);
  if (shift + bits > 8) word |= std::to_integer<uint32_t>(at[1]) << 8;
  return word >> shift & code_mask(bits);
}

// A code of a stream of 32-bit words that runs down a column of a table of words with `columns` columns.
inline uint32_t code_in_column(const std::byte* words, int64_t columns, int64_t column, int64_t index,
                               int32_t bits) noexcept {
  const int64_t bit = index * bits;
  const auto shift = static_cast<int32_t>(bit & 31);
  const std::byte* at = words + ((bit >> 5) * columns + column) * 4;
  uint64_t word = load<uint32_t>(at);
  if (shift + bits > 32) word |= static_cast<uint64_t>(load<uint32_t>(at + columns * 4)) << 32;
  return static_cast<uint32_t>(word >> shift) & code_mask(bits);
}

// Bytes of a row of codes that fills whole 32-bit words.
inline int64_t word_row_bytes(int64_t in, int32_t bits) noexcept {
  return (in * bits + 31) / 32 * 4;
}

// Groups along the input dimension.
inline int64_t group_count(const Scaling& scaling, int64_t in) noexcept {
  return scaling.group > 0 ? (in + scaling.group - 1) / scaling.group : 1;
}

// Place of the first scale of a row, where a row's scales lie one after another.
inline int64_t first_scale(const Scaling& scaling, int64_t in, int64_t row) noexcept {
  return scaling.group_rows > 0 ? row / scaling.group_rows * group_count(scaling, in) : 0;
}

inline float value_at(const Format* format, const std::byte* values, int64_t index) noexcept {
  float value = 0;
  format->decode(values + index * static_cast<int64_t>(format->block_bytes), &value, 1);
  return value;
}

inline float scale_at(const Scaling& scaling, int64_t index) noexcept {
  return value_at(scaling.scale_format, scaling.scales, index);
}

// Calls use(group, begin, end) for the runs of inputs that share a group, in [first, first + count).
template <class Use>
void for_groups(const Scaling& scaling, int64_t first, int64_t count, Use use) noexcept {
  const int64_t end = first + count;
  for (int64_t i = first; i < end;) {
    int64_t group = 0, stop = end;
    if (scaling.group_of != nullptr) {
      group = load<int32_t>(scaling.group_of + 4 * i);
      stop = i + 1;
      while (stop < end && load<int32_t>(scaling.group_of + 4 * stop) == group) ++stop;
    } else if (scaling.group > 0) {
      group = i / scaling.group;
      stop = std::min(end, (group + 1) * scaling.group);
    }
    use(group, i, stop);
    i = stop;
  }
}

}  // namespace clef::quant
