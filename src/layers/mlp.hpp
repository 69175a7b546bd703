// The feed-forward layer: down(silu(gate(x)) * up(x)).
#pragma once
#include "device/device.hpp"
#include "layers/buffers.hpp"

namespace clef::layers {

struct MlpBuffers {
  BufferPtr inner;
  MlpBuffers() = default;
  MlpBuffers(Placement& placement, int64_t intermediate, int64_t rows) {
    inner = placement.place(rows, intermediate, device::Role::matmul_input);
  }
};

// hidden += mlp(normed)
void mlp(device::Device& device, const device::Weight& gate, const device::Weight& up, const device::Weight& down,
         const MlpBuffers& buffers, device::Rows normed, device::Rows hidden);

}  // namespace clef::layers
