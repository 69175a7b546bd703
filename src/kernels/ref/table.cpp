#include "kernels/ref/ref.hpp"

namespace clef::kernels {

const Table kRefTable = {"baseline", ref::gemm_f32, ref::exp_sum_f32, ref::silu_mul_f32, ref::gelu_tanh_f32};

}  // namespace clef::kernels
