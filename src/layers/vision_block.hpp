// One block of the vision tower: x += attention(norm1(x)), x += mlp(norm2(x)). Attention is full inside each frame, so the
// keys and values of all its rows come first.
#pragma once
#include <span>

#include "device/device.hpp"
#include "layers/buffers.hpp"
#include "layers/layer_norm.hpp"

namespace clef::layers {

struct VisionBlockWeights {
  LayerNormWeights norm1, norm2;
  device::Weight q, k, v, out;                      // [hidden, hidden]
  device::Weight q_bias, k_bias, v_bias, out_bias;  // [hidden]
  device::Weight up, up_bias;                       // [intermediate, hidden]
  device::Weight down, down_bias;                   // [hidden, intermediate]
};

struct VisionShape {
  int32_t heads = 0;
  float norm_eps = 0;
  double rope_theta = 0;
};

struct VisionBuffers {
  BufferPtr normed, queries, attended, inner;
  VisionBuffers() = default;
  VisionBuffers(Placement& placement, int64_t hidden, int64_t intermediate, int64_t rows);
};

// keys, values = rows of the block's keys (rotated) and values. positions: rows, then columns of the grid of patches.
void vision_keys_values(device::Device& device, const VisionBlockWeights& weights, const VisionShape& shape,
                        const VisionBuffers& buffers, device::Rows hidden, std::span<const int32_t> positions,
                        device::Rows keys, device::Rows values, int32_t block);

// Rows that belong to one frame, with the keys and values of all rows of that frame.
struct VisionSpan {
  int64_t first = 0, count = 0;  // of the rows given
  device::Rows keys, values;
};

// hidden += attention, then hidden += mlp.
base::Status vision_block(device::Device& device, const VisionBlockWeights& weights, const VisionShape& shape,
                          const VisionBuffers& buffers, device::Rows hidden, std::span<const int32_t> positions,
                          std::span<const VisionSpan> spans, int32_t block);

}  // namespace clef::layers
