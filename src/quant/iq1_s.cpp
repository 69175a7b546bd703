// IQ1_S: 256 values: d (f16), for each eight values the low byte of an index into the book (32 bytes), for each 32 values
// a u16 with the four indices' high three bits, a scale s of 3 bits and the sign of delta = 1/8;
// x = d * (2 * s + 1) * (entry + delta).
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 50;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float d = widen_f16(load<uint16_t>(src));
  for (size_t part = 0; part < 8; ++part) {
    const unsigned rest = load<uint16_t>(src + 34 + 2 * part);
    const float scale = d * static_cast<float>(2 * ((rest >> 12) & 7) + 1);
    const float delta = (rest & 0x8000u) != 0 ? -0.125f : 0.125f;
    for (unsigned i = 0; i < 4; ++i, dst += 8) {
      const unsigned index = load<uint8_t>(src + 2 + 4 * part + i) | (((rest >> (3 * i)) & 7) << 8);
      decode_iq1_entry(kIq1Grid[index], scale, delta, dst);
    }
  }
}

}  // namespace

constinit const Format kIq1S = {
    Type::iq1_s, "IQ1_S", 19, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
