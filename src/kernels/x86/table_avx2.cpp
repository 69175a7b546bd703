#include "kernels/x86/x86.hpp"

namespace clef::kernels {

namespace {
const Table kTable = {"avx2", x86::gemm_f32_avx2, x86::exp_sum_f32_avx2, x86::silu_mul_f32_avx2,
                      x86::gelu_tanh_f32_avx2};
}  // namespace

const Table* avx2_table() {
  return &kTable;
}

}  // namespace clef::kernels
