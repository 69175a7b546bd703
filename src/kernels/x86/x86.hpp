// Entries of the x86 kernels, one file per operation and level.
#pragma once
#include "kernels/kernels.hpp"

namespace clef::kernels::x86 {

void gemm_f32_avx2(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                   size_t ldc, int accumulate);
float exp_sum_f32_avx2(float* x, size_t n, float maximum);
void silu_mul_f32_avx2(const float* gate, const float* up, float* out, size_t n);
void gelu_tanh_f32_avx2(const float* x, float* out, size_t n);

void gemm_f32_avx512(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                     size_t ldc, int accumulate);
float exp_sum_f32_avx512(float* x, size_t n, float maximum);
void silu_mul_f32_avx512(const float* gate, const float* up, float* out, size_t n);
void gelu_tanh_f32_avx512(const float* x, float* out, size_t n);

}  // namespace clef::kernels::x86
