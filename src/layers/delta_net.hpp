// Gated DeltaNet: causal convolution, gated delta rule, gated norm.
#pragma once
#include "device/device.hpp"
#include "layers/buffers.hpp"

namespace clef::layers {

struct DeltaNetWeights {
  device::Weight qkv;      // [2 * key_heads * key_dim + value_heads * value_dim, hidden]: q, k, v
  device::Weight z;        // [value_heads * value_dim, hidden]
  device::Weight a, b;     // [value_heads, hidden]
  device::Weight conv;     // [channels, conv_width], f32
  device::Weight a_scale;  // [value_heads]: -exp(A_log)
  device::Weight dt_bias;  // [value_heads]
  device::Weight norm;     // [value_dim]
  device::Weight out;      // [hidden, value_heads * value_dim]
};

struct DeltaNetBuffers {
  BufferPtr qkv, z, a, b, convolved, core, gated;
  DeltaNetBuffers() = default;
  DeltaNetBuffers(Placement& placement, const device::DeltaShape& shape, int64_t rows);
};

// hidden += delta_net(normed) for positions first ... (first: a multiple of 64); the state moves on.
void delta_net(device::Device& device, const DeltaNetWeights& weights, const device::DeltaShape& shape, float norm_eps,
               const DeltaNetBuffers& buffers, device::Rows normed, int64_t first, device::DeltaState& state,
               device::Rows hidden, int32_t layer);

}  // namespace clef::layers
