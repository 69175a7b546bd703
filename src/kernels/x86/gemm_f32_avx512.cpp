// Tile: 6 rows x 64 columns = 24 sums, 4 registers of B, broadcasts of A from memory; 32 registers in all.
#include <immintrin.h>

#include "kernels/x86/x86.hpp"

#include "kernels/x86/avx512_begin.hpp"

namespace clef::kernels::x86 {
namespace {

template <int kRows>
static inline void tile(size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc,
                        int accumulate) {
  __m512 sum[kRows][4];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) sum[i][j] = _mm512_setzero_ps();
  }
  for (size_t p = 0; p < k; ++p) {
    const float* row = b + p * ldb;
    const __m512 b0 = _mm512_loadu_ps(row), b1 = _mm512_loadu_ps(row + 16), b2 = _mm512_loadu_ps(row + 32),
                 b3 = _mm512_loadu_ps(row + 48);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i) {
      const __m512 x = _mm512_set1_ps(a[static_cast<size_t>(i) * lda + p]);
      sum[i][0] = _mm512_fmadd_ps(x, b0, sum[i][0]);
      sum[i][1] = _mm512_fmadd_ps(x, b1, sum[i][1]);
      sum[i][2] = _mm512_fmadd_ps(x, b2, sum[i][2]);
      sum[i][3] = _mm512_fmadd_ps(x, b3, sum[i][3]);
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    float* out = c + static_cast<size_t>(i) * ldc;
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const __m512 old = accumulate ? _mm512_loadu_ps(out + 16 * j) : _mm512_setzero_ps();
      _mm512_storeu_ps(out + 16 * j, accumulate ? _mm512_add_ps(old, sum[i][j]) : sum[i][j]);
    }
  }
}

// The last n % 64 columns, by at most 16.
template <int kRows>
static inline void edge(size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c, size_t ldc,
                        int accumulate, __mmask16 mask) {
  __m512 sum[kRows];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) sum[i] = _mm512_setzero_ps();
  for (size_t p = 0; p < k; ++p) {
    const __m512 b0 = _mm512_maskz_loadu_ps(mask, b + p * ldb);
#pragma GCC unroll 6
    for (int i = 0; i < kRows; ++i)
      sum[i] = _mm512_fmadd_ps(_mm512_set1_ps(a[static_cast<size_t>(i) * lda + p]), b0, sum[i]);
  }
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
    float* out = c + static_cast<size_t>(i) * ldc;
    if (accumulate) sum[i] = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, out), sum[i]);
    _mm512_mask_storeu_ps(out, mask, sum[i]);
  }
}

template <int kRows>
static inline void rows(size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                        size_t ldc, int accumulate) {
  size_t j = 0;
  for (; j + 64 <= n; j += 64) tile<kRows>(k, a, lda, b + j, ldb, c + j, ldc, accumulate);
  for (; j < n; j += 16) {
    const size_t left = n - j;
    const __mmask16 mask = static_cast<__mmask16>(left < 16 ? (1u << left) - 1u : 0xFFFFu);
    edge<kRows>(k, a, lda, b + j, ldb, c + j, ldc, accumulate, mask);
  }
}

}  // namespace

void gemm_f32_avx512(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
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
