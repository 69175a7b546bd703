// IQ2_S: 256 values: d (f16), for each eight values an index into the book (32 bytes, its high two bits in 8 more bytes
// behind the signs) and eight signs (32 bytes), a scale s of 4 bits for each 16 values; x = d * (0.5 + s) * 0.25 * entry.
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/iq_grids.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 82;

void decode_block(const std::byte* src, float* dst) noexcept {
  const float d = widen_f16(load<uint16_t>(src));
  for (size_t group = 0; group < 16; ++group) {
    const int code = (load<uint8_t>(src + 74 + group / 2) >> (4 * (group % 2))) & 15;
    const float scale = d * (0.5f + static_cast<float>(code)) * 0.25f;
    for (size_t i = 2 * group; i < 2 * group + 2; ++i, dst += 8) {
      const unsigned high = (load<uint8_t>(src + 66 + i / 4) >> (2 * (i % 4))) & 3u;
      const unsigned index = load<uint8_t>(src + 2 + i) | (high << 8);
      decode_iq2_entry(kIq2SGrid[index], load<uint8_t>(src + 34 + i), scale, dst);
    }
  }
}

}  // namespace

constinit const Format kIq2S = {
    Type::iq2_s, "IQ2_S", 22, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
