#include "layers/merger.hpp"

namespace clef::layers {

using device::Epilogue;
using device::Product;
using device::Role;
using device::Rows;

MergerBuffers::MergerBuffers(Placement& placement, int64_t group_width, int64_t rows) {
  normed = placement.place(rows, group_width, Role::matmul_input);
  inner = placement.place(rows, group_width, Role::matmul_input);
}

void merger(device::Device& device, const MergerWeights& weights, float norm_eps, const MergerBuffers& buffers,
            Rows hidden, Rows out) {
  const Rows normed{buffers.normed.get(), 0, out.count}, inner{buffers.inner.get(), 0, out.count};
  device.layer_norm(hidden, weights.norm.scale, weights.norm.bias, norm_eps, normed, {-1, "vision merger norm"});
  const Product up[] = {{&weights.up, inner, Epilogue::gelu, &weights.up_bias}};
  device.matmul(normed, up);
  const Product down[] = {{&weights.down, out, Epilogue::store, &weights.down_bias}};
  device.matmul(inner, down);
}

}  // namespace clef::layers
