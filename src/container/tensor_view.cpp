#include "container/tensor_view.hpp"

namespace clef::container {

std::string shape_text(std::span<const int64_t> shape) {
  constexpr size_t kShown = 8;
  std::string text = "[";
  for (size_t i = 0; i < shape.size() && i < kShown; ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  text += shape.size() > kShown ? ", ...]" : "]";
  return text;
}

std::string describe(const TensorView& tensor) {
  std::string text = tensor.format != nullptr && !tensor.scales ? tensor.format->name : tensor.type_name;
  text += ' ';
  text += shape_text(tensor.shape);
  return text;
}

uint64_t total_bytes(const TensorView& tensor) noexcept {
  if (!tensor.scales) return tensor.bytes;
  return tensor.bytes + tensor.scales->scales.bytes + tensor.scales->offsets.bytes + tensor.scales->group_of.bytes;
}

}  // namespace clef::container
