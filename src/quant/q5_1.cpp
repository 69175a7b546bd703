// Q5_1: 32 values as a scale d and a minimum m (f16), the fifth bits of all codes (u32) and their low nibbles;
// x = d * q + m.
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit_range.hpp"
#include "quant/half.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 24;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 8, codes);
  add_fifth_bits(load<uint32_t>(src + 4), codes);
  scale_codes_above<kValues>(codes, widen_f16(load<uint16_t>(src)), -widen_f16(load<uint16_t>(src + 2)), dst);
}

void encode_block(const Source<kValues>& source, std::byte* dst) noexcept {
  const HalfRange range = fit_half_range<kValues, 31>(source);
  uint8_t codes[kValues];
  range_to_codes<kValues, 31>(source.values, range.scale.value, -range.lowest.value, codes);
  store(dst, range.scale.bits);
  store(dst + 2, range.lowest.bits);
  store(dst + 4, fifth_bits(codes));
  pack_nibbles<16>(codes, dst + 8);
}

}  // namespace

constinit const Format kQ5_1 = {Type::q5_1,
                                "Q5_1",
                                7,
                                nullptr,
                                kValues,
                                kBytes,
                                decode_blocks<kValues, kBytes, decode_block>,
                                encode_blocks<kValues, kBytes, encode_block>};

}  // namespace clef::quant
