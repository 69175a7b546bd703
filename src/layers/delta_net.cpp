#include "layers/delta_net.hpp"

namespace clef::layers {

using device::Role;
using device::Rows;

DeltaNetBuffers::DeltaNetBuffers(Placement& placement, const device::DeltaShape& shape, int64_t rows) {
  const int64_t value_width = static_cast<int64_t>(shape.value_heads) * shape.value_dim;
  const int64_t channels = 2 * static_cast<int64_t>(shape.key_heads) * shape.key_dim + value_width;
  z = placement.place(rows, value_width, Role::activation);
  a = placement.place(rows, shape.value_heads, Role::activation);
  b = placement.place(rows, shape.value_heads, Role::activation);
  convolved = placement.place(rows, channels, Role::activation);
  // The convolution's input is dead once it is convolved: the results lie over it.
  const uint64_t mark = placement.mark();
  qkv = placement.place(rows, channels, Role::activation);
  placement.back_to(mark);
  core = placement.place(rows, value_width, Role::activation);
  gated = placement.place(rows, value_width, Role::matmul_input);
}

void delta_net(device::Device& device, const DeltaNetWeights& weights, const device::DeltaShape& shape, float norm_eps,
               const DeltaNetBuffers& buffers, Rows normed, int64_t first, device::DeltaState& state, Rows hidden,
               int32_t layer) {
  const auto rows = [&](const BufferPtr& buffer) { return Rows{buffer.get(), 0, normed.count}; };
  const device::Product in[] = {{&weights.qkv, rows(buffers.qkv)},
                                {&weights.z, rows(buffers.z)},
                                {&weights.a, rows(buffers.a)},
                                {&weights.b, rows(buffers.b)}};
  device.matmul(normed, in);
  device.causal_conv_silu(rows(buffers.qkv), weights.conv, shape, state, rows(buffers.convolved));
  device.delta_rule(rows(buffers.convolved), rows(buffers.a), rows(buffers.b), weights.a_scale, weights.dt_bias, shape,
                    first, state, rows(buffers.core), {layer, "gated delta rule"});
  device.gated_norm(rows(buffers.core), rows(buffers.z), weights.norm, norm_eps, shape.value_dim, rows(buffers.gated),
                    {layer, "gated norm"});
  const device::Product add[] = {{&weights.out, hidden, device::Epilogue::add_residual}};
  device.matmul(rows(buffers.gated), add);
}

}  // namespace clef::layers
