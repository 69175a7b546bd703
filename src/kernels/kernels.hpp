// The compute kernels: signatures, the table of one instruction set level, its selection. Kernel files include nothing
// else of the project, hold no templates of the standard library and no dynamic initialisers.
//
// Every output element is computed in an order that depends on its own operands only, so results do not change with the
// number of rows given at once.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace clef::kernels {

// C[m, n] = A[m, k] B[k, n], or C += A B when accumulate != 0; all f32 and row-major with leading dimensions lda, ldb,
// ldc. Each product is one chain of k multiply-adds in rising order of k that starts from 0 and is added to C once.
using GemmF32 = void (*)(size_t m, size_t n, size_t k, const float* a, size_t lda, const float* b, size_t ldb, float* c,
                         size_t ldc, int accumulate);

// x[i] = exp(x[i] - maximum) for i < n, n a multiple of 64 (the caller pads with -infinity). Returns the sum, taken in
// an order fixed by the kernel.
using ExpSumF32 = float (*)(float* x, size_t n, float maximum);

// out[i] = gate[i] / (1 + exp(-gate[i])) * up[i] for i < n; out may be gate or up.
using SiluMulF32 = void (*)(const float* gate, const float* up, float* out, size_t n);

// out[i] = x[i] / (1 + exp(-2 y)), y = sqrt(2 / pi) (x[i] + 0.044715 x[i]^3), for i < n: GELU in its tanh form; out may be x.
using GeluTanhF32 = void (*)(const float* x, float* out, size_t n);

struct Table {
  const char* name;  // "avx2"
  GemmF32 gemm_f32;
  ExpSumF32 exp_sum_f32;
  SiluMulF32 silu_mul_f32;
  GeluTanhF32 gelu_tanh_f32;
};

// The levels, one file per operation and level behind each; null where this architecture has none.
extern const Table kRefTable;
const Table* avx2_table();
const Table* avx512_table();

// The table of a level (the numbers of base::IsaLevel); levels that this build or architecture lacks give the next
// lower one.
const Table& table(int isa_level);

}  // namespace clef::kernels
