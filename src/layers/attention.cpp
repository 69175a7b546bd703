#include "layers/attention.hpp"

namespace clef::layers {

using device::Role;
using device::Rows;

AttentionBuffers::AttentionBuffers(Placement& placement, const device::AttentionShape& shape, int64_t rows) {
  const int64_t width = static_cast<int64_t>(shape.heads) * shape.head_dim;
  const int64_t kv_width = static_cast<int64_t>(shape.kv_heads) * shape.head_dim;
  q_gate = placement.place(rows, 2 * width, Role::activation);
  keys = placement.place(rows, kv_width, Role::activation);
  values = placement.place(rows, kv_width, Role::activation);
  out = placement.place(rows, width, Role::matmul_input);
}

void attention(device::Device& device, const AttentionWeights& weights, const device::AttentionShape& shape,
               const AttentionBuffers& buffers, Rows normed, std::span<const int32_t> rope_positions, int64_t first,
               device::KvCache& cache, Rows hidden, int32_t layer) {
  const Rows q_gate{buffers.q_gate.get(), 0, normed.count}, keys{buffers.keys.get(), 0, normed.count},
      values{buffers.values.get(), 0, normed.count}, out{buffers.out.get(), 0, normed.count};
  const device::Product in[] = {{&weights.q_gate, q_gate}, {&weights.k, keys}, {&weights.v, values}};
  device.matmul(normed, in);
  device.attention_prepare(q_gate, keys, values, weights.q_norm, weights.k_norm, rope_positions, shape, first, cache,
                           {layer, "attention q and k norm"});
  device.attention(q_gate, cache, shape, first, out);
  const device::Product add[] = {{&weights.out, hidden, device::Epilogue::add_residual}};
  device.matmul(out, add);
}

}  // namespace clef::layers
