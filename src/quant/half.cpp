#include "quant/half.hpp"

#include "quant/format.hpp"

namespace clef::quant {

float f16_to_f32(uint16_t bits) noexcept {
  return widen_f16(bits);
}
uint16_t f32_to_f16(float value) noexcept {
  return narrow_f16(value);
}
float bf16_to_f32(uint16_t bits) noexcept {
  return widen_bf16(bits);
}
uint16_t f32_to_bf16(float value) noexcept {
  return narrow_bf16(value);
}

}  // namespace clef::quant
