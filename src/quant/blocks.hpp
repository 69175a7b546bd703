// Runs of blocks by functions for one block.
#pragma once
#include <cstddef>
#include <cstdint>

namespace clef::quant {

inline constexpr size_t kSuperBlock = 256;  // values of a block of most formats below 8 bits

template <size_t kValues, size_t kBytes, void (*kDecodeBlock)(const std::byte*, float*) noexcept>
void decode_blocks(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t block = 0; block < count / kValues; ++block, src += kBytes, dst += kValues) kDecodeBlock(src, dst);
}

// x = scale * (code - zero)
template <size_t kCount>
void scale_codes(const uint8_t* codes, int zero, float scale, float* dst) noexcept {
  for (size_t i = 0; i < kCount; ++i) dst[i] = scale * static_cast<float>(codes[i] - zero);
}

// x = scale * code - minimum
template <size_t kCount>
void scale_codes_above(const uint8_t* codes, float scale, float minimum, float* dst) noexcept {
  for (size_t i = 0; i < kCount; ++i) dst[i] = scale * static_cast<float>(codes[i]) - minimum;
}

}  // namespace clef::quant
