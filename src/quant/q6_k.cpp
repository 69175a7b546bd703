// Q6_K: 256 values in 16 groups: the low nibbles of all codes q (128 bytes), their high two bits (64 bytes), a scale s of
// each group (i8), d (f16); x = d * s * (q - 32).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_super.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 210;
constexpr size_t kGroup = 16;
constexpr size_t kGroups = kSuperBlock / kGroup;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kSuperBlock];
  uint8_t high[kSuperBlock];
  for (size_t half = 0; half < 2; ++half) {
    unpack_nibbles<64>(src + 64 * half, codes + 128 * half);
    unpack_pairs(src + 128 + 32 * half, high + 128 * half);
  }
  for (size_t i = 0; i < kSuperBlock; ++i) codes[i] |= static_cast<uint8_t>(high[i] << 4);
  const float scale = widen_f16(load<uint16_t>(src + 208));
  for (size_t group = 0; group < kGroups; ++group) {
    const float step = scale * static_cast<float>(load<int8_t>(src + 192 + group));
    scale_codes<kGroup>(codes + kGroup * group, 32, step, dst + kGroup * group);
  }
}

void encode_block(const Source<kSuperBlock>& source, std::byte* dst) noexcept {
  ScaledSuper<kGroup> block;
  fit_super<kGroup, LinearCodes<-32, 31>, LinearCodes<-128, 127>>(source, block);
  uint8_t high[kSuperBlock];
  for (size_t i = 0; i < kSuperBlock; ++i) high[i] = block.codes[i] >> 4;
  for (size_t half = 0; half < 2; ++half) {
    pack_nibbles<64>(block.codes + 128 * half, dst + 64 * half);
    pack_pairs(high + 128 * half, dst + 128 + 32 * half);
  }
  for (size_t group = 0; group < kGroups; ++group) store(dst + 192 + group, static_cast<int8_t>(block.scales[group]));
  store(dst + 208, block.d);
}

}  // namespace

constinit const Format kQ6_K = {Type::q6_k,
                                "Q6_K",
                                14,
                                nullptr,
                                kSuperBlock,
                                kBytes,
                                decode_blocks<kSuperBlock, kBytes, decode_block>,
                                encode_blocks<kSuperBlock, kBytes, encode_block>};

}  // namespace clef::quant
