// IQ1_M: 256 values: for each eight values the low byte of an index into the book (32 bytes) and a nibble with its high
// three bits and the sign of delta = 1/8 (16 bytes), then four u16 with four scales s of 3 bits each, one for each 16
// values, and above them a nibble of d (f16), lowest first; x = d * (2 * s + 1) * (entry + delta).
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 56;

void decode_block(const std::byte* src, float* dst) noexcept {
  unsigned d_bits = 0;
  for (unsigned i = 0; i < 4; ++i) d_bits |= (load<uint16_t>(src + 48 + 2 * i) & 0xf000u) >> (12 - 4 * i);
  const float d = widen_f16(static_cast<uint16_t>(d_bits));
  for (unsigned group = 0; group < 16; ++group) {
    const unsigned code = load<uint16_t>(src + 48 + 2 * (group / 4)) >> (3 * (group % 4));
    const float scale = d * static_cast<float>(2 * (code & 7) + 1);
    const unsigned high = load<uint8_t>(src + 32 + group);
    for (unsigned i = 0; i < 2; ++i, dst += 8) {
      const unsigned nibble = high >> (4 * i);
      const unsigned index = load<uint8_t>(src + 2 * group + i) | ((nibble & 7) << 8);
      decode_iq1_entry(kIq1Grid[index], scale, (nibble & 8) != 0 ? -0.125f : 0.125f, dst);
    }
  }
}

}  // namespace

constinit const Format kIq1M = {
    Type::iq1_m, "IQ1_M", 29, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
