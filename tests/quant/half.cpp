// The 16-bit floats against formulas that follow the definition of IEEE 754 in double arithmetic.
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "quant/format.hpp"
#include "support/catch.hpp"

namespace quant = clef::quant;

namespace {

// A float with `exponent_bits` and `mantissa_bits`, finite patterns only, exact in double.
double value_of(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias);
  return (bits >> 15) != 0 ? -magnitude : magnitude;
}

void check_all_patterns(int exponent_bits, int mantissa_bits, float (*widen)(uint16_t), uint16_t (*narrow)(float)) {
  const uint32_t all_ones = ((1u << exponent_bits) - 1) << mantissa_bits;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    INFO("pattern " << bits);
    const float wide = widen(static_cast<uint16_t>(bits));
    const uint16_t back = narrow(wide);
    const bool negative = (bits & 0x8000u) != 0;
    const bool special = (bits & all_ones) == all_ones;
    const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
    bool good = std::signbit(wide) == negative;
    if (special && mantissa != 0) {
      // NaN stays NaN with its payload; on the way back it is quiet.
      good = good && std::isnan(wide) && back == (bits | (1u << (mantissa_bits - 1)));
    } else if (special) {
      good = good && std::isinf(wide) && back == bits;
    } else {
      good = good && static_cast<double>(wide) == value_of(bits, exponent_bits, mantissa_bits) && back == bits;
    }
    if (!good) {
      CHECK(good);
      return;
    }
  }
  SUCCEED();
}

// Between each two neighbours: the middle goes to the even one, anything beside the middle to the nearer one.
void check_rounding(int exponent_bits, int mantissa_bits, uint16_t (*narrow)(float)) {
  const uint32_t infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  int failures = 0;
  for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
    const double low = value_of(bits, exponent_bits, mantissa_bits);
    const double high = value_of(bits + 1, exponent_bits, mantissa_bits);
    const auto middle = static_cast<float>((low + high) / 2);
    if (static_cast<double>(middle) != (low + high) / 2) continue;  // bf16 subnormals at the end of f32's own range
    const uint32_t even = (bits & 1) != 0 ? bits + 1 : bits;
    const float below = std::nextafterf(middle, 0.0f);
    const float above = std::nextafterf(middle, INFINITY);
    for (const uint32_t sign : {0u, 0x8000u}) {
      const float s = sign != 0 ? -1.0f : 1.0f;
      if (narrow(s * middle) != (even | sign) || narrow(s * below) != (bits | sign) ||
          narrow(s * above) != ((bits + 1) | sign)) {
        UNSCOPED_INFO("rounding above pattern " << bits);
        ++failures;
      }
    }
    if (failures > 0) break;
  }
  CHECK(failures == 0);
}

}  // namespace

TEST_CASE("every f16 pattern") {
  check_all_patterns(5, 10, quant::f16_to_f32, quant::f32_to_f16);
}
TEST_CASE("every bf16 pattern") {
  check_all_patterns(8, 7, quant::bf16_to_f32, quant::f32_to_bf16);
}
TEST_CASE("f16 rounds to nearest even") {
  check_rounding(5, 10, quant::f32_to_f16);
}
TEST_CASE("bf16 rounds to nearest even") {
  check_rounding(8, 7, quant::f32_to_bf16);
}

TEST_CASE("ends of the ranges") {
  CHECK(quant::f32_to_f16(65504.0f) == 0x7bff);
  CHECK(quant::f32_to_f16(65519.996f) == 0x7bff);
  CHECK(quant::f32_to_f16(65520.0f) == 0x7c00);
  CHECK(quant::f32_to_f16(-1e30f) == 0xfc00);
  CHECK(quant::f32_to_f16(0x1p-24f) == 0x0001);
  CHECK(quant::f32_to_f16(0x1p-25f) == 0x0000);  // the tie goes to the even zero
  CHECK(quant::f32_to_f16(0x1.000002p-25f) == 0x0001);
  CHECK(quant::f32_to_f16(-0x1p-26f) == 0x8000);
  CHECK(quant::f32_to_f16(-0.0f) == 0x8000);
  CHECK(quant::f32_to_f16(1e-45f) == 0x0000);
  CHECK(quant::f32_to_bf16(3.4028235e38f) == 0x7f80);  // the largest f32 rounds up to infinity
  CHECK(quant::f32_to_bf16(1.0f) == 0x3f80);
  CHECK(quant::f32_to_bf16(-0.0f) == 0x8000);
  // NaNs whose payload lies only in the bits that are cut off stay NaN.
  CHECK(quant::f32_to_bf16(std::bit_cast<float>(0x7f800001u)) == 0x7fc0);
  CHECK(quant::f32_to_bf16(std::bit_cast<float>(0xffffffffu)) == 0xffff);
  CHECK(quant::f32_to_f16(std::bit_cast<float>(0x7f800001u)) == 0x7e00);
  CHECK(quant::f32_to_f16(std::bit_cast<float>(0xffffffffu)) == 0xffff);
}

TEST_CASE("block decoders of F16 and BF16 give what the single conversions give, at any address") {
  for (const quant::Type type : {quant::Type::f16, quant::Type::bf16}) {
    const quant::Format& format = quant::format(type);
    const auto widen = type == quant::Type::f16 ? quant::f16_to_f32 : quant::bf16_to_f32;
    const auto narrow = type == quant::Type::f16 ? quant::f32_to_f16 : quant::f32_to_bf16;
    std::vector<std::byte> bytes(65536 * 2 + 1);
    for (uint32_t i = 0; i < 65536; ++i) {
      bytes[1 + 2 * i] = static_cast<std::byte>(i & 255);
      bytes[2 + 2 * i] = static_cast<std::byte>(i >> 8);
    }
    std::vector<float> values(65536);
    format.decode(bytes.data() + 1, values.data(), values.size());
    std::vector<std::byte> encoded(65536 * 2 + 1);
    format.encode(values.data(), nullptr, encoded.data() + 1, values.size());
    uint32_t different = 0;
    for (uint32_t i = 0; i < 65536; ++i) {
      different += std::bit_cast<uint32_t>(values[i]) != std::bit_cast<uint32_t>(widen(static_cast<uint16_t>(i)));
      const uint16_t code = narrow(values[i]);
      different += encoded[1 + 2 * i] != static_cast<std::byte>(code & 255);
      different += encoded[2 + 2 * i] != static_cast<std::byte>(code >> 8);
    }
    CHECK(different == 0);
  }
}
