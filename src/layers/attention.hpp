// Full attention with a gated output: rms-normed heads, partial interleaved M-RoPE, grouped K/V heads.
#pragma once
#include <span>

#include "device/device.hpp"
#include "layers/buffers.hpp"

namespace clef::layers {

struct AttentionWeights {
  device::Weight q_gate;          // [heads * 2 * head_dim, hidden]: per head [query | gate]
  device::Weight k, v;            // [kv_heads * head_dim, hidden]
  device::Weight out;             // [hidden, heads * head_dim]
  device::Weight q_norm, k_norm;  // [head_dim]
};

struct AttentionBuffers {
  BufferPtr q_gate, keys, values, out;
  AttentionBuffers() = default;
  AttentionBuffers(Placement& placement, const device::AttentionShape& shape, int64_t rows);
};

// hidden += attention(normed) for positions first ...; keys and values go into the cache.
void attention(device::Device& device, const AttentionWeights& weights, const device::AttentionShape& shape,
               const AttentionBuffers& buffers, device::Rows normed, std::span<const int32_t> rope_positions,
               int64_t first, device::KvCache& cache, device::Rows hidden, int32_t layer);

}  // namespace clef::layers
