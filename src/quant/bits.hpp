// Codes of fewer than 8 bits as ggml's blocks pack them, to and from one byte per code. The loops are over fixed counts,
// so that compilers vectorise them.
#pragma once
#include <cstddef>
#include <cstdint>

#include "quant/load.hpp"

namespace clef::quant {

// 2 * kHalf codes of 4 bits in kHalf bytes: the low nibbles are the first half.
template <size_t kHalf>
void unpack_nibbles(const std::byte* src, uint8_t* codes) noexcept {
  for (size_t i = 0; i < kHalf; ++i) {
    const auto byte = load<uint8_t>(src + i);
    codes[i] = byte & 15;
    codes[i + kHalf] = byte >> 4;
  }
}

// Bits above the lowest four of a code are ignored here, those above the lowest two and above the lowest one below.
template <size_t kHalf>
void pack_nibbles(const uint8_t* codes, std::byte* dst) noexcept {
  for (size_t i = 0; i < kHalf; ++i)
    store(dst + i, static_cast<uint8_t>((codes[i] & 15) | ((codes[i + kHalf] & 15) << 4)));
}

// 128 codes of 2 bits in 32 bytes: the lowest pairs of bits are the first 32 codes.
inline void unpack_pairs(const std::byte* src, uint8_t* codes) noexcept {
  for (unsigned plane = 0; plane < 4; ++plane)
    for (size_t i = 0; i < 32; ++i)
      codes[32 * plane + i] = static_cast<uint8_t>((load<uint8_t>(src + i) >> (2 * plane)) & 3);
}

inline void pack_pairs(const uint8_t* codes, std::byte* dst) noexcept {
  for (size_t i = 0; i < 32; ++i) {
    unsigned byte = 0;
    for (unsigned plane = 0; plane < 4; ++plane) byte |= (codes[32 * plane + i] & 3u) << (2 * plane);
    store(dst + i, static_cast<uint8_t>(byte));
  }
}

// Adds `bit << shift` to 256 codes; the lowest bits of the 32 bytes are those of the first 32 codes.
inline void add_bit_planes(const std::byte* src, unsigned shift, uint8_t* codes) noexcept {
  for (unsigned plane = 0; plane < 8; ++plane)
    for (size_t i = 0; i < 32; ++i)
      codes[32 * plane + i] |= static_cast<uint8_t>(((load<uint8_t>(src + i) >> plane) & 1) << shift);
}

// Takes bit `shift` of 256 codes.
inline void pack_bit_planes(const uint8_t* codes, unsigned shift, std::byte* dst) noexcept {
  for (size_t i = 0; i < 32; ++i) {
    unsigned byte = 0;
    for (unsigned plane = 0; plane < 8; ++plane) byte |= ((codes[32 * plane + i] >> shift) & 1u) << plane;
    store(dst + i, static_cast<uint8_t>(byte));
  }
}

// Adds bit i of `bits` as 16 to code i of 32, and takes it from there.
inline void add_fifth_bits(uint32_t bits, uint8_t* codes) noexcept {
  for (unsigned i = 0; i < 32; ++i) codes[i] |= static_cast<uint8_t>(((bits >> i) & 1) << 4);
}

inline uint32_t fifth_bits(const uint8_t* codes) noexcept {
  uint32_t bits = 0;
  for (unsigned i = 0; i < 32; ++i) bits |= ((codes[i] >> 4) & 1u) << i;
  return bits;
}

}  // namespace clef::quant
