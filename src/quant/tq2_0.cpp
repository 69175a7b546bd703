// TQ2_0: 256 codes q of 2 bits and d (f16); x = d * (q - 1).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 66;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kSuperBlock];
  for (size_t half = 0; half < 2; ++half) unpack_pairs(src + 32 * half, codes + 128 * half);
  scale_codes<kSuperBlock>(codes, 1, widen_f16(load<uint16_t>(src + 64)), dst);
}

}  // namespace

constinit const Format kTq2_0 = {
    Type::tq2_0, "TQ2_0", 35, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
