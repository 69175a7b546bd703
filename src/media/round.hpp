// Rounding as Python does it, whatever the rounding mode of the moment. Inside src/media only.
#pragma once
#include <cmath>

namespace clef::media {

// To the nearest whole number, halves to the even one.
inline double round_half_even(double value) noexcept {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest < 0.5) return below;
  if (rest > 0.5) return below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

}  // namespace clef::media
