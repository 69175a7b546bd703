// The release layout: config.json, joint_head_config.json, tokenizer.json, weights in safetensors files.
#include <algorithm>
#include <cstring>

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
constexpr std::string_view kBelongs = "it belongs to a model's files, beside config.json; fetch it from there";
constexpr std::string_view kNoHead =
    "without it this is a language model without a decision head, which cannot decide; use the files of Clef or "
    "Clef-Flash";

void add_json(Package& package, const io::SourcePtr& source) {
  package.files.push_back({source->name(), source->size(), source, source->size()});
}

Status add_safetensors_file(Package& package, const io::SourcePtr& source) {
  std::byte length[8];
  CLEF_RETURN_IF_ERROR(source->read(0, length));  // the reader has checked it
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | static_cast<uint64_t>(length[i]);
  package.files.push_back({source->name(), source->size(), source, std::min(source->size(), header + 8)});
  return {};
}

// Tensors of one weight file. `wanted` (optional) names those that the index places there, sorted.
Status add_shard(Package& package, const io::SourcePtr& source, const std::vector<std::string_view>* wanted) {
  CLEF_ASSIGN_OR_RETURN(container::Safetensors file, container::read_safetensors(source));
  CLEF_RETURN_IF_ERROR(add_safetensors_file(package, source));
  if (!wanted) {
    std::move(file.tensors.begin(), file.tensors.end(), std::back_inserter(package.tensors));
    return {};
  }
  std::sort(file.tensors.begin(), file.tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  auto next = file.tensors.begin();
  for (const std::string_view name : *wanted) {
    while (next != file.tensors.end() && next->name < name) ++next;
    if (next == file.tensors.end() || next->name != name)
      return tensor_error(Code::bad_file, source->name(), name,
                          "is not in this file, although " + std::string(kIndex) +
                              " says so; the files are of different models or mixed up");
    package.tensors.push_back(std::move(*next++));
  }
  return {};
}

Status add_sharded_backbone(const FileSet& set, const io::SourcePtr& index, Package& package) {
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, read_text(*index, storage, kMaxIndexBytes));
  CLEF_ASSIGN_OR_RETURN(const auto map, container::read_safetensors_index(text, index->name()));
  add_json(package, index);
  std::map<std::string_view, std::vector<std::string_view>> shards;  // both sorted by name
  for (const auto& [tensor, shard] : map) shards[shard].push_back(tensor);
  for (const auto& [shard, tensors] : shards) {
    if (!is_plain_name(shard))
      return file_error(Code::bad_file, index->name(), "names " + quoted(shard) + ", which is no name of a file");
    const std::string advice = "it is one of the " + std::to_string(shards.size()) + " files that " +
                               std::string(kIndex) + " names; fetch it too";
    CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, set.open(shard, advice));
    CLEF_RETURN_IF_ERROR(add_shard(package, source, &tensors));
  }
  return {};
}

Status add_backbone(const FileSet& set, Package& package) {
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr index, set.find(kIndex));
  if (index) return add_sharded_backbone(set, index, package);
  CLEF_ASSIGN_OR_RETURN(
      const io::SourcePtr single,
      set.open(kSingle, "so is " + std::string(kIndex) + "; one of them must be there, beside config.json"));
  return add_shard(package, single, nullptr);
}

// Which of the known spellings the backbone's names have.
std::string find_prefix(const Package& package) {
  for (const std::string_view prefix : {"model.language_model.", "language_model.model.", "model."})
    for (const std::string_view probe : {"embed_tokens.weight", "norm.weight", "layers.0.input_layernorm.weight"})
      if (package.find(std::string(prefix) + std::string(probe))) return std::string(prefix);
  return "model.language_model.";
}

bool has_vision(const Package& package) {
  return std::any_of(package.tensors.begin(), package.tensors.end(), [](const TensorView& tensor) {
    return tensor.name.starts_with("model.visual.") || tensor.name.starts_with("visual.");
  });
}

}  // namespace

base::Result<Package> open_release(const FileSet& set) {
  Package package;
  package.kind = Kind::release;
  package.kind_name = "release layout";
  package.name = set.directory_name();
  package.conventions = {.norms_zero_centred = true, .a_log_raw = true};

  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr config, set.open("config.json", kBelongs));
  CLEF_ASSIGN_OR_RETURN(const json::Document config_json, read_json(*config));
  CLEF_RETURN_IF_ERROR(recognise_config(config_json.root(), config->name()));
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr head_config, set.open("joint_head_config.json", kNoHead));
  CLEF_ASSIGN_OR_RETURN(const json::Document head_json, read_json(*head_config));
  CLEF_ASSIGN_OR_RETURN(package.config,
                        config_from_json(config_json.root(), config->name(), head_json.root(), head_config->name()));
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr head, set.open("joint_head.safetensors", kNoHead));
  CLEF_ASSIGN_OR_RETURN(package.tokenizer_json, set.open("tokenizer.json", kBelongs));

  add_json(package, config);
  add_json(package, head_config);
  add_json(package, package.tokenizer_json);
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr processor, set.find("processor_config.json"));
  if (processor) add_json(package, processor);
  CLEF_RETURN_IF_ERROR(add_backbone(set, package));
  CLEF_RETURN_IF_ERROR(add_shard(package, head, nullptr));
  CLEF_RETURN_IF_ERROR(finish_tensors(package));
  package.name_prefix = find_prefix(package);
  package.has_vision = has_vision(package);
  return package;
}

}  // namespace clef::model
