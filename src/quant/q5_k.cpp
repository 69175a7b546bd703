// Q5_K: 256 values in 8 groups: d and dmin (f16), scale s and minimum m of each group (6 bits, k_scales.hpp), the fifth
// bits of all codes q (32 bytes), their low nibbles; x = d * s * q - dmin * m.
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_super.hpp"
#include "quant/k_scales.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 176;
constexpr size_t kGroup = 32;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kSuperBlock];
  for (size_t i = 0; i < kSuperBlock; i += 64) unpack_nibbles<32>(src + 48 + i / 2, codes + i);
  add_bit_planes(src + 16, 4, codes);
  apply_k_scales(src, codes, dst);
}

void encode_block(const Source<kSuperBlock>& source, std::byte* dst) noexcept {
  RangeSuper<kGroup> block;
  fit_super<kGroup, 31, 63>(source, block);
  store(dst, block.d);
  store(dst + 2, block.d_minimum);
  pack_k_scales(block.scales, block.minima, dst + 4);
  pack_bit_planes(block.codes, 4, dst + 16);
  for (size_t i = 0; i < kSuperBlock; i += 64) pack_nibbles<32>(block.codes + i, dst + 48 + i / 2);
}

}  // namespace

constinit const Format kQ5_K = {Type::q5_k,
                                "Q5_K",
                                13,
                                nullptr,
                                kSuperBlock,
                                kBytes,
                                decode_blocks<kSuperBlock, kBytes, decode_block>,
                                encode_blocks<kSuperBlock, kBytes, encode_block>};

}  // namespace clef::quant
