// The forms in which a model is stored; package.cpp chooses one. Inside src/model only.
#pragma once
#include <string_view>
#include <vector>

#include "model/file_set.hpp"
#include "model/package.hpp"

namespace clef::model {

base::Result<Package> open_release(const FileSet& set);
// `items`: the GGUF files that were given, at least one.
base::Result<Package> open_gguf(const FileSet& set, std::vector<FileSet::Item> items);

// Whether a file that was given is a manifest of Ollama's store.
bool is_ollama_manifest(const FileSet::Item& item);
base::Result<Package> open_ollama(const FileSet& set, const FileSet::Item& manifest);
// The files of a release by `set`, but its tensors in files of one each, as Ollama stores models of MLX.
base::Result<Package> open_tensor_blobs(const FileSet& set, const std::vector<io::SourcePtr>& tensors);

void add_json_file(Package& package, const io::SourcePtr& source);
// Tensors of one safetensors file. `wanted` (optional) names those that an index places there, sorted.
base::Status add_weight_file(Package& package, const io::SourcePtr& source,
                             const std::vector<std::string_view>* wanted);
base::Status add_weight_tensors(Package& package, const io::SourcePtr& source,
                                std::vector<container::TensorView> tensors);
// joint_head_config.json, and with it the tensors of joint_head.safetensors; needs the backbone's configuration. `advice` is for what is missing.
base::Status add_head_config(const FileSet& set, std::string_view advice, Package& package);
base::Status add_head_files(const FileSet& set, std::string_view advice, Package& package);

// Sorts the tensors by name and refuses names that occur twice.
base::Status finish_tensors(Package& package);
// Takes a GGUF file as the model's vision part, in place of one that the model may hold itself. invalid_argument when it
// is no projector.
base::Status add_projector(Package& package, const FileSet::Item& item);

}  // namespace clef::model
