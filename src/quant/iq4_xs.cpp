// IQ4_XS: 256 values in 8 groups: d (f16), the high two bits of the scales s (u16), their low nibbles (4 bytes), codes q
// of 4 bits; x = d * (s - 32) * (value of the code in iq4.hpp).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_super.hpp"
#include "quant/half.hpp"
#include "quant/iq4.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 136;
constexpr size_t kGroup = 32;
constexpr size_t kGroups = kSuperBlock / kGroup;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float scale = widen_f16(load<uint16_t>(src));
  const unsigned high = load<uint16_t>(src + 2);
  for (size_t group = 0; group < kGroups; ++group) {
    const unsigned low = load<uint8_t>(src + 4 + group / 2) >> (4 * (group % 2));
    const unsigned code = (low & 15) | (((high >> (2 * group)) & 3) << 4);
    uint8_t codes[kGroup];
    unpack_nibbles<16>(src + 8 + 16 * group, codes);
    scale_iq4_codes<kGroup>(codes, scale * static_cast<float>(static_cast<int>(code) - 32), dst + kGroup * group);
  }
}

void encode_block(const Source<kSuperBlock>& source, std::byte* dst) noexcept {
  ScaledSuper<kGroup> block;
  fit_super<kGroup, Iq4Codes, LinearCodes<-32, 31>>(source, block);
  uint8_t low[kGroups / 2] = {};
  unsigned high = 0;
  for (size_t group = 0; group < kGroups; ++group) {
    const auto scale = static_cast<unsigned>(block.scales[group] + 32);
    low[group / 2] |= static_cast<uint8_t>((scale & 15) << (4 * (group % 2)));
    high |= (scale >> 4) << (2 * group);
    pack_nibbles<16>(block.codes + kGroup * group, dst + 8 + 16 * group);
  }
  store(dst, block.d);
  store(dst + 2, static_cast<uint16_t>(high));
  for (size_t i = 0; i < kGroups / 2; ++i) store(dst + 4 + i, low[i]);
}

}  // namespace

constinit const Format kIq4Xs = {Type::iq4_xs,
                                 "IQ4_XS",
                                 23,
                                 nullptr,
                                 kSuperBlock,
                                 kBytes,
                                 decode_blocks<kSuperBlock, kBytes, decode_block>,
                                 encode_blocks<kSuperBlock, kBytes, encode_block>};

}  // namespace clef::quant
