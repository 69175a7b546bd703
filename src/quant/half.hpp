// The 16-bit floats, inline so that loops over them vectorise. Integer steps only where a subnormal number could meet a
// processor that is set to flush them.
#pragma once
#include <bit>
#include <cstdint>

namespace clef::quant {

inline float widen_f16(uint16_t bits) noexcept {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = (bits & 0x7fffu) << 13;  // exponent and mantissa in the places of an f32
  constexpr uint32_t kRebias = 112u << 23;            // the f32 exponent counts from 127, that of f16 from 15
  const uint32_t normal = magnitude + kRebias;
  const uint32_t special = normal + kRebias;  // infinity and NaN: the exponent becomes all ones
  // Subnormal, m * 2^-24: 2^-14 + m * 2^-24 has m in its mantissa, and both of these are normal numbers.
  constexpr uint32_t kSmallestNormal = 113u << 23;
  const float shifted = std::bit_cast<float>(kSmallestNormal | (magnitude & 0x007fffffu));
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted - std::bit_cast<float>(kSmallestNormal));
  // Masks, not branches: compilers do not turn a branch around a float operation into a blend.
  const uint32_t is_subnormal = 0u - static_cast<uint32_t>(magnitude < 0x00800000u);
  const uint32_t is_special = 0u - static_cast<uint32_t>(magnitude >= 0x0f800000u);
  const uint32_t finite = (subnormal & is_subnormal) | (normal & ~is_subnormal);
  return std::bit_cast<float>((special & is_special) | (finite & ~is_special) | sign);
}

inline uint16_t narrow_f16(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u | ((magnitude >> 13) & 0x03ffu);  // NaN, made quiet
  } else if (magnitude >= 0x477ff000u) {
    half = 0x7c00u;  // 65520 and more round to infinity
  } else if (magnitude >= 0x38800000u) {
    const uint32_t rebased = magnitude - (112u << 23);
    half = (rebased + 0x0fffu + ((rebased >> 13) & 1u)) >> 13;
  } else if (magnitude > 0x33000000u) {  // above 2^-25, so at least a part of the smallest subnormal
    const uint32_t mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
    const uint32_t shift = 126u - (magnitude >> 23);  // 14 to 24
    const uint32_t rest = mantissa & ((1u << shift) - 1u);
    const uint32_t tie = 1u << (shift - 1u);
    half = mantissa >> shift;
    if (rest > tie || (rest == tie && (half & 1u) != 0)) ++half;
  }
  return static_cast<uint16_t>(half | sign);
}

inline float widen_bf16(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t narrow_bf16(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x0040u;  // made quiet: cutting the mantissa could leave an infinity
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

}  // namespace clef::quant
