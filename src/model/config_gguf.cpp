// The configuration of a GGUF file: keys under the architecture's prefix, the head's widths from tensor shapes.
#include <algorithm>
#include <cmath>

#include "model/config.hpp"
#include "model/config_checks.hpp"
#include "model/config_keys.hpp"
#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::Gguf;

namespace {

// A scalar, or an array whose entries at layers of `kind` agree (others are not looked at).
Status scalar_or_layers(const Keys& keys, std::string_view key, int64_t high, const Config& config, bool attention_only,
                        int32_t& out) {
  const std::vector<int64_t>* values = nullptr;
  CLEF_RETURN_IF_ERROR(keys.per_layer(key, config.layers.size(), values));
  if (!values) return keys.integer(key, 1, high, out);
  out = 0;
  for (size_t i = 0; i < values->size(); ++i) {
    if (attention_only && config.layers[i] != LayerKind::attention) continue;
    CLEF_RETURN_IF_ERROR(keys.in_range(key, (*values)[i], 1, high));
    if (out != 0 && out != (*values)[i])
      return keys.error(Code::unsupported, key, "differs between layers; clef needs one value for all");
    out = static_cast<int32_t>((*values)[i]);
  }
  return out != 0 ? Status() : keys.error(Code::bad_file, key, "names no layer with attention");
}

Status read_layers(const Keys& keys, Config& config) {
  size_t count = 0;
  CLEF_RETURN_IF_ERROR(keys.integer("block_count", 1, kMaxLayers, count));
  const std::vector<int64_t>* recurrent = nullptr;
  CLEF_RETURN_IF_ERROR(keys.per_layer("attention.recurrent_layers", count, recurrent));
  if (!recurrent && keys.has("attention.recurrent_layers"))
    return keys.error(Code::bad_file, "attention.recurrent_layers", "is not an array of booleans");
  const std::vector<int64_t>* kv_heads = nullptr;
  CLEF_RETURN_IF_ERROR(keys.per_layer("attention.head_count_kv", count, kv_heads));
  const bool zeros = kv_heads && std::find(kv_heads->begin(), kv_heads->end(), 0) != kv_heads->end();
  int64_t interval = 4;
  if (keys.has("full_attention_interval"))
    CLEF_RETURN_IF_ERROR(keys.integer("full_attention_interval", 1, kMaxLayers, interval));
  for (size_t i = 0; i < count; ++i) {
    bool delta = (static_cast<int64_t>(i) + 1) % interval != 0;
    if (recurrent) {
      delta = (*recurrent)[i] != 0;
    } else if (zeros) {
      delta = (*kv_heads)[i] == 0;
    }
    config.layers.push_back(delta ? LayerKind::delta_net : LayerKind::attention);
  }
  return {};
}

Status read_rope(const Gguf& gguf, const Keys& keys, Config& config) {
  std::string_view scaling;
  if (gguf.get_string(keys.name("rope.scaling.type"), scaling) && scaling != "none")
    return keys.error(Code::unsupported, "rope.scaling.type", "is " + quoted(scaling) + "; clef computes only 'none'");
  CLEF_RETURN_IF_ERROR(keys.real("rope.freq_base", 1.0, 1e15, config.rope_theta));
  CLEF_RETURN_IF_ERROR(keys.integer("rope.dimension_count", 2, kMaxHeadDim, config.rotary_dims));
  std::copy(std::begin(kDefaultSections), std::end(kDefaultSections), config.rope_sections);
  if (!keys.has("rope.dimension_sections")) return {};
  const std::vector<int64_t>* sections = keys.array("rope.dimension_sections");
  if (!sections || sections->size() < 3 || sections->size() > 4 || (sections->size() == 4 && (*sections)[3] != 0))
    return keys.error(Code::bad_file, "rope.dimension_sections", "must be three integers and a 0");
  for (size_t axis = 0; axis < 3; ++axis) {
    CLEF_RETURN_IF_ERROR(keys.in_range("rope.dimension_sections", (*sections)[axis], 0, kMaxHeadDim));
    config.rope_sections[axis] = static_cast<int32_t>((*sections)[axis]);
  }
  return {};
}

Status read_delta_net(const Keys& keys, Config& config) {
  CLEF_RETURN_IF_ERROR(keys.integer("ssm.group_count", 1, kMaxHeads, config.key_heads));
  CLEF_RETURN_IF_ERROR(keys.integer("ssm.time_step_rank", 1, kMaxHeads, config.value_heads));
  CLEF_RETURN_IF_ERROR(keys.integer("ssm.state_size", 1, kMaxHeadDim, config.key_dim));
  CLEF_RETURN_IF_ERROR(keys.integer("ssm.conv_kernel", 1, kMaxConvWidth, config.conv_width));
  int64_t inner = 0;
  CLEF_RETURN_IF_ERROR(keys.integer("ssm.inner_size", 1, kMaxHeads * kMaxHeadDim, inner));
  if (inner % config.value_heads != 0 || inner / config.value_heads > kMaxHeadDim)
    return keys.error(Code::bad_file, "ssm.inner_size",
                      "is " + std::to_string(inner) + ", which does not divide among " +
                          std::to_string(config.value_heads) + " value heads");
  config.value_dim = static_cast<int32_t>(inner / config.value_heads);
  return {};
}

// The first two dimensions of a matrix that tells a width.
Status matrix_shape(const Gguf& gguf, const std::string& file, std::string_view tensor, int64_t& out, int64_t& in) {
  for (const container::TensorView& view : gguf.tensors) {
    if (view.name != tensor) continue;
    if (view.shape.size() != 2)
      return tensor_error(Code::bad_file, view.source->name(), tensor,
                          "is " + container::describe(view) + "; it must be a matrix");
    out = view.shape[0], in = view.shape[1];
    return {};
  }
  return tensor_error(Code::missing_part, file, tensor, "is missing; use a complete GGUF file of Clef");
}

Status width_in_range(const std::string& file, std::string_view tensor, int64_t width, int64_t high) {
  if (width >= 1 && width <= high) return {};
  return tensor_error(Code::bad_file, file, tensor, "has an impossible size, " + std::to_string(width));
}

}  // namespace

