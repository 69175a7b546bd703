// A model in Ollama's store: its manifest names the blobs, which are a GGUF file, or one safetensors file per tensor and
// the JSON files of a release.
#include <algorithm>

#include "container/ollama_manifest.hpp"
#include "model/message.hpp"
#include "model/package_forms.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::OllamaLayer;

namespace {

constexpr uint64_t kMaxManifest = uint64_t{16} << 20;
constexpr int kMostParents = 8;  // host, namespace, name and room for more

// The folder "blobs" beside the folder "manifests" in which the manifest lies; empty when there is none.
std::string blobs_of(const std::string& manifest_directory) {
  std::string directory = manifest_directory;
  for (int i = 0; i < kMostParents; ++i) {
    if (io::file_name(directory) == "manifests") {
      std::string blobs = io::join_path(io::parent_path(directory), "blobs");
      return io::path_kind(blobs) == io::PathKind::directory ? blobs : std::string();
    }
    std::string parent = io::parent_path(directory);
    if (parent == directory) break;
    directory = std::move(parent);
  }
  return {};
}

base::Result<io::SourcePtr> open_blob(const std::string& blobs, const OllamaLayer& layer, const std::string& manifest) {
  const std::string path = io::join_path(blobs, layer.blob);
  if (io::path_kind(path) != io::PathKind::file)
    return file_error(Code::missing_part, layer.blob,
                      "is missing in the store, although the manifest " + manifest + " names it; pull the model again");
  CLEF_ASSIGN_OR_RETURN(io::SourcePtr source, io::open_path(path));
  if (source->size() != layer.size)
    return file_error(Code::bad_file, layer.blob,
                      "has " + std::to_string(source->size()) + " bytes, but the manifest " + manifest + " says " +
                          std::to_string(layer.size) + "; pull the model again");
  return source;
}

}  // namespace

bool is_ollama_manifest(const FileSet::Item& item) {
  if (item.directory.empty() || item.source->size() > kMaxManifest) return false;
  char first = 0;
  if (item.source->size() == 0 || !item.source->read(0, std::as_writable_bytes(std::span(&first, 1))).ok() ||
      first != '{' || item.name.ends_with(".json"))
    return false;
  std::string storage;
  const auto text = io::read_all(*item.source, storage, kMaxManifest);
  return text.ok() && container::is_ollama_manifest(text.value());
}

base::Result<Package> open_ollama(const FileSet& set, const FileSet::Item& manifest) {
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, read_text(*manifest.source, storage, kMaxManifest));
  CLEF_ASSIGN_OR_RETURN(const std::vector<OllamaLayer> layers, container::read_ollama_manifest(text, manifest.name));
  const std::string blobs = blobs_of(manifest.directory);
  if (blobs.empty())
    return file_error(Code::missing_part, manifest.name,
                      "is a manifest of Ollama, but there is no folder 'blobs' beside the folder 'manifests' that it "
                      "lies in; give its path inside the store");
  const std::string model = io::file_name(manifest.directory) + ":" + manifest.name;

  std::vector<FileSet::Item> items;
  std::vector<io::SourcePtr> tensors;
  bool has_gguf = false, has_projector = false;
  for (const FileSet::Item& item : set.items()) {
    if (item.name != manifest.name) items.push_back(item);
    has_projector = has_projector || item.projector;
  }
  for (const OllamaLayer& layer : layers) {
    const bool projector = layer.kind == OllamaLayer::Kind::projector;
    if (projector && has_projector) continue;  // the caller gave one
    CLEF_ASSIGN_OR_RETURN(io::SourcePtr source, open_blob(blobs, layer, manifest.name));
    switch (layer.kind) {
      case OllamaLayer::Kind::model:
      case OllamaLayer::Kind::projector:
        has_gguf = has_gguf || !projector;
        items.push_back({model + (projector ? " projector" : "") + ".gguf", std::move(source), {}, projector});
        break;
      case OllamaLayer::Kind::tensor:
        tensors.push_back(std::move(source));
        break;
      case OllamaLayer::Kind::json:
        items.push_back({layer.name, std::move(source), {}, false});
        break;
      case OllamaLayer::Kind::other:
        break;
    }
  }
  const FileSet inner = set.with_items(std::move(items), model);
  if (has_gguf) {
    std::vector<FileSet::Item> ggufs;
    for (const FileSet::Item& item : inner.items())
      if (container::is_gguf(*item.source)) ggufs.push_back(item);
    if (ggufs.empty())
      return file_error(Code::unsupported, manifest.name,
                        "names a model that is no GGUF file, which clef does not read");
    return open_gguf(inner, std::move(ggufs));
  }
  if (tensors.empty())
    return file_error(Code::not_clef, manifest.name, "names no model: it has neither a GGUF file nor tensors");
  return open_tensor_blobs(inner, tensors);
}

}  // namespace clef::model
