// F8_E4M3 (the variant without infinities): sign, 4 bits of exponent with bias 7, 3 of mantissa; all ones is NaN.
#include "quant/f8_e4m3.hpp"

#include <limits>

#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr float value_of(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<float>::quiet_NaN();
  float value = static_cast<float>(exponent > 0 ? 8 + mantissa : mantissa);
  for (int i = exponent > 0 ? exponent : 1; i < 10; ++i) value *= 0.5f;
  for (int i = 10; i < exponent; ++i) value *= 2.0f;
  return code >= 128 ? -value : value;
}

constexpr std::array<float, 256> make_values() {
  std::array<float, 256> values{};
  for (int code = 0; code < 256; ++code) values[static_cast<size_t>(code)] = value_of(code);
  return values;
}

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) dst[i] = kE4m3Values[std::to_integer<size_t>(src[i])];
}

}  // namespace

constinit const std::array<float, 256> kE4m3Values = make_values();

constinit const Format kF8E4m3 = {Type::f8_e4m3, "F8_E4M3", -1, "F8_E4M3", 1, 1, decode, nullptr};

}  // namespace clef::quant
