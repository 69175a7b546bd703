#include "kernels/x86/x86.hpp"

namespace clef::kernels {

namespace {
const Table kTable = {"avx512", x86::gemm_f32_avx512, x86::exp_sum_f32_avx512, x86::silu_mul_f32_avx512,
                      x86::gelu_tanh_f32_avx512};
}  // namespace

const Table* avx512_table() {
  return &kTable;
}

}  // namespace clef::kernels
