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

// The backbone's part of a configuration; `head` stays empty.
base::Result<Config> config_from_json(const json::Value& config, std::string_view config_file);
base::Result<Config> config_from_gguf(const container::Gguf& gguf, std::string_view prefix);  // keys "[prefix]."

// The decision head. `hidden` is the backbone's; a head that reads other rows belongs to another model.
// From joint_head_config.json.
base::Result<HeadConfig> head_from_json(const json::Value& head, std::string_view file, int64_t hidden);
// From a GGUF file of architecture 'clef': keys, and widths from tensor shapes.
base::Result<HeadConfig> head_from_gguf(const container::Gguf& gguf, int64_t hidden);
// From a GGUF file as Ollama writes it: joint_head_config.json as keys "[prefix].decision.".
base::Result<HeadConfig> head_from_ollama(const container::Gguf& gguf, std::string_view prefix, int64_t hidden);

}  // namespace clef::model
