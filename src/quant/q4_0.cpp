// Q4_0: 32 values as a scale d (f16) and 32 codes q of 4 bits; x = d * (q - 8).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 18;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 2, codes);
  scale_codes<kValues>(codes, 8, widen_f16(load<uint16_t>(src)), dst);
}

void encode_block(const Source<kValues>& source, std::byte* dst) noexcept {
  using Codes = LinearCodes<-8, 7>;
  const HalfScale scale = fit_half_scale<kValues, Codes>(source);
  uint8_t codes[kValues];
  scale_to_codes<kValues, Codes>(source.values, scale.value, codes);
  store(dst, scale.bits);
  pack_nibbles<16>(codes, dst + 2);
}

}  // namespace

constinit const Format kQ4_0 = {Type::q4_0,
                                "Q4_0",
                                2,
                                nullptr,
                                kValues,
                                kBytes,
                                decode_blocks<kValues, kBytes, decode_block>,
                                encode_blocks<kValues, kBytes, encode_block>};

}  // namespace clef::quant
