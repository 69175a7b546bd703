// Any bytes as a GGUF file: in memory and behind callbacks the answer is the same, and what is accepted can be read.
#include <cstdint>
#include <cstring>
#include <vector>

#include "container/gguf.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

// Decodes a part of the tensor from a copy of exactly its bytes, so that a decoder that reads beyond them is caught.
void read_tensor(const container::TensorView& tensor) {
  require(tensor.offset <= tensor.source->size() && tensor.bytes <= tensor.source->size() - tensor.offset);
  require(!container::describe(tensor).empty());
  if (tensor.format == nullptr || tensor.elements() == 0) return;
  require(quant::row_bytes(*tensor.format, static_cast<uint64_t>(tensor.elements())) == tensor.bytes);
  std::vector<std::byte> bytes(tensor.bytes);
  require(tensor.source->read(tensor.offset, bytes).ok());
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  tensor.format->decode(bytes.data(), values.data(), values.size());
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
  auto first = container::read_gguf(memory);
  const auto second = container::read_gguf(called);
  require(first.ok() == second.ok());
  if (!first.ok()) {
    require(first.status().message() == second.status().message());
    require(first.status().detail().offset >= 0 && first.status().detail().offset <= static_cast<int64_t>(size));
    return 0;
  }
  require(container::is_gguf(*memory));
  require(first.value().keys.size() == second.value().keys.size());
  require(first.value().tensors.size() == second.value().tensors.size());
  for (const auto& [key, value] : first.value().keys) require(first.value().find(key) == &value);
  for (const container::TensorView& tensor : first.value().tensors) read_tensor(tensor);
  std::vector<container::Gguf> parts;
  parts.push_back(std::move(first).value());
  (void)container::merge_gguf(std::move(parts)).ok();
  return 0;
}
