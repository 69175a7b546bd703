// Any bytes as a safetensors file and as an index of shards.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "container/safetensors.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto memory = io::from_memory(std::as_bytes(std::span(data, size)), false, "m").value();
  io::ReadCallbacks callbacks;
  callbacks.size = size;
  callbacks.read_at = [data](uint64_t offset, void* out, size_t count) {
    std::memcpy(out, data + offset, count);
    return 0;
  };
  const auto called = io::from_callbacks(std::move(callbacks), "m").value();
  const auto first = container::read_safetensors(memory);
  const auto second = container::read_safetensors(called);
  require(first.ok() == second.ok());
  if (first.ok()) {
    // The tensors cover the data exactly once.
    uint64_t bytes = 0;
    uint64_t start = size;
    for (const container::TensorView& tensor : first.value().tensors) {
      require(tensor.offset <= size && tensor.bytes <= size - tensor.offset);
      require(!container::describe(tensor).empty());
      bytes += tensor.bytes;
      if (tensor.offset < start) start = tensor.offset;
    }
    require(bytes == size - start || first.value().tensors.empty());
    require(first.value().tensors.size() == second.value().tensors.size());
  } else {
    require(first.status().message() == second.status().message());
    require(first.status().detail().offset >= 0 && first.status().detail().offset <= static_cast<int64_t>(size));
  }
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto index = container::read_safetensors_index(text, "m");
  if (index.ok())
    for (const auto& [tensor, file] : index.value())
      require(file.find('\\') == file.npos && ("/" + file + "/").find("/../") == std::string::npos);
  return 0;
}
