// The vision tower's last layer: groups of neighbouring patches become one row for the backbone:
// fc2(gelu(fc1(norm of each patch, side by side))).
#pragma once
#include "layers/vision_block.hpp"

namespace clef::layers {

struct MergerWeights {
  LayerNormWeights norm;           // of one patch
  device::Weight up, up_bias;      // [n * hidden, n * hidden] for n patches of a group
  device::Weight down, down_bias;  // [out, n * hidden]
};

struct MergerBuffers {
  BufferPtr normed, inner;
  MergerBuffers() = default;
  // `rows`: groups
  MergerBuffers(Placement& placement, int64_t group_width, int64_t rows);
};

// `out` has one row for each group of consecutive rows of `hidden`.
void merger(device::Device& device, const MergerWeights& weights, float norm_eps, const MergerBuffers& buffers,
            device::Rows hidden, device::Rows out);

}  // namespace clef::layers
