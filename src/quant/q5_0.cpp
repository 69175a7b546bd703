// Q5_0: 32 values as a scale d (f16), the fifth bits of all codes (u32) and their low nibbles; x = d * (q - 16).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 22;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 6, codes);
  add_fifth_bits(load<uint32_t>(src + 2), codes);
  scale_codes<kValues>(codes, 16, widen_f16(load<uint16_t>(src)), dst);
}

void encode_block(const Source<kValues>& source, std::byte* dst) noexcept {
  using Codes = LinearCodes<-16, 15>;
  const HalfScale scale = fit_half_scale<kValues, Codes>(source);
  uint8_t codes[kValues];
  scale_to_codes<kValues, Codes>(source.values, scale.value, codes);
  store(dst, scale.bits);
  store(dst + 2, fifth_bits(codes));
  pack_nibbles<16>(codes, dst + 6);
}

}  // namespace

constinit const Format kQ5_0 = {Type::q5_0,
                                "Q5_0",
                                6,
                                nullptr,
                                kValues,
                                kBytes,
                                decode_blocks<kValues, kBytes, decode_block>,
                                encode_blocks<kValues, kBytes, encode_block>};

}  // namespace clef::quant
