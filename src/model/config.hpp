// Geometry of a model, read from its files alone.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "container/gguf.hpp"
#include "json/json.hpp"

namespace clef::model {

enum class LayerKind : uint8_t { delta_net, attention };

struct HeadConfig {
  int64_t width = 0, feedforward = 0;
  int32_t routing_layers = 0, decoder_layers = 0, heads = 0;
  float norm_eps = 1e-5f;
};

struct Config {
  int64_t vocabulary = 0, hidden = 0, intermediate = 0;
  std::vector<LayerKind> layers;
  int32_t heads = 0, kv_heads = 0, head_dim = 0;
  int32_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, conv_width = 0;
  float norm_eps = 1e-6f;
  double rope_theta = 0;
  int32_t rotary_dims = 0;
  int32_t rope_sections[3] = {0, 0, 0};
  int64_t max_positions = 0;
  bool tied_embeddings = false;
  HeadConfig head;
};

// Whether config.json is that of a backbone that clef runs: not_clef or unsupported otherwise, saying what it is.
base::Status recognise_config(const json::Value& config, std::string_view config_file);

// From config.json and joint_head_config.json.
base::Result<Config> config_from_json(const json::Value& config, std::string_view config_file, const json::Value& head,
                                      std::string_view head_file);
// From GGUF keys under `prefix` ("clef"); head width and FFN size come from tensor shapes.
base::Result<Config> config_from_gguf(const container::Gguf& gguf, std::string_view prefix);

}  // namespace clef::model
