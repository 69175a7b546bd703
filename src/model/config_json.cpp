// The configuration of the release layout: config.json and joint_head_config.json.
#include <algorithm>
#include <cmath>

#include "model/config.hpp"
#include "model/config_checks.hpp"
#include "model/config_section.hpp"
#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using json::Value;

namespace {

bool is_backbone(std::string_view name) noexcept {
  for (const std::string_view known : {"qwen3_5", "qwen3_5_text", "Qwen3_5ForConditionalGeneration",
                                       "Qwen3_5ForCausalLM", "Qwen3_5TextForCausalLM", "ClefForDecision"})
    if (name == known) return true;
  return false;
}

Status recognise(const Value& config, std::string_view file) {
  std::vector<std::string_view> names;
  if (const Value* architectures = config.find("architectures"))
    for (const Value& item : architectures->items())
      if (item.is_string()) names.push_back(item.text());
  if (const Value* type = config.find("model_type"); type && type->is_string()) names.push_back(type->text());
  for (const std::string_view name : names)
    if (name.starts_with("Qwen3OmniMoe") || name.starts_with("qwen3_omni_moe"))
      return file_error(Code::unsupported, file,
                        "this is Clef-Omni (" + quoted(name) + "), which clef does not run; use Clef or Clef-Flash");
  const auto other = std::find_if_not(names.begin(), names.end(), is_backbone);
  if (!names.empty() && other == names.end()) return {};
  const std::string found = names.empty() ? "names no architecture" : "describes a model of kind " + quoted(*other);
  return file_error(Code::not_clef, file, found + "; clef runs Clef and Clef-Flash (Qwen3_5ForConditionalGeneration)");
}

Status read_layers(const Section& text, Config& config) {
  int64_t count = 0;
  CLEF_RETURN_IF_ERROR(text.integer("num_hidden_layers", 1, kMaxLayers, count));
  const Value* types = text.find("layer_types");
  if (types) {
    if (!types->is_array() || types->items().size() != static_cast<size_t>(count))
      return text.error(Code::bad_file, "layer_types",
                        "must be an array of num_hidden_layers, " + std::to_string(count) + ", names");
    for (const Value& type : types->items()) {
      const bool attention = type.is_string() && type.text() == "full_attention";
      if (!attention && !(type.is_string() && type.text() == "linear_attention"))
        return text.error(Code::unsupported, "layer_types",
                          "holds " + shown(type) + "; clef knows 'linear_attention' and 'full_attention'");
      config.layers.push_back(attention ? LayerKind::attention : LayerKind::delta_net);
    }
    return {};
  }
  if (!text.find("full_attention_interval"))
    return text.error(Code::bad_file, "layer_types", "is missing, and so is full_attention_interval");
  int64_t interval = 0;
  CLEF_RETURN_IF_ERROR(text.integer("full_attention_interval", 1, kMaxLayers, interval));
  for (int64_t i = 0; i < count; ++i)
    config.layers.push_back((i + 1) % interval == 0 ? LayerKind::attention : LayerKind::delta_net);
  return {};
}

// rope_parameters, or rope_scaling and fields beside it in older files.
Status read_rope(const Section& text, Config& config) {
  const Section sections[] = {text.inner("rope_parameters"), text.inner("rope_scaling"), text};
  const auto where = [&](std::string_view key) -> const Section& {
    for (const Section& section : sections)
      if (section.find(key)) return section;
    return sections[text.find("rope_parameters") ? 0 : 2];
  };
  for (const std::string_view key : {"rope_type", "type"}) {
    for (const Section* section : {&sections[0], &sections[1]}) {
      const Value* type = section->find(key);
      // Older files say "mrope" for what is now "default" with sections.
      if (type && !(type->is_string() && (type->text() == "default" || type->text() == "mrope")))
        return section->unsupported(key, "'default'");
    }
  }
  bool interleaved = true;
  CLEF_RETURN_IF_ERROR(where("mrope_interleaved").flag("mrope_interleaved", interleaved));
  if (!interleaved) return where("mrope_interleaved").unsupported("mrope_interleaved", "true");
  CLEF_RETURN_IF_ERROR(where("rope_theta").real("rope_theta", 1.0, 1e15, config.rope_theta));
  double factor = 0;
  CLEF_RETURN_IF_ERROR(where("partial_rotary_factor").real("partial_rotary_factor", 0.0, 1.0, factor));
  config.rotary_dims = static_cast<int32_t>(config.head_dim * factor);
  std::copy(std::begin(kDefaultSections), std::end(kDefaultSections), config.rope_sections);
  const Section& section = where("mrope_section");
  if (const Value* sizes = section.find("mrope_section")) {
    if (!sizes->is_array() || sizes->items().size() != 3)
      return section.error(Code::bad_file, "mrope_section", "must be an array of three integers");
    for (size_t axis = 0; axis < 3; ++axis) {
      int64_t size = 0;
      if (!sizes->items()[axis].to_int64(size) || size < 0 || size > kMaxHeadDim)
        return section.error(Code::bad_file, "mrope_section", "holds " + shown(sizes->items()[axis]));
      config.rope_sections[axis] = static_cast<int32_t>(size);
    }
  }
  return {};
}

// Switches whose other setting would be another computation.
Status check_switches(const Section& text) {
  if (const Value* act = text.find("hidden_act"); act && !(act->is_string() && act->text() == "silu"))
    return text.unsupported("hidden_act", "'silu'");
  bool bias = false;
  CLEF_RETURN_IF_ERROR(text.flag("attention_bias", bias));
  if (bias) return text.unsupported("attention_bias", "false");
  bool gate = true;
  CLEF_RETURN_IF_ERROR(text.flag("attn_output_gate", gate));
  if (!gate) return text.unsupported("attn_output_gate", "true");
  const Value* type = text.find("output_gate_type");
  if (type && !(type->is_string() && (type->text() == "silu" || type->text() == "swish")))
    return text.unsupported("output_gate_type", "'silu' and 'swish'");
  return {};
}

Status read_head(const Section& head, HeadConfig& config, int64_t& hidden) {
  CLEF_RETURN_IF_ERROR(head.integer("hidden_size", 1, kMaxWidth, hidden));
  CLEF_RETURN_IF_ERROR(head.integer("width", 1, kMaxWidth, config.width));
  CLEF_RETURN_IF_ERROR(head.integer("routing_layers", 0, kMaxHeadLayers, config.routing_layers));
  CLEF_RETURN_IF_ERROR(head.integer("layers", 0, kMaxHeadLayers, config.decoder_layers));
  CLEF_RETURN_IF_ERROR(head.integer("heads", 1, kMaxHeads, config.heads));
  return head.integer("feedforward", 1, kMaxWidth, config.feedforward);
}

}  // namespace

