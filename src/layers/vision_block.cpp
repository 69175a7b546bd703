#include "layers/vision_block.hpp"

#include <memory>
#include <vector>

namespace clef::layers {

using device::Epilogue;
using device::Product;
using device::Role;
using device::Rows;

VisionBuffers::VisionBuffers(Placement& placement, int64_t hidden, int64_t intermediate, int64_t rows) {
  normed = placement.place(rows, hidden, Role::matmul_input);
  const uint64_t mark = placement.mark();
  queries = placement.place(rows, hidden, Role::activation);
  attended = placement.place(rows, hidden, Role::matmul_input);
  placement.back_to(mark);
  inner = placement.place(rows, intermediate, Role::matmul_input);
}

void vision_keys_values(device::Device& device, const VisionBlockWeights& weights, const VisionShape& shape,
                        const VisionBuffers& buffers, Rows hidden, std::span<const int32_t> positions, Rows keys,
                        Rows values, int32_t block) {
  const Rows normed{buffers.normed.get(), 0, hidden.count};
  device.layer_norm(hidden, weights.norm1.scale, weights.norm1.bias, shape.norm_eps, normed,
                    {block, "vision attention norm"});
  const Product products[] = {{&weights.k, keys, Epilogue::store, &weights.k_bias},
                              {&weights.v, values, Epilogue::store, &weights.v_bias}};
  device.matmul(normed, products);
  device.rotate_2d(keys, positions, shape.heads, shape.rope_theta);
}

base::Status vision_block(device::Device& device, const VisionBlockWeights& weights, const VisionShape& shape,
                          const VisionBuffers& buffers, Rows hidden, std::span<const int32_t> positions,
                          std::span<const VisionSpan> spans, int32_t block) {
  const Rows normed{buffers.normed.get(), 0, hidden.count}, queries{buffers.queries.get(), 0, hidden.count},
      attended{buffers.attended.get(), 0, hidden.count}, inner{buffers.inner.get(), 0, hidden.count};
  device.layer_norm(hidden, weights.norm1.scale, weights.norm1.bias, shape.norm_eps, normed,
                    {block, "vision attention norm"});
  const Product query[] = {{&weights.q, queries, Epilogue::store, &weights.q_bias}};
  device.matmul(normed, query);
  device.rotate_2d(queries, positions, shape.heads, shape.rope_theta);
  std::vector<std::unique_ptr<device::AttendState>> states;  // until the work is done
  for (const VisionSpan& span : spans) {
    CLEF_ASSIGN_OR_RETURN(auto state, device.allocate_attend(span.count, shape.heads, buffers.queries->columns()));
    device.attend({buffers.queries.get(), span.first, span.count}, span.keys, span.values, shape.heads, *state);
    device.attend_finish(*state, {buffers.attended.get(), span.first, span.count});
    states.push_back(std::move(state));
  }
  const Product out[] = {{&weights.out, hidden, Epilogue::add_residual, &weights.out_bias}};
  device.matmul(attended, out);
  CLEF_RETURN_IF_ERROR(device.sync());  // the states may go
  device.layer_norm(hidden, weights.norm2.scale, weights.norm2.bias, shape.norm_eps, normed,
                    {block, "vision mlp norm"});
  const Product up[] = {{&weights.up, inner, Epilogue::gelu_tanh, &weights.up_bias}};
  device.matmul(normed, up);
  const Product down[] = {{&weights.down, hidden, Epilogue::add_residual, &weights.down_bias}};
  device.matmul(inner, down);
  return {};
}

}  // namespace clef::layers
