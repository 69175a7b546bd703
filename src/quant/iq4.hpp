// The 16 values that codes of 4 bits stand for in IQ4_NL and IQ4_XS.
#pragma once
#include <cstddef>
#include <cstdint>

namespace clef::quant {

inline constexpr int8_t kIq4Values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

template <size_t kCount>
void scale_iq4_codes(const uint8_t* codes, float scale, float* dst) noexcept {
  for (size_t i = 0; i < kCount; ++i) dst[i] = scale * static_cast<float>(kIq4Values[codes[i]]);
}

// For encoders: the code nearest to a number.
namespace iq4 {

// Middles between the values are multiples of one half, so steps of one half from -128 on tell the sides apart.
struct Nearest {
  float value[2 * (113 + 128) + 1];
  uint8_t code[2 * (113 + 128) + 1];
};

constexpr Nearest make_nearest() noexcept {
  Nearest nearest{};
  uint8_t code = 0;
  for (int i = 0; i <= 2 * (113 + 128); ++i) {
    while (code < 15 && i - 256 >= kIq4Values[code] + kIq4Values[code + 1]) ++code;
    nearest.value[i] = static_cast<float>(kIq4Values[code]);
    nearest.code[i] = code;
  }
  return nearest;
}

inline constexpr Nearest kNearest = make_nearest();

}  // namespace iq4

struct Iq4Codes {
  static constexpr float kFirst = -127.0f;
  static constexpr float kLast = 113.0f;
  static int place(float value) noexcept {
    const float cut = value > kFirst ? (value < kLast ? value : kLast) : kFirst;  // the first one for NaN, too
    return static_cast<int>((cut + 128.0f) * 2.0f);
  }
  static int code(float value) noexcept { return iq4::kNearest.code[place(value)]; }
  static float nearest(float value) noexcept { return iq4::kNearest.value[place(value)]; }
};

}  // namespace clef::quant
