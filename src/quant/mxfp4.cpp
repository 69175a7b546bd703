// MXFP4: 32 values as a scale 2^(e - 127) (one byte) and 32 floats of 4 bits (e2m1.hpp).
#include <bit>

#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/e2m1.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 17;

void decode_block(const std::byte* src, float* dst) noexcept {
  // Half the scale, 2^(e - 128), is a subnormal number for the two smallest exponents.
  const uint32_t exponent = load<uint8_t>(src);
  const float half_scale = std::bit_cast<float>(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 1, codes);
  scale_e2m1_codes<kValues>(codes, half_scale, dst);
}

}  // namespace

constinit const Format kMxfp4 = {
    Type::mxfp4, "MXFP4", 39, nullptr, kValues, kBytes, decode_blocks<kValues, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
