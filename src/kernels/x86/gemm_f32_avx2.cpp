// Tile: 6 rows x 16 columns = 12 sums, 2 registers of B, 1 broadcast of A; 16 registers in all.
#include <immintrin.h>

#include "kernels/x86/x86.hpp"

#include "kernels/x86/avx2_begin.hpp"

namespace clef::kernels::x86 {
namespace {

// Lanes below `count` all ones.
static inline __m256i lane_mask(long count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

template <int kRows>
static inline void tile(size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc,
                        int accumulate) {
  __m256 low[kRows], high[kRows];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) low[i] = _mm256_setzero_ps(), high[i] = _mm256_setzero_ps();
  for (size_t p = 0; p < k; ++p) {
    const __m256 b0 = _mm256_loadu_ps(b + p * ldb), b1 = _mm256_loadu_ps(b + p * ldb + 8);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m256 x = _mm256_broadcast_ss(a + static_cast<size_t>(i) * lda + p);
      low[i] = _mm256_fmadd_ps(x, b0, low[i]);
      high[i] = _mm256_fmadd_ps(x, b1, high[i]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    float* out = c + static_cast<size_t>(i) * ldc;
    if (accumulate) {
      low[i] = _mm256_add_ps(_mm256_loadu_ps(out), low[i]);
      high[i] = _mm256_add_ps(_mm256_loadu_ps(out + 8), high[i]);
    }
    _mm256_storeu_ps(out, low[i]);
    _mm256_storeu_ps(out + 8, high[i]);
  }
}

// The last n % 16 columns, by at most 8.
template <int kRows>
static inline void edge(size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc,
                        int accumulate, __m256i mask) {
  __m256 sum[kRows];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) sum[i] = _mm256_setzero_ps();
  for (size_t p = 0; p < k; ++p) {
    const __m256 b0 = _mm256_maskload_ps(b + p * ldb, mask);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i)
      sum[i] = _mm256_fmadd_ps(_mm256_broadcast_ss(a + static_cast<size_t>(i) * lda + p), b0, sum[i]);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    float* out = c + static_cast<size_t>(i) * ldc;
    if (accumulate) sum[i] = _mm256_add_ps(_mm256_maskload_ps(out, mask), sum[i]);
    _mm256_maskstore_ps(out, mask, sum[i]);
  }
}

template <int kRows>
static inline void rows(size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                        size_t ldc, int accumulate) {
  size_t j = 0;
  for (; j + 16 <= n; j += 16) tile<kRows>(k, a, lda, b + j, ldb, c + j, ldc, accumulate);
  for (; j < n; j += 8) {
    const size_t left = n - j;
    edge<kRows>(k, a, lda, b + j, ldb, c + j, ldc, accumulate, lane_mask(static_cast<long>(left < 8 ? left : 8)));
  }
}

}  // namespace

void gemm_f32_avx2(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                   size_t ldc, int accumulate) {
  size_t i = 0;
  for (; i + 6 <= m; i += 6) rows<6>(n, k, a + i * lda, lda, b, ldb, c + i * ldc, ldc, accumulate);
  a += i * lda, c += i * ldc;
  switch (m - i) {
    case 1:
      rows<1>(n, k, a, lda, b, ldb, c, ldc, accumulate);
      break;
    case 2:
      rows<2>(n, k, a, lda, b, ldb, c, ldc, accumulate);
      break;
    case 3:
      rows<3>(n, k, a, lda, b, ldb, c, ldc, accumulate);
      break;
    case 4:
      rows<4>(n, k, a, lda, b, ldb, c, ldc, accumulate);
      break;
    case 5:
      rows<5>(n, k, a, lda, b, ldb, c, ldc, accumulate);
      break;
    default:
      break;
  }
}

}  // namespace clef::kernels::x86

#include "kernels/x86/end.hpp"
