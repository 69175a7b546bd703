// Rotation of a head by the angles of its position.
#pragma once
#include <cstdint>

namespace clef::device::cpu {

// Pairs (j, j + half) turn by their angle; the rest of the head passes.
inline void rotate_halves(float* x, const float* cosines, const float* sines, int64_t half) noexcept {
  for (int64_t j = 0; j < half; ++j) {
    const float a = x[j], b = x[j + half];
    x[j] = a * cosines[j] - b * sines[j];
    x[j + half] = b * cosines[j] + a * sines[j];
  }
}

}  // namespace clef::device::cpu
