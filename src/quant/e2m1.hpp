// Floats of 4 bits (E2M1) as ggml reads them: twice their value, and 8, the negative zero, is a plain zero.
#pragma once
#include <cstddef>
#include <cstdint>

namespace clef::quant {

inline constexpr int8_t kE2m1Doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

template <size_t kCount>
void scale_e2m1_codes(const uint8_t* codes, float half_scale, float* dst) noexcept {
  for (size_t i = 0; i < kCount; ++i) dst[i] = half_scale * static_cast<float>(kE2m1Doubled[codes[i]]);
}

}  // namespace clef::quant
