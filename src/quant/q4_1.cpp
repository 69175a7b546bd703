// Q4_1: 32 values as a scale d and a minimum m (f16) and 32 codes q of 4 bits; x = d * q + m.
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_range.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 20;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 4, codes);
  scale_codes_above<kValues>(codes, widen_f16(load<uint16_t>(src)), -widen_f16(load<uint16_t>(src + 2)), dst);
}

void encode_block(const Source<kValues>& source, std::byte* dst) noexcept {
  const HalfRange range = fit_half_range<kValues, 15>(source);
  uint8_t codes[kValues];
  range_to_codes<kValues, 15>(source.values, range.scale.value, -range.lowest.value, codes);
  store(dst, range.scale.bits);
  store(dst + 2, range.lowest.bits);
  pack_nibbles<16>(codes, dst + 4);
}

}  // namespace

constinit const Format kQ4_1 = {Type::q4_1,
                                "Q4_1",
                                3,
                                nullptr,
                                kValues,
                                kBytes,
                                decode_blocks<kValues, kBytes, decode_block>,
                                encode_blocks<kValues, kBytes, encode_block>};

}  // namespace clef::quant
