// The AVX-512 kernels compiled from their own sources against an emulation of their intrinsics. The folder of this file
// stands before src in the include path, so that no target region is opened; the namespace is renamed.
#include <immintrin.h>

#define x86 x86_emulated
#include "kernels/x86/exp_f32_avx512.cpp"
#include "kernels/x86/gemm_f32_avx512.cpp"

#include "tables.hpp"

namespace clef::test {

const kernels::Table* emulated_avx512_table() {
  static const kernels::Table table = {
      "avx512 (emulated)", kernels::x86_emulated::gemm_f32_avx512, kernels::x86_emulated::exp_sum_f32_avx512,
      kernels::x86_emulated::silu_mul_f32_avx512, kernels::x86_emulated::gelu_tanh_f32_avx512};
  return &table;
}

}  // namespace clef::test
