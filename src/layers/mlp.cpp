#include "layers/mlp.hpp"

namespace clef::layers {

void mlp(device::Device& device, const device::Weight& gate, const device::Weight& up, const device::Weight& down,
         const MlpBuffers& buffers, device::Rows normed, device::Rows hidden) {
  const device::Rows inner{buffers.inner.get(), 0, normed.count};
  const device::Product in[] = {{&gate, inner, device::Epilogue::silu_mul, nullptr, &up}};
  device.matmul(normed, in);
  const device::Product add[] = {{&down, hidden, device::Epilogue::add_residual}};
  device.matmul(inner, add);
}

}  // namespace clef::layers
