// The values of F8_E4M3 codes.
#pragma once
#include <array>

namespace clef::quant {

extern const std::array<float, 256> kE4m3Values;

}  // namespace clef::quant
