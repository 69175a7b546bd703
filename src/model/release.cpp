// The release layout: config.json, joint_head_config.json, tokenizer.json, weights in safetensors files.
#include <algorithm>
#include <cstring>

#include "container/quantized.hpp"
#include "container/safetensors.hpp"
#include "model/message.hpp"
#include "model/package_forms.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::TensorView;

namespace {

constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kConfig = "config.json";
constexpr std::string_view kNoHead =
    "without it this is a language model without a decision head, which cannot decide; use the files of Clef or "
    "Clef-Flash, or name where the head lies (\"head\", option --head)";
constexpr std::string_view kBelongs = "it belongs to a model's files, beside config.json; fetch it from there";
Status add_sharded_backbone(const FileSet& set, const io::SourcePtr& index, Package& package) {
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, read_text(*index, storage, kMaxIndexBytes));
  CLEF_ASSIGN_OR_RETURN(const auto map, container::read_safetensors_index(text, index->name()));
  add_json_file(package, index);
  std::map<std::string_view, std::vector<std::string_view>> shards;  // both sorted by name
  for (const auto& [tensor, shard] : map) shards[shard].push_back(tensor);
  for (const auto& [shard, tensors] : shards) {
    if (!is_plain_name(shard))
      return file_error(Code::bad_file, index->name(), "names " + quoted(shard) + ", which is no name of a file");
    const std::string advice = "it is one of the " + std::to_string(shards.size()) + " files that " +
                               std::string(kIndex) + " names; fetch it too";
    CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, set.open(shard, advice));
    CLEF_RETURN_IF_ERROR(add_weight_file(package, source, &tensors));
  }
  return {};
}

Status add_backbone(const FileSet& set, Package& package) {
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr index, set.find(kIndex));
  if (index) return add_sharded_backbone(set, index, package);
  CLEF_ASSIGN_OR_RETURN(
      const io::SourcePtr single,
      set.open(kSingle, "so is " + std::string(kIndex) + "; one of them must be there, beside config.json"));
  return add_weight_file(package, single, nullptr);
}

// Which of the known spellings the backbone's names have.
std::string find_prefix(const Package& package) {
  for (const std::string_view prefix : {"model.language_model.", "language_model.model.", "model."})
    for (const std::string_view probe : {"embed_tokens.weight", "norm.weight", "layers.0.input_layernorm.weight"})
      if (package.find(std::string(prefix) + std::string(probe))) return std::string(prefix);
  return "model.language_model.";
}

bool has_vision(const Package& package) {
  return std::any_of(package.tensors.begin(), package.tensors.end(),
                     [](const TensorView& tensor) { return is_vision_tensor(tensor.name); });
}

// MLX conversions move the axis of the convolutions before they save, and add 1 to the norms in the same step.
bool is_mlx(const Package& package) {
  return std::any_of(package.tensors.begin(), package.tensors.end(), [](const TensorView& tensor) {
    return tensor.name.ends_with("linear_attn.conv1d.weight") && tensor.shape.size() == 3 && tensor.shape[1] > 1 &&
           tensor.shape[2] == 1;
  });
}

// config.json, tokenizer.json, processor_config.json; returns the first one.
base::Result<json::Document> read_configuration(const FileSet& set, Package& package) {
  package.kind = Kind::release;
  package.name = set.directory_name();
  package.conventions = {true, true, false};
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr config, set.open(kConfig, kBelongs));
  CLEF_ASSIGN_OR_RETURN(json::Document document, read_json(*config));
  CLEF_ASSIGN_OR_RETURN(package.config, config_from_json(document.root(), config->name()));
  CLEF_ASSIGN_OR_RETURN(package.tokenizer_json, set.open("tokenizer.json", kBelongs));
  package.config_json = config;
  add_json_file(package, config);
  add_json_file(package, package.tokenizer_json);
  CLEF_ASSIGN_OR_RETURN(package.processor_json, set.find("processor_config.json"));
  if (package.processor_json) add_json_file(package, package.processor_json);
  return document;
}

// Once all tensors are there: what their names and shapes tell.
Status finish(Package& package) {
  if (is_mlx(package)) package.conventions.norms_zero_centred = false;
  CLEF_RETURN_IF_ERROR(finish_tensors(package));
  package.name_prefix = find_prefix(package);
  package.has_vision = has_vision(package);
  return {};
}

bool is_quantized(const Package& package) {
  return std::any_of(package.tensors.begin(), package.tensors.end(),
                     [](const TensorView& tensor) { return tensor.scales != nullptr; });
}

}  // namespace

bool is_vision_tensor(std::string_view name) noexcept {
  return name.starts_with("model.visual.") || name.starts_with("visual.") || name.starts_with("vision_tower.");
}

base::Result<Package> open_release(const FileSet& set) {
  Package package;
  CLEF_ASSIGN_OR_RETURN(const json::Document config, read_configuration(set, package));
  CLEF_ASSIGN_OR_RETURN(const std::string scheme, container::quantization_scheme(config.root(), kConfig));
  CLEF_RETURN_IF_ERROR(add_head_files(set, kNoHead, package));
  CLEF_RETURN_IF_ERROR(add_backbone(set, package));
  CLEF_RETURN_IF_ERROR(container::join_quantized(config.root(), kConfig, package.tensors));
  CLEF_RETURN_IF_ERROR(finish(package));
  package.kind_name = is_mlx(package) ? "MLX" : "release layout";
  if (is_quantized(package)) package.kind_name = scheme.empty() ? "quantized release" : scheme;
  return package;
}

base::Result<Package> open_tensor_blobs(const FileSet& set, const std::vector<io::SourcePtr>& tensors) {
  Package package;
  CLEF_RETURN_IF_ERROR(read_configuration(set, package).status());
  package.kind_name = "Ollama (one file per tensor)";
  if (set.head_given()) {
    CLEF_RETURN_IF_ERROR(add_head_files(set, kNoHead, package));
  } else {
    CLEF_RETURN_IF_ERROR(add_head_config(set, kNoHead, package));
    package.head.file = package.name;
  }
  for (const io::SourcePtr& source : tensors) {
    CLEF_ASSIGN_OR_RETURN(container::Safetensors file, container::read_safetensors(source));
    CLEF_RETURN_IF_ERROR(container::join_ollama(file.metadata, file.tensors));
    CLEF_RETURN_IF_ERROR(add_weight_tensors(package, source, std::move(file.tensors)));
  }
  CLEF_RETURN_IF_ERROR(finish(package));
  return package;
}

}  // namespace clef::model
