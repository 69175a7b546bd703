// NVFP4: 64 values in 4 groups: a scale of each group (E4M3 without sign, 4 bytes) and floats of 4 bits (e2m1.hpp).
#include <bit>

#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/e2m1.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 64;
constexpr size_t kBytes = 36;
constexpr size_t kGroup = 16;

// Half of the value: 4 bits of exponent, 3 of mantissa, the highest bit ignored. 0x7f, the NaN, counts as 0.
float half_of_e4m3(uint32_t code) noexcept {
  if (code == 0x7f) return 0.0f;
  const uint32_t exponent = (code >> 3) & 15;
  const uint32_t mantissa = code & 7;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  return std::bit_cast<float>(((exponent + 119) << 23) | (mantissa << 20));
}

void decode_block(const std::byte* src, float* dst) noexcept {
  for (size_t group = 0; group < kValues / kGroup; ++group) {
    uint8_t codes[kGroup];
    unpack_nibbles<8>(src + 4 + 8 * group, codes);
    scale_e2m1_codes<kGroup>(codes, half_of_e4m3(load<uint8_t>(src + group)), dst + kGroup * group);
  }
}

}  // namespace

constinit const Format kNvfp4 = {
    Type::nvfp4, "NVFP4", 40, nullptr, kValues, kBytes, decode_blocks<kValues, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
