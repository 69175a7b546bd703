// Recognises what the caller gave: a GGUF file, a directory of the release layout, or something else.
#include "model/package.hpp"

#include <algorithm>

#include "model/message.hpp"
#include "model/package_forms.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

bool ends_with(std::string_view name, std::string_view ending) noexcept {
  if (name.size() < ending.size()) return false;
  const std::string_view tail = name.substr(name.size() - ending.size());
  return std::equal(tail.begin(), tail.end(), ending.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// The error for a named file that is none of the accepted forms.
Status foreign_file(const io::ByteSource& source, std::string_view wanted, Code code) {
  std::string start(static_cast<size_t>(std::min<uint64_t>(source.size(), 512)), '\0');
  CLEF_RETURN_IF_ERROR(source.read(0, std::as_writable_bytes(std::span(start))));
  base::ErrorDetail detail = container::wrong_kind(source.name(), wanted, container::guess_kind(start)).detail();
  detail.code = code;
  return Status(std::move(detail));
}

// The projector for a model among those beside it: the one that is named for the same type, else the smallest.
base::Result<std::string> choose_projector(const std::string& directory, const std::string& model,
                                           const std::vector<std::string>& projectors) {
  const size_t dash = model.rfind('-');
  const std::string type = dash == model.npos ? model : model.substr(dash + 1);  // "Q8_0.gguf"
  std::string best;
  uint64_t least = UINT64_MAX;
  for (const std::string& name : projectors) {
    if (ends_with(name, type)) return name;
    CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, io::open_path(io::join_path(directory, name)));
    if (source->size() < least) best = name, least = source->size();
  }
  return best;
}

// The GGUF file of a directory (one part stands for a split model) and the projector beside it; empty when there is none.
base::Result<std::vector<std::string>> gguf_in_directory(const std::string& directory) {
  CLEF_ASSIGN_OR_RETURN(const std::vector<std::string> names, io::list_directory(directory));
  std::vector<std::string> models, projectors;  // the names are sorted
  std::string split;                            // the first name of the latest one
  for (const std::string& name : names) {
    if (!ends_with(name, ".gguf")) continue;
    const std::vector<std::string> parts = container::split_names(name);
    if (!parts.empty() && parts.front() == split) continue;
    split = parts.empty() ? std::string() : parts.front();
    (name.find("mmproj") == name.npos ? models : projectors).push_back(name);
  }
  if (models.size() == 1 && !projectors.empty()) {
    CLEF_ASSIGN_OR_RETURN(std::string projector, choose_projector(directory, models.front(), projectors));
    models.push_back(std::move(projector));
    return models;
  }
  if (models.empty()) models = std::move(projectors);
  if (models.size() <= 1) return models;
  constexpr size_t kShown = 8;
  std::string message = "holds several GGUF models; give the path of one of them:";
  for (size_t i = 0; i < std::min(models.size(), kShown); ++i) message += (i ? ", " : " ") + models[i];
  if (models.size() > kShown) message += ", and " + std::to_string(models.size() - kShown) + " more";
  return file_error(Code::invalid_argument, io::file_name(directory), message);
}

bool is_ollama_store(const std::string& directory) {
  return io::path_kind(io::join_path(directory, "blobs")) == io::PathKind::directory &&
         io::path_kind(io::join_path(directory, "manifests")) == io::PathKind::directory;
}

constexpr std::string_view kForms =
    "give a directory with the release's files (config.json, joint_head_config.json, ...) or a GGUF file of Clef";

}  // namespace

const container::TensorView* Package::find(std::string_view name_in_file) const noexcept {
  const auto place = std::lower_bound(
      tensors.begin(), tensors.end(), name_in_file,
      [](const container::TensorView& tensor, std::string_view wanted) { return tensor.name < wanted; });
  return place != tensors.end() && place->name == name_in_file ? &*place : nullptr;
}

std::string Package::backbone_file() const {
  if (kind == Kind::gguf) return files.front().name;
  for (const FileEntry& file : files)
    if (file.name.starts_with("model.safetensors")) return file.name;
  return "model.safetensors";
}

