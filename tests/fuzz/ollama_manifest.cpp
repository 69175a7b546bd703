// Any bytes as a manifest of Ollama's store: blobs never lead out of it.
#include <cstdint>
#include <string_view>

#include "container/ollama_manifest.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(container::is_ollama_manifest(text));
  const auto layers = container::read_ollama_manifest(text, "m");
  if (!layers.ok()) {
    require(layers.status().detail().file == "m" && !layers.status().message().empty());
    return 0;
  }
  for (const container::OllamaLayer& layer : layers.value()) {
    require(layer.blob.size() == 71 && layer.blob.starts_with("sha256-"));
    require(layer.blob.find_first_not_of("0123456789abcdef", 7) == layer.blob.npos);
  }
  return 0;
}
