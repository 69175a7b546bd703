// A manifest of Ollama's store: which blobs make up a model. Files are not touched here.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace clef::container {

struct OllamaLayer {
  enum class Kind : uint8_t { model, projector, tensor, json, other };
  Kind kind = Kind::other;
  std::string blob;  // its file in the store's folder blobs: "sha256-" and 64 hexadecimal digits
  uint64_t size = 0;
  std::string name;  // of a tensor or JSON file
};

// Whether a JSON text looks like a manifest.
bool is_ollama_manifest(std::string_view json);

// Layers in order. Errors (bad_file, with the field): no layers, a digest that is no SHA-256 (so that no path can lead
// out of the store), names that are no file names, sizes that are no sizes.
base::Result<std::vector<OllamaLayer>> read_ollama_manifest(std::string_view json, std::string_view file);

}  // namespace clef::container
