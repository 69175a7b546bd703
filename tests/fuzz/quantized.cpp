// A configuration, a NUL, and a safetensors file whose tensors are joined after it: what is accepted can be decoded from
// copies of exactly its bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "container/quantized.hpp"
#include "container/safetensors.hpp"

namespace {

using namespace clef;
using container::TensorView;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

// Bytes on the heap, at an odd address.
std::unique_ptr<std::byte[]> copy(const TensorView& tensor) {
  require(tensor.offset <= tensor.source->size() && tensor.bytes <= tensor.source->size() - tensor.offset);
  std::unique_ptr<std::byte[]> bytes(new std::byte[tensor.bytes + 1]);
  require(tensor.source->read(tensor.offset, std::span(bytes.get() + 1, tensor.bytes)).ok());
  return bytes;
}

void decode(const TensorView& tensor) {
  require(!container::describe(tensor).empty());
  require(container::total_bytes(tensor) >= tensor.bytes);
  if (!tensor.scales) return;
  require(tensor.format != nullptr && tensor.format->decode_row != nullptr && tensor.shape.size() == 2);
  quant::Scaling scaling = tensor.scales->layout;
  std::vector<std::unique_ptr<std::byte[]>> copies;
  const auto place = [&](const TensorView& part) -> const std::byte* {
    if (!part.source) return nullptr;
    copies.push_back(copy(part));
    return copies.back().get() + 1;
  };
  scaling.scales = place(tensor.scales->scales);
  scaling.offsets = place(tensor.scales->offsets);
  scaling.group_of = place(tensor.scales->group_of);
  const quant::Matrix matrix{tensor.format, place(tensor), tensor.shape[0], tensor.shape[1], &scaling};
  std::vector<float> row(static_cast<size_t>(matrix.in));
  // The first rows and the last ones, where reads beyond the end would be.
  for (int64_t r = 0; r < matrix.out; r = r < 8 ? r + 1 : std::max(r + 1, matrix.out - 8))
    quant::decode_row(matrix, r, 0, matrix.in, row.data());
}

void join(std::string_view file, const std::string_view* config) {
  const auto source = io::from_memory(std::as_bytes(std::span(file)), false, "m").value();
  auto read = container::read_safetensors(source);
  if (!read.ok()) return;
  std::vector<TensorView> tensors = read.value().tensors;
  const size_t count = tensors.size();
  if (config == nullptr) {
    if (!container::join_ollama(read.value().metadata, tensors).ok()) return;
  } else {
    const auto document = json::parse(*config);
    if (!document.ok()) return;
    const bool known = container::quantization_scheme(document.value().root(), "c").ok();
    const base::Status status = container::join_quantized(document.value().root(), "c", tensors);
    require(known || !status.ok());
    if (!status.ok()) {
      require(status.message().size() < 2000);
      return;
    }
  }
  require(tensors.size() <= count);
  for (const TensorView& tensor : tensors) decode(tensor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find('\0');
  if (cut == all.npos) return 0;
  const std::string_view config = all.substr(0, cut), file = all.substr(cut + 1);
  join(file, &config);
  join(file, nullptr);
  return 0;
}
