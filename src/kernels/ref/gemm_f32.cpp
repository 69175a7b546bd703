#include "kernels/ref/ref.hpp"

namespace clef::kernels::ref {

// Blocks of kRows x kColumns keep the sums in registers on any compiler; the order inside each sum stays that of k.
void gemm_f32(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
              size_t ldc, int accumulate) {
  constexpr size_t kRows = 4, kColumns = 8;
  for (size_t i0 = 0; i0 < m; i0 += kRows) {
    const size_t rows = m - i0 < kRows ? m - i0 : kRows;
    for (size_t j0 = 0; j0 < n; j0 += kColumns) {
      const size_t columns = n - j0 < kColumns ? n - j0 : kColumns;
      float sum[kRows][kColumns] = {};
      if (rows == kRows && columns == kColumns) {
        for (size_t p = 0; p < k; ++p)
          for (size_t i = 0; i < kRows; ++i)
            for (size_t j = 0; j < kColumns; ++j) sum[i][j] += a[(i0 + i) * lda + p] * b[p * ldb + j0 + j];
      } else {
        for (size_t p = 0; p < k; ++p)
          for (size_t i = 0; i < rows; ++i)
            for (size_t j = 0; j < columns; ++j) sum[i][j] += a[(i0 + i) * lda + p] * b[p * ldb + j0 + j];
      }
      for (size_t i = 0; i < rows; ++i) {
        float* out = c + (i0 + i) * ldc + j0;
        for (size_t j = 0; j < columns; ++j) out[j] = accumulate ? out[j] + sum[i][j] : sum[i][j];
      }
    }
  }
}

}  // namespace clef::kernels::ref
