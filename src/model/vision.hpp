// The vision part of a model: loaded on first use, from the tensors of the release or from a GGUF projector.
#pragma once
#include <memory>

#include "layers/merger.hpp"
#include "layers/vision_block.hpp"
#include "model/vision_config.hpp"
#include "model/weights.hpp"

namespace clef::model {

struct VisionWeights : WeightStorage {
  Weight patch,
      patch_bias;    // [hidden, channels * temporal * patch * patch]: channels slowest, then frames, rows, columns
  Weight positions;  // [grid * grid, hidden]
  std::vector<layers::VisionBlockWeights> blocks;
  layers::MergerWeights merger;
};

struct Vision {
  VisionConfig config;
  Processor processor;
  VisionWeights weights;
};

// Configuration and processor alone; no weights are touched. missing_part when the model has no vision part.
struct VisionSettings {
  VisionConfig config;
  Processor processor;
};
base::Result<VisionSettings> vision_settings(const Package& package);

base::Result<std::unique_ptr<const Vision>> load_vision(const Package& package, const WeightOptions& options,
                                                        base::Memory& memory, base::Watch& watch);

}  // namespace clef::model
