// Q8_0: 32 values as a scale d (f16) and 32 signed bytes q; x = d * q.
#include <cmath>

#include "quant/half.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kValues = 32;
constexpr size_t kBytes = 34;

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t block = 0; block < count / kValues; ++block, src += kBytes, dst += kValues) {
    const float scale = widen_f16(load<uint16_t>(src));
    for (size_t i = 0; i < kValues; ++i) dst[i] = scale * static_cast<float>(load<int8_t>(src + 2 + i));
  }
}

// The codes are made with the scale before it is rounded to f16, as ggml's are. A value that is not finite has no code;
// it becomes 0 (whoever converts looks for such values first and names the tensor).
void encode(const float* src, const float* /*importance*/, std::byte* dst, size_t count) noexcept {
  for (size_t block = 0; block < count / kValues; ++block, src += kValues, dst += kBytes) {
    float largest = 0.0f;
    for (size_t i = 0; i < kValues; ++i) {
      const float magnitude = std::fabs(src[i]);
      largest = magnitude > largest ? magnitude : largest;
    }
    const float scale = largest / 127.0f;
    const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    store(dst, narrow_f16(scale));
    for (size_t i = 0; i < kValues; ++i) {
      const float code = std::round(src[i] * inverse);
      const bool valid = code >= -127.0f && code <= 127.0f;  // false for NaN
      store(dst + 2 + i, static_cast<int8_t>(valid ? code : 0.0f));
    }
  }
}

}  // namespace

constinit const Format kQ8_0 = {Type::q8_0, "Q8_0", 8, nullptr, kValues, kBytes, decode, encode};

}  // namespace clef::quant
