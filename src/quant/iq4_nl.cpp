// IQ4_NL: 32 values as a scale d (f16) and 32 codes q of 4 bits; x = d * (value of the code in iq4.hpp).
#include "quant/bits.hpp"
#include "quant/blocks.hpp"
#include "quant/fit.hpp"
#include "quant/half.hpp"
#include "quant/iq4.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 18;

void decode_block(const std::byte* src, float* dst) noexcept {
  uint8_t codes[kValues];
  unpack_nibbles<16>(src + 2, codes);
  scale_iq4_codes<kValues>(codes, widen_f16(load<uint16_t>(src)), dst);
}

void encode_block(const Source<kValues>& source, std::byte* dst) noexcept {
  const HalfScale scale = fit_half_scale<kValues, Iq4Codes>(source);
  uint8_t codes[kValues];
  scale_to_codes<kValues, Iq4Codes>(source.values, scale.value, codes);
  store(dst, scale.bits);
  pack_nibbles<16>(codes, dst + 2);
}

}  // namespace

constinit const Format kIq4Nl = {Type::iq4_nl,
                                 "IQ4_NL",
                                 20,
                                 nullptr,
                                 kValues,
                                 kBytes,
                                 decode_blocks<kValues, kBytes, decode_block>,
                                 encode_blocks<kValues, kBytes, encode_block>};

}  // namespace clef::quant
