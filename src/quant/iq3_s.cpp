// IQ3_S: 256 values: d (f16), for each four values an index into the book (64 bytes, its ninth bit in 8 more bytes), a
// sign of each value (32 bytes), a scale s of 4 bits for each 32 values; x = d * (1 + 2 * s) * entry.
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 110;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float d = widen_f16(load<uint16_t>(src));
  for (size_t part = 0; part < 8; ++part) {
    const int code = (load<uint8_t>(src + 106 + part / 2) >> (4 * (part % 2))) & 15;
    const float scale = d * static_cast<float>(1 + 2 * code);
    const unsigned ninth = load<uint8_t>(src + 66 + part);
    for (size_t i = 0; i < 8; ++i, dst += 4) {
      const unsigned index = load<uint8_t>(src + 2 + 8 * part + i) | (((ninth >> i) & 1u) << 8);
      const unsigned signs = load<uint8_t>(src + 74 + 4 * part + i / 2) >> (4 * (i % 2));
      decode_iq3_s_entry(kIq3SGrid[index], signs, scale, dst);
    }
  }
}

}  // namespace

constinit const Format kIq3S = {
    Type::iq3_s, "IQ3_S", 21, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
