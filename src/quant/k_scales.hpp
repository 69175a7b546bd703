// The 12 bytes of Q4_K and Q5_K: eight scales and eight minima of 6 bits. Bytes 0-3 hold the first four scales, bytes 4-7
// the first four minima, in their low 6 bits; bytes 8-11 the low nibbles of the other four (scale low, minimum high),
// whose two high bits lie above the first four.
#pragma once
#include <cstddef>
#include <cstdint>

#include "quant/blocks.hpp"
#include "quant/half.hpp"
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

// The values of a block that begins with d, dmin and these 12 bytes, once its codes are unpacked.
inline void apply_k_scales(const std::byte* src, const uint8_t* codes, float* dst) noexcept {
  constexpr size_t kGroup = 32;
  const float scale = widen_f16(load<uint16_t>(src));
  const float minimum = widen_f16(load<uint16_t>(src + 2));
  uint8_t scales[8];
  uint8_t minima[8];
  unpack_k_scales(src + 4, scales, minima);
  for (size_t group = 0; group < 8; ++group)
    scale_codes_above<kGroup>(codes + kGroup * group, scale * static_cast<float>(scales[group]),
                              minimum * static_cast<float>(minima[group]), dst + kGroup * group);
}

}  // namespace clef::quant
