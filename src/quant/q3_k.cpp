// Q3_K: 256 values in 16 groups: the third bits of all codes (32 bytes), their low two bits (64 bytes), a scale s of 6
// bits for each group (12 bytes), d (f16); x = d * (s - 32) * (q - 4).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_super.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 110;
constexpr size_t kGroup = 16;
constexpr size_t kGroups = kSuperBlock / kGroup;

// The low nibbles of scales 0-7 and 8-15 lie in the halves of bytes 0-7, the two high bits of scale 4a + b in byte 8 + b.
void unpack_scales(const std::byte* src, uint8_t* scales) noexcept {
  unpack_nibbles<8>(src, scales);
  for (size_t group = 0; group < kGroups; ++group) {
    const unsigned high = load<uint8_t>(src + 8 + group % 4) >> (2 * (group / 4));
    scales[group] |= static_cast<uint8_t>((high & 3) << 4);
  }
}

void pack_scales(const int* scales, std::byte* dst) noexcept {
  uint8_t low[kGroups];
  uint8_t high[4] = {};
  for (size_t group = 0; group < kGroups; ++group) {
    low[group] = static_cast<uint8_t>(scales[group] + 32);
    high[group % 4] |= static_cast<uint8_t>((low[group] >> 4) << (2 * (group / 4)));
  }
  pack_nibbles<8>(low, dst);
  for (size_t i = 0; i < 4; ++i) store(dst + 8 + i, high[i]);
}

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kSuperBlock];
  for (size_t half = 0; half < 2; ++half) unpack_pairs(src + 32 + 32 * half, codes + 128 * half);
  add_bit_planes(src, 2, codes);
  uint8_t scales[kGroups];
  unpack_scales(src + 96, scales);
  const float scale = widen_f16(load<uint16_t>(src + 108));
  for (size_t group = 0; group < kGroups; ++group) {
    const float step = scale * static_cast<float>(scales[group] - 32);
    scale_codes<kGroup>(codes + kGroup * group, 4, step, dst + kGroup * group);
  }
}

void encode_block(const Source<kSuperBlock>& source, std::byte* dst) noexcept {
  ScaledSuper<kGroup> block;
  fit_super<kGroup, LinearCodes<-4, 3>, LinearCodes<-32, 31>>(source, block);
  pack_bit_planes(block.codes, 2, dst);
  for (size_t half = 0; half < 2; ++half) pack_pairs(block.codes + 128 * half, dst + 32 + 32 * half);
  pack_scales(block.scales, dst + 96);
  store(dst + 108, block.d);
}

}  // namespace

constinit const Format kQ3_K = {Type::q3_k,
                                "Q3_K",
                                11,
                                nullptr,
                                kSuperBlock,
                                kBytes,
                                decode_blocks<kSuperBlock, kBytes, decode_block>,
                                encode_blocks<kSuperBlock, kBytes, encode_block>};

}  // namespace clef::quant