base::Result<Config> config_from_gguf(const Gguf& gguf, std::string_view prefix) {
  const Keys keys(gguf, prefix);
  Config config;
  int64_t unused = 0;
  CLEF_RETURN_IF_ERROR(matrix_shape(gguf, keys.file(), "token_embd.weight", config.vocabulary, unused));
  CLEF_RETURN_IF_ERROR(width_in_range(keys.file(), "token_embd.weight", config.vocabulary, kMaxVocabulary));
  CLEF_RETURN_IF_ERROR(keys.integer("embedding_length", 1, kMaxWidth, config.hidden));
  CLEF_RETURN_IF_ERROR(read_layers(keys, config));
  int32_t intermediate = 0;
  CLEF_RETURN_IF_ERROR(scalar_or_layers(keys, "feed_forward_length", kMaxWidth, config, false, intermediate));
  config.intermediate = intermediate;
  CLEF_RETURN_IF_ERROR(scalar_or_layers(keys, "attention.head_count", kMaxHeads, config, true, config.heads));
  CLEF_RETURN_IF_ERROR(scalar_or_layers(keys, "attention.head_count_kv", kMaxHeads, config, true, config.kv_heads));
  CLEF_RETURN_IF_ERROR(keys.integer("attention.key_length", 2, kMaxHeadDim, config.head_dim));
  int32_t value_length = 0;
  CLEF_RETURN_IF_ERROR(keys.integer("attention.value_length", 2, kMaxHeadDim, value_length));
  if (value_length != config.head_dim)
    return keys.error(Code::unsupported, "attention.value_length",
                      "is " + std::to_string(value_length) + ", but the key length " + std::to_string(config.head_dim) +
                          "; clef needs them equal");
  CLEF_RETURN_IF_ERROR(read_delta_net(keys, config));
  double eps = 0;
  CLEF_RETURN_IF_ERROR(keys.real("attention.layer_norm_rms_epsilon", 1e-30, 1.0, eps));
  config.norm_eps = static_cast<float>(eps);
  CLEF_RETURN_IF_ERROR(keys.integer("context_length", 1, kMaxPositions, config.max_positions));
  CLEF_RETURN_IF_ERROR(read_rope(gguf, keys, config));
  const std::string names[] = {keys.name("attention.head_count"), keys.name("attention.head_count_kv"),
                               keys.name("ssm.group_count"),      keys.name("ssm.time_step_rank"),
                               keys.name("rope.dimension_count"), keys.name("rope.dimension_sections")};
  CLEF_RETURN_IF_ERROR(
      check_relations(config, keys.file(), {names[0], names[1], names[2], names[3], names[4], names[5]}));
  return config;
}

