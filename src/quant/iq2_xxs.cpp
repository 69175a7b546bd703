// IQ2_XXS: 256 values: d (f16), then for each 32 values four bytes with indices into the book and a u32 with four times
// seven signs and, above them, a scale s of 4 bits; x = d * (0.5 + s) * 0.25 * entry.
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 66;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float d = widen_f16(load<uint16_t>(src));
  src += 2;
  for (size_t part = 0; part < 8; ++part, src += 8) {
    const uint32_t rest = load<uint32_t>(src + 4);
    const float scale = d * (0.5f + static_cast<float>(rest >> 28)) * 0.25f;
    for (unsigned i = 0; i < 4; ++i, dst += 8)
      decode_iq2_entry(kIq2XxsGrid[load<uint8_t>(src + i)], even_signs((rest >> (7 * i)) & 127), scale, dst);
  }
}

}  // namespace

constinit const Format kIq2Xxs = {
    Type::iq2_xxs, "IQ2_XXS", 16, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>,
    nullptr};

}  // namespace clef::quant
