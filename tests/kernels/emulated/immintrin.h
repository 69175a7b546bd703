// Stands in for the compiler's header: the AVX-512 intrinsics that our kernels use, in plain C++ with the meaning of
// Intel's manual, so that these kernels are tested on machines without AVX-512 too.
#pragma once
#include <emmintrin.h>

#include <cmath>
#include <cstdint>
#include <cstring>

struct __m512 {
  float v[16];
};
struct __m512i {
  int32_t v[16];
};
struct EmulatedM256 {
  float v[8];
};
#define __m256 EmulatedM256
using __mmask16 = uint16_t;
inline constexpr int kCmpLtOq = 17;
#define _CMP_LT_OQ kCmpLtOq

template <class Function>
inline __m512 emulated_lanes(Function function) {
  __m512 r;
  for (int i = 0; i < 16; ++i) r.v[i] = function(i);
  return r;
}
inline __m512 _mm512_setzero_ps() {
  return emulated_lanes([](int) { return 0.0f; });
}
inline __m512 _mm512_set1_ps(float x) {
  return emulated_lanes([=](int) { return x; });
}
inline __m512 _mm512_loadu_ps(const float* p) {
  return emulated_lanes([=](int i) { return p[i]; });
}
inline void _mm512_storeu_ps(float* p, __m512 x) {
  std::memcpy(p, x.v, sizeof x.v);
}
inline __m512 _mm512_maskz_loadu_ps(__mmask16 m, const float* p) {
  return emulated_lanes([=](int i) { return (m >> i & 1) != 0 ? p[i] : 0.0f; });
}
inline void _mm512_mask_storeu_ps(float* p, __mmask16 m, __m512 x) {
  for (int i = 0; i < 16; ++i)
    if ((m >> i & 1) != 0) p[i] = x.v[i];
}
inline __m512 _mm512_add_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] + b.v[i]; });
}
inline __m512 _mm512_sub_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] - b.v[i]; });
}
inline __m512 _mm512_mul_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] * b.v[i]; });
}
inline __m512 _mm512_div_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] / b.v[i]; });
}
inline __m512 _mm512_min_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline __m512 _mm512_max_ps(__m512 a, __m512 b) {
  return emulated_lanes([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline __m512 _mm512_fmadd_ps(__m512 a, __m512 b, __m512 c) {
  return emulated_lanes([&](int i) { return std::fma(a.v[i], b.v[i], c.v[i]); });
}
inline __m512 _mm512_fnmadd_ps(__m512 a, __m512 b, __m512 c) {
  return emulated_lanes([&](int i) { return std::fma(-a.v[i], b.v[i], c.v[i]); });
}
inline __m512 _mm512_roundscale_ps(__m512 a, int) {
  return emulated_lanes([&](int i) { return std::nearbyint(a.v[i]); });
}
inline __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int) {
  unsigned m = 0;
  for (int i = 0; i < 16; ++i) m |= (a.v[i] < b.v[i] ? 1u : 0u) << i;
  return static_cast<__mmask16>(m);
}
inline __m512 _mm512_mask_mov_ps(__m512 from, __mmask16 m, __m512 x) {
  return emulated_lanes([&](int i) { return (m >> i & 1) != 0 ? x.v[i] : from.v[i]; });
}
inline __m512i _mm512_set1_epi32(int x) {
  __m512i r;
  for (int32_t& lane : r.v) lane = x;
  return r;
}
inline __m512i _mm512_add_epi32(__m512i a, __m512i b) {
  for (int i = 0; i < 16; ++i)
    a.v[i] = static_cast<int32_t>(static_cast<uint32_t>(a.v[i]) + static_cast<uint32_t>(b.v[i]));
  return a;
}
inline __m512i _mm512_slli_epi32(__m512i a, unsigned n) {
  for (int32_t& lane : a.v) lane = static_cast<int32_t>(static_cast<uint32_t>(lane) << n);
  return a;
}
// A value that no int32 holds (NaN here) gives the "integer indefinite" value.
inline __m512i _mm512_cvtps_epi32(__m512 a) {
  __m512i r;
  for (int i = 0; i < 16; ++i)
    r.v[i] = std::fabs(a.v[i]) < 2147483648.0f ? static_cast<int32_t>(std::nearbyint(a.v[i])) : INT32_MIN;
  return r;
}
inline __m512 _mm512_castsi512_ps(__m512i a) {
  __m512 r;
  std::memcpy(&r, &a, sizeof r);
  return r;
}
inline EmulatedM256 _mm512_extractf32x8_ps(__m512 a, int half) {
  EmulatedM256 r;
  std::memcpy(r.v, a.v + 8 * half, sizeof r.v);
  return r;
}
inline EmulatedM256 _mm512_castps512_ps256(__m512 a) {
  return _mm512_extractf32x8_ps(a, 0);
}
inline EmulatedM256 _mm256_add_ps(EmulatedM256 a, EmulatedM256 b) {
  for (int i = 0; i < 8; ++i) a.v[i] += b.v[i];
  return a;
}
inline __m128 _mm256_extractf128_ps(EmulatedM256 a, int half) {
  return _mm_loadu_ps(a.v + 4 * half);
}
inline __m128 _mm256_castps256_ps128(EmulatedM256 a) {
  return _mm_loadu_ps(a.v);
}
inline __m128 _mm_movehdup_ps(__m128 a) {
  return _mm_shuffle_ps(a, a, _MM_SHUFFLE(3, 3, 1, 1));
}
