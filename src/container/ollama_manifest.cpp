#include "container/ollama_manifest.hpp"

#include <algorithm>

#include "container/sizes.hpp"
#include "json/json.hpp"

namespace clef::container {

using base::Code;
using base::Status;

namespace {

constexpr size_t kMaxLayers = 65536;
constexpr size_t kMaxName = 512;
constexpr std::string_view kPrefix = "application/vnd.ollama.image.";
constexpr std::string_view kDigest = "sha256:";

Status bad_field(std::string_view file, const std::string& field, std::string_view what) {
  return Status(Code::bad_file, std::string(file) + ": " + field + " " + std::string(what)).in_file(file);
}

const json::Value* text_of(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->is_string() ? value : nullptr;
}

OllamaLayer::Kind kind_of(std::string_view media_type) noexcept {
  if (!media_type.starts_with(kPrefix)) return OllamaLayer::Kind::other;
  const std::string_view kind = media_type.substr(kPrefix.size());
  if (kind == "model") return OllamaLayer::Kind::model;
  if (kind == "projector") return OllamaLayer::Kind::projector;
  if (kind == "tensor") return OllamaLayer::Kind::tensor;
  if (kind == "json") return OllamaLayer::Kind::json;
  return OllamaLayer::Kind::other;
}

bool is_digest(std::string_view text) noexcept {
  if (!text.starts_with(kDigest) || text.size() != kDigest.size() + 64) return false;
  return std::all_of(text.begin() + kDigest.size(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

base::Result<OllamaLayer> read_layer(const json::Value& value, const std::string& at, std::string_view file) {
  const json::Value* media_type = text_of(value, "mediaType");
  if (media_type == nullptr) return bad_field(file, at + ".mediaType", "is missing or no text");
  OllamaLayer layer;
  layer.kind = kind_of(media_type->text());
  if (layer.kind == OllamaLayer::Kind::other) return layer;
  const json::Value* digest = text_of(value, "digest");
  if (digest == nullptr || !is_digest(digest->text()))
    return bad_field(file, at + ".digest", "is not 'sha256:' and 64 hexadecimal digits, so it names no blob");
  layer.blob = "sha256-" + std::string(digest->text().substr(kDigest.size()));
  const json::Value* size = value.find("size");
  int64_t bytes = 0;
  if (size == nullptr || !size->to_int64(bytes) || bytes < 0)
    return bad_field(file, at + ".size", "is not a number of bytes");
  layer.size = static_cast<uint64_t>(bytes);
  if (layer.kind != OllamaLayer::Kind::tensor && layer.kind != OllamaLayer::Kind::json) return layer;
  const json::Value* name = text_of(value, "name");
  if (name == nullptr || name->text().empty() || name->text().size() > kMaxName)
    return bad_field(file, at + ".name", "is missing, or no name");
  layer.name = name->text();
  return layer;
}

}  // namespace

bool is_ollama_manifest(std::string_view json) {
  const auto document = json::parse(json);
  if (!document.ok() || !document.value().root().is_object()) return false;
  const json::Value& root = document.value().root();
  return root.find("schemaVersion") != nullptr && root.find("layers") != nullptr;
}

base::Result<std::vector<OllamaLayer>> read_ollama_manifest(std::string_view json, std::string_view file) {
  const auto document = json::parse(json);
  if (!document.ok())
    return Status(Code::bad_file,
                  std::string(file) + ": the manifest is not usable JSON: " + document.status().detail().message)
        .in_file(file)
        .at_offset(document.status().detail().offset);
  const json::Value& root = document.value().root();
  const json::Value* layers = root.is_object() ? root.find("layers") : nullptr;
  if (layers == nullptr || !layers->is_array() || layers->items().empty())
    return bad_field(file, "layers", "is missing or empty: the manifest names no blobs");
  if (layers->items().size() > kMaxLayers) return bad_field(file, "layers", "has more entries than any model");
  std::vector<OllamaLayer> out;
  for (size_t i = 0; i < layers->items().size(); ++i) {
    const std::string at = "layers[" + std::to_string(i) + "]";
    if (!layers->items()[i].is_object()) return bad_field(file, at, "is no object");
    CLEF_ASSIGN_OR_RETURN(OllamaLayer layer, read_layer(layers->items()[i], at, file));
    if (layer.kind != OllamaLayer::Kind::other) out.push_back(std::move(layer));
  }
  return out;
}

}  // namespace clef::container
