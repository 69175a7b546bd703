#include "geometry.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace synth {
namespace {

using Json = nlohmann::json;

Json read_json(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("'" + path + "' is no preset (clef-flash, clef) and no file that can be read");
  return Json::parse(in);
}

int64_t size_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) throw std::runtime_error(std::string(key) + " is missing");
  const int64_t value = *found;
  if (value < 0 || value > int64_t{1} << 24) throw std::runtime_error(std::string(key) + " is out of range");
  return value;
}

void read_text_config(const Json& text, Geometry& out) {
  out.vocabulary = size_of(text, "vocab_size");
  out.hidden = size_of(text, "hidden_size");
  out.intermediate = size_of(text, "intermediate_size");
  out.layers = size_of(text, "num_hidden_layers");
  out.interval = size_of(text, "full_attention_interval");
  out.heads = size_of(text, "num_attention_heads");
  out.kv_heads = size_of(text, "num_key_value_heads");
  out.head_dim = size_of(text, "head_dim");
  out.key_heads = size_of(text, "linear_num_key_heads");
  out.value_heads = size_of(text, "linear_num_value_heads");
  out.key_dim = size_of(text, "linear_key_head_dim");
  out.value_dim = size_of(text, "linear_value_head_dim");
  out.conv_width = size_of(text, "linear_conv_kernel_dim");
  out.context = size_of(text, "max_position_embeddings");
  out.norm_eps = text.value("rms_norm_eps", out.norm_eps);
  const Json rope = text.value("rope_parameters", Json::object());
  out.rope_theta = rope.value("rope_theta", out.rope_theta);
  out.rotary_dims = static_cast<int64_t>(static_cast<double>(out.head_dim) * rope.value("partial_rotary_factor", 0.25));
  if (rope.contains("mrope_section"))
    for (size_t axis = 0; axis < 3; ++axis) out.rope_sections[axis] = rope["mrope_section"].at(axis);
  if (out.interval == 0) throw std::runtime_error("full_attention_interval is 0");
}

void read_head_config(const Json& head, Geometry& out) {
  out.width = size_of(head, "width");
  out.feedforward = size_of(head, "feedforward");
  out.routing_layers = size_of(head, "routing_layers");
  out.decoder_layers = size_of(head, "layers");
  out.head_heads = size_of(head, "heads");
}

void read_vision_config(const Json& vision, Geometry& out) {
  out.vision_hidden = size_of(vision, "hidden_size");
  out.vision_intermediate = size_of(vision, "intermediate_size");
  out.vision_blocks = size_of(vision, "depth");
  out.vision_heads = size_of(vision, "num_heads");
  out.patch = size_of(vision, "patch_size");
  out.temporal_patch = size_of(vision, "temporal_patch_size");
  out.merge = size_of(vision, "spatial_merge_size");
  const int64_t positions = size_of(vision, "num_position_embeddings");
  for (out.vision_grid = 1; out.vision_grid * out.vision_grid < positions;) ++out.vision_grid;
}

}  // namespace

Geometry read_geometry(const std::string& preset_or_path) {
  Geometry out;
  out.name = preset_or_path;
  if (preset_or_path == "clef-flash") return out;
  if (preset_or_path == "clef") {
    out.hidden = 5120, out.intermediate = 17408;
    out.layers = 64, out.heads = 24, out.value_heads = 48;
    return out;
  }
  const Json config = read_json(preset_or_path);
  read_text_config(config.contains("text_config") ? config["text_config"] : config, out);
  if (config.contains("vision_config")) read_vision_config(config["vision_config"], out);
  const size_t slash = preset_or_path.rfind('/');
  const std::string directory = slash == std::string::npos ? std::string() : preset_or_path.substr(0, slash + 1);
  out.name = config.value("model_type", "synthetic");
  if (const std::string head = directory + "joint_head_config.json"; std::ifstream(head).good())
    read_head_config(read_json(head), out);
  return out;
}

}  // namespace synth
