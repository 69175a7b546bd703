// The code books of the IQ1, IQ2 and IQ3 formats (iq_grids.cpp is generated), and the steps that their decoders share.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

namespace clef::quant {

// An entry of the IQ1 and IQ2 books is eight codes of 2 bits, one of the IQ3 books four codes in nibbles; the first code
// is lowest.
inline constexpr size_t kIq1GridSize = 2048;
inline constexpr size_t kIq2XxsGridSize = 256;
inline constexpr size_t kIq2XsGridSize = 512;
inline constexpr size_t kIq2SGridSize = 1024;
inline constexpr size_t kIq3XxsGridSize = 256;
inline constexpr size_t kIq3SGridSize = 512;
extern const uint16_t kIq1Grid[kIq1GridSize];
extern const uint16_t kIq2XxsGrid[kIq2XxsGridSize];
extern const uint16_t kIq2XsGrid[kIq2XsGridSize];
extern const uint16_t kIq2SGrid[kIq2SGridSize];
extern const uint16_t kIq3XxsGrid[kIq3XxsGridSize];
extern const uint16_t kIq3SGrid[kIq3SGridSize];

// Seven signs and an eighth that makes the number of minuses even.
inline unsigned even_signs(unsigned seven) noexcept {
  return seven | ((static_cast<unsigned>(std::popcount(seven)) & 1u) << 7);
}

// Eight values: scale times -1, 0 or 1, moved by `delta`.
inline void decode_iq1_entry(unsigned entry, float scale, float delta, float* dst) noexcept {
  for (unsigned i = 0; i < 8; ++i) {
    const int code = static_cast<int>((entry >> (2 * i)) & 3) - 1;
    dst[i] = scale * (static_cast<float>(code) + delta);
  }
}

// Eight values: scale times 8, 25 or 43, minus where the bit in `signs` is set.
inline void decode_iq2_entry(unsigned entry, unsigned signs, float scale, float* dst) noexcept {
  for (unsigned i = 0; i < 8; ++i) {
    const int code = static_cast<int>((entry >> (2 * i)) & 3);
    const int magnitude = 8 + 17 * code + (code >> 1);
    const int minus = -static_cast<int>((signs >> i) & 1);
    dst[i] = scale * static_cast<float>((magnitude ^ minus) - minus);
  }
}

// Four values of IQ3_XXS: scale times 4, 12, ... 52 or 62.
inline void decode_iq3_xxs_entry(unsigned entry, unsigned signs, float scale, float* dst) noexcept {
  for (unsigned i = 0; i < 4; ++i) {
    const int code = static_cast<int>((entry >> (4 * i)) & 7);
    const int magnitude = 4 + 8 * code + 2 * ((code + 1) >> 3);
    const int minus = -static_cast<int>((signs >> i) & 1);
    dst[i] = scale * static_cast<float>((magnitude ^ minus) - minus);
  }
}

// Four values of IQ3_S: scale times 1, 3, ... 15.
inline void decode_iq3_s_entry(unsigned entry, unsigned signs, float scale, float* dst) noexcept {
  for (unsigned i = 0; i < 4; ++i) {
    const int magnitude = 1 + 2 * static_cast<int>((entry >> (4 * i)) & 7);
    const int minus = -static_cast<int>((signs >> i) & 1);
    dst[i] = scale * static_cast<float>((magnitude ^ minus) - minus);
  }
}

}  // namespace clef::quant