Status recognise_config(const Value& config, std::string_view file) {
  if (!config.is_object()) return file_error(Code::bad_file, file, "must hold a JSON object");
  return recognise(config, file);
}

base::Result<Config> config_from_json(const Value& root, std::string_view config_file) {
  CLEF_RETURN_IF_ERROR(recognise_config(root, config_file));
  const Section top(&root, config_file, "");
  const Section nested = top.inner("text_config");
  const bool is_nested = top.find("text_config") != nullptr;
  const Section& text = is_nested ? nested : top;

  Config config;
  CLEF_RETURN_IF_ERROR(text.integer("vocab_size", 1, kMaxVocabulary, config.vocabulary));
  CLEF_RETURN_IF_ERROR(text.integer("hidden_size", 1, kMaxWidth, config.hidden));
  CLEF_RETURN_IF_ERROR(text.integer("intermediate_size", 1, kMaxWidth, config.intermediate));
  CLEF_RETURN_IF_ERROR(read_layers(text, config));
  CLEF_RETURN_IF_ERROR(text.integer("num_attention_heads", 1, kMaxHeads, config.heads));
  CLEF_RETURN_IF_ERROR(text.integer("num_key_value_heads", 1, kMaxHeads, config.kv_heads));
  CLEF_RETURN_IF_ERROR(text.integer("head_dim", 2, kMaxHeadDim, config.head_dim));
  CLEF_RETURN_IF_ERROR(text.integer("linear_num_key_heads", 1, kMaxHeads, config.key_heads));
  CLEF_RETURN_IF_ERROR(text.integer("linear_num_value_heads", 1, kMaxHeads, config.value_heads));
  CLEF_RETURN_IF_ERROR(text.integer("linear_key_head_dim", 1, kMaxHeadDim, config.key_dim));
  CLEF_RETURN_IF_ERROR(text.integer("linear_value_head_dim", 1, kMaxHeadDim, config.value_dim));
  CLEF_RETURN_IF_ERROR(text.integer("linear_conv_kernel_dim", 1, kMaxConvWidth, config.conv_width));
  double eps = 0;
  CLEF_RETURN_IF_ERROR(text.real("rms_norm_eps", 1e-30, 1.0, eps));
  config.norm_eps = static_cast<float>(eps);
  CLEF_RETURN_IF_ERROR(text.integer("max_position_embeddings", 1, kMaxPositions, config.max_positions));
  CLEF_RETURN_IF_ERROR(read_rope(text, config));
  CLEF_RETURN_IF_ERROR(check_switches(text));
  const Section& ties = top.find("tie_word_embeddings") ? top : text;
  CLEF_RETURN_IF_ERROR(ties.flag("tie_word_embeddings", config.tied_embeddings));

  const std::string names[] = {text.name("num_attention_heads"),   text.name("num_key_value_heads"),
                               text.name("linear_num_key_heads"),  text.name("linear_num_value_heads"),
                               text.name("partial_rotary_factor"), text.name("mrope_section")};
  CLEF_RETURN_IF_ERROR(
      check_relations(config, config_file, {names[0], names[1], names[2], names[3], names[4], names[5]}));
  return config;
}

base::Result<HeadConfig> head_from_json(const Value& root, std::string_view file, int64_t hidden) {
  if (!root.is_object()) return file_error(Code::bad_file, file, "must hold a JSON object");
  const Section section(&root, file, "");
  HeadConfig head;
  int64_t head_hidden = 0;
  CLEF_RETURN_IF_ERROR(read_head(section, head, head_hidden));
  CLEF_RETURN_IF_ERROR(check_head(head, file, "width", "heads", "hidden_size", head_hidden, hidden));
  return head;
}

}  // namespace clef::model
