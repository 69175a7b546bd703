#include "model/vision_config.hpp"

#include <cmath>

#include "model/config_checks.hpp"
#include "model/config_keys.hpp"
#include "model/config_section.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

constexpr int64_t kMaxPatch = 256, kMaxGrid = 4096;

// A square of position embeddings, heads of a size that rotation can divide, rows for this backbone.
Status check_tower(const VisionConfig& config, std::string_view file, int64_t positions, int64_t hidden) {
  if (config.hidden % config.heads != 0 || config.hidden / config.heads % 4 != 0)
    return file_error(Code::bad_file, file,
                      "the vision tower's width " + std::to_string(config.hidden) + " cannot be divided among " +
                          std::to_string(config.heads) + " heads of a multiple of 4 values");
  if (int64_t{config.grid} * config.grid != positions)
    return file_error(
        Code::bad_file, file,
        "the vision tower has " + std::to_string(positions) + " position embeddings, which are no square grid");
  if (config.out != hidden)
    return file_error(Code::bad_file, file,
                      "the vision tower gives rows of " + std::to_string(config.out) + " values, the model takes " +
                          std::to_string(hidden) + "; they belong to different models");
  if (config.channels != 3) return file_error(Code::unsupported, file, "the vision tower does not take 3 channels");
  if (config.merge * config.merge > 16 || 64 % (config.merge * config.merge) != 0)
    return file_error(Code::unsupported, file,
                      "the vision tower merges " + std::to_string(config.merge) + " x " + std::to_string(config.merge) +
                          " patches; clef computes 1 x 1, 2 x 2 and 4 x 4");
  return {};
}

int32_t square_side(int64_t positions) noexcept {
  return static_cast<int32_t>(std::lround(std::sqrt(static_cast<double>(positions))));
}

}  // namespace

base::Result<VisionConfig> vision_config_from_json(const json::Value& root, std::string_view file, int64_t hidden) {
  const Section vision = Section(&root, file, "").inner("vision_config");
  VisionConfig config;
  int64_t positions = 0;
  CLEF_RETURN_IF_ERROR(vision.integer("depth", 1, kMaxLayers, config.blocks));
  CLEF_RETURN_IF_ERROR(vision.integer("hidden_size", 1, kMaxWidth, config.hidden));
  CLEF_RETURN_IF_ERROR(vision.integer("intermediate_size", 1, kMaxWidth, config.intermediate));
  CLEF_RETURN_IF_ERROR(vision.integer("num_heads", 1, kMaxHeads, config.heads));
  CLEF_RETURN_IF_ERROR(vision.integer("in_channels", 1, 16, config.channels));
  CLEF_RETURN_IF_ERROR(vision.integer("patch_size", 1, kMaxPatch, config.patch));
  CLEF_RETURN_IF_ERROR(vision.integer("temporal_patch_size", 1, 16, config.temporal_patch));
  CLEF_RETURN_IF_ERROR(vision.integer("spatial_merge_size", 1, 16, config.merge));
  CLEF_RETURN_IF_ERROR(vision.integer("num_position_embeddings", 1, kMaxGrid * kMaxGrid, positions));
  CLEF_RETURN_IF_ERROR(vision.integer("out_hidden_size", 1, kMaxWidth, config.out));
  if (const json::Value* act = vision.find("hidden_act");
      act && !(act->is_string() && act->text() == "gelu_pytorch_tanh"))
    return vision.unsupported("hidden_act", "gelu_pytorch_tanh");
  if (const json::Value* deepstack = vision.find("deepstack_visual_indexes");
      deepstack && !(deepstack->is_array() && deepstack->items().empty()))
    return vision.error(Code::unsupported, "deepstack_visual_indexes", "is not empty; clef computes no deepstack");
  config.grid = square_side(positions);
  CLEF_RETURN_IF_ERROR(check_tower(config, file, positions, hidden));
  return config;
}

base::Result<VisionConfig> vision_config_from_gguf(const container::Gguf& projector, int64_t hidden) {
  const Keys keys(projector, "clip");
  std::string_view type;
  if (!projector.get_string("clip.vision.projector_type", type) && !projector.get_string("clip.projector_type", type))
    return keys.missing("projector_type");
  if (type != "qwen3vl_merger")
    return keys.error(Code::not_clef, "projector_type",
                      "is " + quoted(type) + "; the projector of Clef is of type 'qwen3vl_merger'");
  VisionConfig config;
  CLEF_RETURN_IF_ERROR(keys.integer("vision.block_count", 1, kMaxLayers, config.blocks));
  CLEF_RETURN_IF_ERROR(keys.integer("vision.embedding_length", 1, kMaxWidth, config.hidden));
  CLEF_RETURN_IF_ERROR(keys.integer("vision.feed_forward_length", 1, kMaxWidth, config.intermediate));
  CLEF_RETURN_IF_ERROR(keys.integer("vision.attention.head_count", 1, kMaxHeads, config.heads));
  CLEF_RETURN_IF_ERROR(keys.integer("vision.patch_size", 1, kMaxPatch, config.patch));
  if (keys.has("vision.spatial_merge_size"))
    CLEF_RETURN_IF_ERROR(keys.integer("vision.spatial_merge_size", 1, 16, config.merge));
  CLEF_RETURN_IF_ERROR(keys.integer("vision.projection_dim", 1, kMaxWidth, config.out));
  double eps = 0;
  CLEF_RETURN_IF_ERROR(keys.real("vision.attention.layer_norm_epsilon", 1e-30, 1.0, eps));
  config.norm_eps = static_cast<float>(eps);
  if (const std::vector<int64_t>* deepstack = keys.array("vision.is_deepstack_layers"))
    for (const int64_t layer : *deepstack)
      if (layer != 0)
        return keys.error(Code::unsupported, "vision.is_deepstack_layers", "names layers; clef computes no deepstack");
  int64_t positions = 0;
  for (const container::TensorView& tensor : projector.tensors)
    if (tensor.name == "v.position_embd.weight" && !tensor.shape.empty())
      positions = static_cast<int64_t>(tensor.shape.front());
  config.grid = square_side(positions);
  CLEF_RETURN_IF_ERROR(check_tower(config, keys.file(), positions, hidden));
  return config;
}

}  // namespace clef::model
