// The reference kernels: plain C++, the definition of each operation, the oracle in tests and the last choice.
#pragma once
#include "kernels/kernels.hpp"

namespace clef::kernels::ref {

void gemm_f32(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
              size_t ldc, int accumulate);
float exp_f32(float x);
float exp_sum_f32(float* x, size_t n, float maximum);
void silu_mul_f32(const float* gate, const float* up, float* out, size_t n);
void gelu_tanh_f32(const float* x, float* out, size_t n);

}  // namespace clef::kernels::ref
