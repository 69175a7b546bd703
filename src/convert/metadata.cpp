// The keys that describe the model.
#include "convert/metadata.hpp"

#include <string>

namespace clef::convert {

using model::Config;
using model::LayerKind;

namespace {

// Keys of the written file itself, and those that say how the source was made.
bool is_own(std::string_view key) noexcept {
  return key == "general.architecture" || key == "general.type" || key == "general.name" ||
         key == "general.file_type" || key == "general.quantization_version" || key == "general.alignment" ||
         !key.starts_with("general.");
}

// Every n-th layer is full attention; 0 when there is no such n.
uint64_t attention_interval(const Config& config) noexcept {
  uint64_t interval = 0;
  for (size_t i = 0; i < config.layers.size() && interval == 0; ++i)
    if (config.layers[i] == LayerKind::attention) interval = i + 1;
  for (size_t i = 0; i < config.layers.size(); ++i) {
    const bool attention = interval != 0 && (i + 1) % interval == 0;
    if (attention != (config.layers[i] == LayerKind::attention)) return 0;
  }
  return interval;
}

void add_general_keys(const model::Package& package, std::string_view architecture, GgufHeader& out) {
  out.add("general.architecture", architecture);
  out.add("general.type", "model");
  std::string_view name = package.name;
  if (package.gguf != nullptr) package.gguf->get_string("general.name", name);
  out.add("general.name", name);
  if (package.gguf == nullptr) return;
  for (const auto& [key, value] : package.gguf->keys) {
    const auto* text = std::get_if<std::string_view>(&value.value);
    if (text != nullptr && !is_own(key)) out.add(key, *text);
  }
}

}  // namespace

void add_model_keys(const model::Package& package, Architecture architecture, int32_t file_type, GgufHeader& out) {
  const Config& config = package.config;
  const std::string prefix = architecture == Architecture::clef ? "clef." : "qwen35.";
  const auto number = [&](const char* key, int64_t value) { out.add_u32(prefix + key, static_cast<uint64_t>(value)); };
  add_general_keys(package, prefix.substr(0, prefix.size() - 1), out);
  number("block_count", static_cast<int64_t>(config.layers.size()));
  number("context_length", config.max_positions);
  number("embedding_length", config.hidden);
  number("feed_forward_length", config.intermediate);
  number("attention.head_count", config.heads);
  number("attention.head_count_kv", config.kv_heads);
  const int32_t sections[] = {config.rope_sections[0], config.rope_sections[1], config.rope_sections[2], 0};
  out.add_i32s(prefix + "rope.dimension_sections", sections);
  out.add_f32(prefix + "rope.freq_base", config.rope_theta);
  out.add_f32(prefix + "attention.layer_norm_rms_epsilon", static_cast<double>(config.norm_eps));
  number("attention.key_length", config.head_dim);
  number("attention.value_length", config.head_dim);
  out.add_u32("general.file_type", static_cast<uint64_t>(file_type));
  number("ssm.conv_kernel", config.conv_width);
  number("ssm.state_size", config.key_dim);
  number("ssm.group_count", config.key_heads);
  number("ssm.time_step_rank", config.value_heads);
  number("ssm.inner_size", int64_t{config.value_heads} * config.value_dim);
  std::vector<bool> recurrent;
  for (const LayerKind kind : config.layers) recurrent.push_back(kind == LayerKind::delta_net);
  out.add_bools(prefix + "attention.recurrent_layers", recurrent);
  if (const uint64_t interval = attention_interval(config); interval != 0)
    out.add_u32(prefix + "full_attention_interval", interval);
  number("rope.dimension_count", config.rotary_dims);
  if (architecture == Architecture::clef) {
    out.add(prefix + "decision.type", "clef");
    number("decision.routing_block_count", config.head.routing_layers);
    number("decision.block_count", config.head.decoder_layers);
    number("decision.head_count", config.head.heads);
    out.add_f32(prefix + "attention.layer_norm_epsilon", static_cast<double>(config.head.norm_eps));
  }
  out.add_u32("general.quantization_version", 2);
}

}  // namespace clef::convert
