// Sizes of a model.
#pragma once
#include <cstdint>
#include <string>

namespace synth {

struct Geometry {
  std::string name;
  int64_t vocabulary = 248320, hidden = 4096, intermediate = 12288;
  int64_t layers = 32, interval = 4;  // layer i is full attention when (i + 1) % interval == 0
  int64_t heads = 16, kv_heads = 4, head_dim = 256;
  int64_t key_heads = 16, value_heads = 32, key_dim = 128, value_dim = 128, conv_width = 4;
  int64_t context = 262144, rotary_dims = 64;
  int64_t rope_sections[3] = {11, 11, 10};
  double rope_theta = 1e7, norm_eps = 1e-6;
  // The decision head.
  int64_t width = 1024, feedforward = 4096, routing_layers = 2, decoder_layers = 4, head_heads = 16;
  // The vision tower.
  int64_t vision_hidden = 1152, vision_intermediate = 4304, vision_blocks = 27, vision_heads = 16, vision_grid = 48;
  int64_t patch = 16, temporal_patch = 2, merge = 2;

  bool attention(int64_t layer) const { return (layer + 1) % interval == 0; }
};

// "clef-flash", "clef", or the path of a config.json (joint_head_config.json beside it gives the head). Throws
// std::runtime_error.
Geometry read_geometry(const std::string& preset_or_path);

}  // namespace synth
