// IQ3_XXS: 256 values: d (f16), for each four values an index into the book (64 bytes), for each 32 values a u32 with four
// times seven signs and, above them, a scale s of 4 bits; x = d * (0.5 + s) * 0.5 * entry.
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 98;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float d = widen_f16(load<uint16_t>(src));
  const std::byte* indices = src + 2;
  for (size_t part = 0; part < 8; ++part) {
    const uint32_t rest = load<uint32_t>(src + 66 + 4 * part);
    const float scale = d * (0.5f + static_cast<float>(rest >> 28)) * 0.5f;
    for (unsigned i = 0; i < 4; ++i, indices += 2, dst += 8) {
      const unsigned signs = even_signs((rest >> (7 * i)) & 127);
      decode_iq3_xxs_entry(kIq3XxsGrid[load<uint8_t>(indices)], signs, scale, dst);
      decode_iq3_xxs_entry(kIq3XxsGrid[load<uint8_t>(indices + 1)], signs >> 4, scale, dst + 4);
    }
  }
}

}  // namespace

constinit const Format kIq3Xxs = {
    Type::iq3_xxs, "IQ3_XXS", 18, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>,
    nullptr};

}  // namespace clef::quant
