// Q2_K: 256 values in 16 groups: 16 bytes with scale s (low nibble) and minimum m of each group, codes q of 2 bits,
// d and dmin (f16); x = d * s * q - dmin * m.
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_super.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 84;
constexpr size_t kGroup = 16;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kSuperBlock];
  for (size_t half = 0; half < 2; ++half) unpack_pairs(src + 16 + 32 * half, codes + 128 * half);
  const float scale = widen_f16(load<uint16_t>(src + 80));
  const float minimum = widen_f16(load<uint16_t>(src + 82));
  for (size_t group = 0; group < kSuperBlock / kGroup; ++group) {
    const int both = load<uint8_t>(src + group);
    scale_codes_above<kGroup>(codes + kGroup * group, scale * static_cast<float>(both & 15),
                              minimum * static_cast<float>(both >> 4), dst + kGroup * group);
  }
}

void encode_block(const Source<kSuperBlock>& source, std::byte* dst) noexcept {
  RangeSuper<kGroup> block;
  fit_super<kGroup, 3, 15>(source, block);
  for (size_t group = 0; group < kSuperBlock / kGroup; ++group)
    store(dst + group, static_cast<uint8_t>(block.scales[group] | (block.minima[group] << 4)));
  for (size_t half = 0; half < 2; ++half) pack_pairs(block.codes + 128 * half, dst + 16 + 32 * half);
  store(dst + 80, block.d);
  store(dst + 82, block.d_minimum);
}

}  // namespace

constinit const Format kQ2_K = {Type::q2_k,
                                "Q2_K",
                                10,
                                nullptr,
                                kSuperBlock,
                                kBytes,
                                decode_blocks<kSuperBlock, kBytes, decode_block>,
                                encode_blocks<kSuperBlock, kBytes, encode_block>};

}  // namespace clef::quant
