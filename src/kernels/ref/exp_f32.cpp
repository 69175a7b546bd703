#include <string.h>

#include "kernels/exp_constants.hpp"
#include "kernels/ref/ref.hpp"

namespace clef::kernels::ref {

float exp_f32(float x) {
  if (!(x >= kExpLow)) return x < kExpLow ? 0.0f : x;  // NaN stays NaN
  if (x > kExpHigh) x = kExpHigh;
  const float scaled = x * kLog2E;
  const int n = static_cast<int>(scaled + (scaled < 0 ? -0.5f : 0.5f));
  const float nf = static_cast<float>(n);
  const float r = (x - nf * kLn2High) - nf * kLn2Low;
  float p = kExpP0;
  p = p * r + kExpP1;
  p = p * r + kExpP2;
  p = p * r + kExpP3;
  p = p * r + kExpP4;
  p = p * r + kExpP5;
  p = p * (r * r) + r + 1.0f;
  const int bits = (n + 127) << 23;
  float scale;
  memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

float exp_sum_f32(float* x, size_t n, float maximum) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) {
    x[i] = exp_f32(x[i] - maximum);
    sum += x[i];
  }
  return sum;
}

void silu_mul_f32(const float* gate, const float* up, float* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = gate[i] / (1.0f + exp_f32(-gate[i])) * up[i];
}

void gelu_tanh_f32(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const float exponent = x[i] * (kGeluLinear + kGeluCubic * (x[i] * x[i]));
    out[i] = x[i] / (1.0f + exp_f32(exponent));
  }
}

}  // namespace clef::kernels::ref
