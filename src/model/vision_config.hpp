// Geometry of the vision tower, and what the processor does to pictures before it.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "container/gguf.hpp"
#include "json/json.hpp"

namespace clef::model {

struct VisionConfig {
  int64_t hidden = 0, intermediate = 0;
  int64_t out = 0;  // the backbone's hidden size
  int32_t blocks = 0, heads = 0;
  int32_t channels = 3, patch = 16, temporal_patch = 2, merge = 2;
  int32_t grid = 0;  // side of the square of position embeddings
  float norm_eps = 1e-6f;
  double rope_theta = 10000;

  int64_t patch_values() const noexcept { return int64_t{channels} * temporal_patch * patch * patch; }
  int64_t merged_rows() const noexcept { return int64_t{merge} * merge; }  // patches of one token
};

// What processor_config.json says of pictures, or of the frames of a video. Limits are areas in pixels (volumes for
// videos), not edges.
struct PictureProcessor {
  int64_t shortest_edge = 0, longest_edge = 0;
  int32_t patch = 16, temporal_patch = 2, merge = 2;
  double mean[3] = {0.5, 0.5, 0.5}, std[3] = {0.5, 0.5, 0.5};
  double rescale_factor = 1.0 / 255.0;
};

// The defaults are those of Clef's own processor_config.json.
struct Processor {
  PictureProcessor image{65536, 16777216};
  PictureProcessor video{4096, 25165824};
  double fps = 2.0;
  int32_t min_frames = 4, max_frames = 768;
  bool sample_frames = true;
};

// `hidden` is the backbone's hidden size. Errors: bad_file, unsupported, with the field.
base::Result<VisionConfig> vision_config_from_json(const json::Value& config, std::string_view file, int64_t hidden);
base::Result<VisionConfig> vision_config_from_gguf(const container::Gguf& projector, int64_t hidden);

// Fields that are absent have the values of the reference's processor classes, which are not those of Clef.
base::Result<Processor> processor_from_json(const json::Value& root, std::string_view file);
// Absent keys leave Clef's own values; mean and deviation are 0.5 for this projector whatever old converters wrote.
base::Result<Processor> processor_from_gguf(const container::Gguf& projector);
// Patch sizes must be those of the tower.
base::Status check_processor(const Processor& processor, const VisionConfig& config, std::string_view file);

}  // namespace clef::model
