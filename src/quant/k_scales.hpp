// The 12 bytes of Q4_K and Q5_K: eight scales and eight minima of 6 bits. Bytes 0-3 hold the first four scales, bytes 4-7
// the first four minima, in their low 6 bits; bytes 8-11 the low nibbles of the other four (scale low, minimum high),
// whose two high bits lie above the first four.
#pragma once
#include <cstddef>
#include <cstdint>

#include "quant/load.hpp"

namespace clef::quant {

inline void unpack_k_scales(const std::byte* src, uint8_t* scales, uint8_t* minima) noexcept {
  for (size_t i = 0; i < 4; ++i) {
    const unsigned scale = load<uint8_t>(src + i);
    const unsigned minimum = load<uint8_t>(src + 4 + i);
    const unsigned rest = load<uint8_t>(src + 8 + i);
    scales[i] = static_cast<uint8_t>(scale & 63);
    minima[i] = static_cast<uint8_t>(minimum & 63);
    scales[i + 4] = static_cast<uint8_t>((rest & 15) | ((scale >> 6) << 4));
    minima[i + 4] = static_cast<uint8_t>((rest >> 4) | ((minimum >> 6) << 4));
  }
}

inline void pack_k_scales(const uint8_t* scales, const uint8_t* minima, std::byte* dst) noexcept {
  for (size_t i = 0; i < 4; ++i) {
    const unsigned scale = scales[i + 4];
    const unsigned minimum = minima[i + 4];
    store(dst + i, static_cast<uint8_t>(scales[i] | ((scale >> 4) << 6)));
    store(dst + 4 + i, static_cast<uint8_t>(minima[i] | ((minimum >> 4) << 6)));
    store(dst + 8 + i, static_cast<uint8_t>((scale & 15) | ((minimum & 15) << 4)));
  }
}

}  // namespace clef::quant