base::Result<const container::TensorView*> Package::language_head() const {
  const bool release = kind == Kind::release;
  for (const char* known : {"lm_head.weight", "language_model.lm_head.weight", "output.weight"}) {
    const bool gguf_name = std::string_view(known) == "output.weight";
    if (gguf_name == release) continue;
    if (const container::TensorView* tensor = find(known)) return tensor;
  }
  if (config.tied_embeddings) return nullptr;
  return tensor_error(Code::missing_part, backbone_file(), release ? "lm_head.weight" : "output.weight",
                      "is missing; options are compared with its rows, and the embeddings are no stand-in for it");
}

Status finish_tensors(Package& package) {
  std::sort(package.tensors.begin(), package.tensors.end(),
            [](const container::TensorView& a, const container::TensorView& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(
      package.tensors.begin(), package.tensors.end(),
      [](const container::TensorView& a, const container::TensorView& b) { return a.name == b.name; });
  if (twice == package.tensors.end()) return {};
  return tensor_error(Code::bad_file, (twice + 1)->source->name(), twice->name,
                      "is there twice; the other one is in " + twice->source->name());
}

base::Result<Package> open_package(const Files& files) {
  CLEF_ASSIGN_OR_RETURN(const FileSet set, FileSet::create(files));
  for (const FileSet::Item& item : set.items())
    if (is_ollama_manifest(item)) return open_ollama(set, item);
  std::vector<FileSet::Item> ggufs, projectors;  // the second: given as such
  for (const FileSet::Item& item : set.items()) {
    if (container::is_gguf(*item.source)) {
      (item.projector ? projectors : ggufs).push_back(item);
    } else if (ends_with(item.name, ".gguf")) {
      return foreign_file(*item.source, "GGUF file", Code::bad_file);
    }
  }
  const auto open_with_projectors = [&](std::vector<FileSet::Item> models) {
    models.insert(models.end(), projectors.begin(), projectors.end());
    return open_gguf(set, std::move(models));
  };
  const auto open_release_with_projector = [&]() -> base::Result<Package> {
    CLEF_ASSIGN_OR_RETURN(Package package, open_release(set));
    if (!projectors.empty()) CLEF_RETURN_IF_ERROR(add_projector(package, projectors.front()));
    return package;
  };
  if (!ggufs.empty()) return open_with_projectors(std::move(ggufs));
  if (set.has("joint_head_config.json") && set.has("config.json")) return open_release_with_projector();
  for (const std::string& directory : set.directories()) {
    CLEF_ASSIGN_OR_RETURN(const std::vector<std::string> names, gguf_in_directory(directory));
    if (names.empty()) continue;
    for (const std::string& name : names) {
      if (!ggufs.empty() && !projectors.empty()) break;  // a named projector goes before the one beside the model
      CLEF_ASSIGN_OR_RETURN(io::SourcePtr source, io::open_path(io::join_path(directory, name)));
      if (!container::is_gguf(*source)) return foreign_file(*source, "GGUF file", Code::bad_file);
      ggufs.push_back({name, std::move(source), directory});
    }
    return open_with_projectors(std::move(ggufs));
  }
  if (set.has("config.json") || set.has("joint_head.safetensors") || set.has("joint_head_config.json"))
    return open_release_with_projector();
  for (const std::string& directory : set.directories()) {
    if (is_ollama_store(directory))
      return file_error(Code::invalid_argument, io::file_name(directory),
                        "is a store of Ollama; give the path of a model's manifest in it, such as "
                        "manifests/registry.ollama.ai/library/clef-flash/latest");
    return file_error(Code::not_clef, io::file_name(directory), "holds no model; " + std::string(kForms));
  }
  const FileSet::Item& item = set.items().front();
  if (ends_with(item.name, ".json") || ends_with(item.name, ".safetensors"))
    return file_error(Code::missing_part, item.name,
                      "is a part of a model, but config.json is not among the files; " + std::string(kForms));
  return foreign_file(*item.source, "model that clef loads (" + std::string(kForms) + ")", Code::not_clef);
}

}  // namespace clef::model
