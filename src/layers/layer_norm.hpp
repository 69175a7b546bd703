// Scale and bias of a layer norm.
#pragma once
#include "device/device.hpp"

namespace clef::layers {

struct LayerNormWeights {
  device::Weight scale, bias;
};

}  // namespace clef::layers