base::Result<HeadConfig> head_from_gguf(const Gguf& gguf, int64_t hidden) {
  const Keys keys(gguf, "clef");
  HeadConfig head;
  CLEF_RETURN_IF_ERROR(keys.integer("decision.routing_block_count", 0, kMaxHeadLayers, head.routing_layers));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.block_count", 0, kMaxHeadLayers, head.decoder_layers));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.head_count", 1, kMaxHeads, head.heads));
  if (keys.has("attention.layer_norm_epsilon")) {
    double eps = 0;
    CLEF_RETURN_IF_ERROR(keys.real("attention.layer_norm_epsilon", 1e-30, 1.0, eps));
    head.norm_eps = static_cast<float>(eps);
  }
  constexpr std::string_view kMemory = "decision.proj_memory.weight";
  constexpr std::string_view kUp = "dec.blk.0.ffn_up.weight";
  int64_t head_hidden = 0;
  int64_t unused = 0;
  CLEF_RETURN_IF_ERROR(matrix_shape(gguf, keys.file(), kMemory, head.width, head_hidden));
  CLEF_RETURN_IF_ERROR(width_in_range(keys.file(), kMemory, head.width, kMaxWidth));
  CLEF_RETURN_IF_ERROR(check_head(head, keys.file(), "the head's width", keys.name("decision.head_count"),
                                  "the width that tensor " + quoted(kMemory) + " reads", head_hidden, hidden));
  if (head.routing_layers + head.decoder_layers == 0) return head;
  CLEF_RETURN_IF_ERROR(matrix_shape(gguf, keys.file(), kUp, head.feedforward, unused));
  CLEF_RETURN_IF_ERROR(width_in_range(keys.file(), kUp, head.feedforward, kMaxWidth));
  return head;
}

base::Result<HeadConfig> head_from_ollama(const Gguf& gguf, std::string_view prefix, int64_t hidden) {
  const Keys keys(gguf, prefix);
  HeadConfig head;
  int64_t head_hidden = 0;
  CLEF_RETURN_IF_ERROR(keys.integer("decision.hidden_size", 1, kMaxWidth, head_hidden));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.width", 1, kMaxWidth, head.width));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.routing_layers", 0, kMaxHeadLayers, head.routing_layers));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.layers", 0, kMaxHeadLayers, head.decoder_layers));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.heads", 1, kMaxHeads, head.heads));
  CLEF_RETURN_IF_ERROR(keys.integer("decision.feedforward", 1, kMaxWidth, head.feedforward));
  CLEF_RETURN_IF_ERROR(check_head(head, keys.file(), keys.name("decision.width"), keys.name("decision.heads"),
                                  keys.name("decision.hidden_size"), head_hidden, hidden));
  return head;
}

}  // namespace clef::model
