#include <immintrin.h>

#include "kernels/exp_constants.hpp"
#include "kernels/x86/x86.hpp"

#include "kernels/x86/avx512_begin.hpp"

namespace clef::kernels::x86 {
namespace {

static inline __m512 exp_lanes(__m512 x) {
  const __m512 low = _mm512_set1_ps(kExpLow);
  const __mmask16 vanish = _mm512_cmp_ps_mask(x, low, _CMP_LT_OQ);
  // The operand order keeps NaN: min and max return their second operand then.
  x = _mm512_max_ps(low, _mm512_min_ps(_mm512_set1_ps(kExpHigh), x));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(kLog2E)), 0);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLn2High), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLn2Low), r);
  __m512 p = _mm512_set1_ps(kExpP0);
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpP1));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpP2));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpP3));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpP4));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(kExpP5));
  p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
  const __m512i exponent = _mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23);
  const __m512 e = _mm512_mul_ps(p, _mm512_castsi512_ps(exponent));
  return _mm512_mask_mov_ps(e, vanish, _mm512_setzero_ps());
}

}  // namespace

float exp_sum_f32_avx512(float* x, size_t n, float maximum) {
  const __m512 top = _mm512_set1_ps(maximum);
  __m512 sum = _mm512_setzero_ps();
  for (size_t i = 0; i < n; i += 16) {
    const __m512 e = exp_lanes(_mm512_sub_ps(_mm512_loadu_ps(x + i), top));
    _mm512_storeu_ps(x + i, e);
    sum = _mm512_add_ps(sum, e);
  }
  const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(sum), _mm512_extractf32x8_ps(sum, 1));
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

void silu_mul_f32_avx512(const float* gate, const float* up, float* out, size_t n) {
  const __m512 one = _mm512_set1_ps(1.0f);
  for (size_t i = 0; i < n; i += 16) {
    const size_t left = n - i;
    const __mmask16 mask = static_cast<__mmask16>(left < 16 ? (1u << left) - 1u : 0xFFFFu);
    const __m512 g = _mm512_maskz_loadu_ps(mask, gate + i), u = _mm512_maskz_loadu_ps(mask, up + i);
    const __m512 d = _mm512_add_ps(one, exp_lanes(_mm512_sub_ps(_mm512_setzero_ps(), g)));
    _mm512_mask_storeu_ps(out + i, mask, _mm512_mul_ps(_mm512_div_ps(g, d), u));
  }
}

void gelu_tanh_f32_avx512(const float* x, float* out, size_t n) {
  const __m512 one = _mm512_set1_ps(1.0f), linear = _mm512_set1_ps(kGeluLinear), cubic = _mm512_set1_ps(kGeluCubic);
  for (size_t i = 0; i < n; i += 16) {
    const size_t left = n - i;
    const __mmask16 mask = static_cast<__mmask16>(left < 16 ? (1u << left) - 1u : 0xFFFFu);
    const __m512 v = _mm512_maskz_loadu_ps(mask, x + i);
    const __m512 exponent = _mm512_mul_ps(v, _mm512_fmadd_ps(cubic, _mm512_mul_ps(v, v), linear));
    _mm512_mask_storeu_ps(out + i, mask, _mm512_div_ps(v, _mm512_add_ps(one, exp_lanes(exponent))));
  }
}

}  // namespace clef::kernels::x86

#include "kernels/x86/end.hpp"
