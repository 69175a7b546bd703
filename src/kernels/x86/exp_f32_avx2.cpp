#include <immintrin.h>

#include "kernels/exp_constants.hpp"
#include "kernels/x86/x86.hpp"

#include "kernels/x86/avx2_begin.hpp"

namespace clef::kernels::x86 {
namespace {

static inline __m256 exp_lanes(__m256 x) {
  const __m256 low = _mm256_set1_ps(kExpLow);
  const __m256 vanish = _mm256_cmp_ps(x, low, _CMP_LT_OQ);
  // The operand order keeps NaN: min and max return their second operand then.
  x = _mm256_max_ps(low, _mm256_min_ps(_mm256_set1_ps(kExpHigh), x));
  const __m256 n =
      _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(kLog2E)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2High), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2Low), r);
  __m256 p = _mm256_set1_ps(kExpP0);
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpP1));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpP2));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpP3));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpP4));
  p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpP5));
  p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), _mm256_set1_ps(1.0f));
  const __m256i exponent = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_andnot_ps(vanish, _mm256_mul_ps(p, _mm256_castsi256_ps(exponent)));
}

}  // namespace

float exp_sum_f32_avx2(float* x, size_t n, float maximum) {
  const __m256 top = _mm256_set1_ps(maximum);
  __m256 sum = _mm256_setzero_ps();
  for (size_t i = 0; i < n; i += 8) {
    const __m256 e = exp_lanes(_mm256_sub_ps(_mm256_loadu_ps(x + i), top));
    _mm256_storeu_ps(x + i, e);
    sum = _mm256_add_ps(sum, e);
  }
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

void silu_mul_f32_avx2(const float* gate, const float* up, float* out, size_t n) {
  const __m256 one = _mm256_set1_ps(1.0f);
  for (size_t i = 0; i < n; i += 8) {
    const size_t left = n - i;
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? static_cast<int>(left) : 8),
                                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256 g = _mm256_maskload_ps(gate + i, mask), u = _mm256_maskload_ps(up + i, mask);
    const __m256 d = _mm256_add_ps(one, exp_lanes(_mm256_sub_ps(_mm256_setzero_ps(), g)));
    _mm256_maskstore_ps(out + i, mask, _mm256_mul_ps(_mm256_div_ps(g, d), u));
  }
}

void gelu_tanh_f32_avx2(const float* x, float* out, size_t n) {
  const __m256 one = _mm256_set1_ps(1.0f), linear = _mm256_set1_ps(kGeluLinear), cubic = _mm256_set1_ps(kGeluCubic);
  for (size_t i = 0; i < n; i += 8) {
    const size_t left = n - i;
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? static_cast<int>(left) : 8),
                                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const __m256 v = _mm256_maskload_ps(x + i, mask);
    const __m256 exponent = _mm256_mul_ps(v, _mm256_fmadd_ps(cubic, _mm256_mul_ps(v, v), linear));
    _mm256_maskstore_ps(out + i, mask, _mm256_div_ps(v, _mm256_add_ps(one, exp_lanes(exponent))));
  }
}

}  // namespace clef::kernels::x86

#include "kernels/x86/end.hpp"
