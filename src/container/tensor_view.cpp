#include "container/tensor_view.hpp"

namespace clef::container {

std::string describe(const TensorView& tensor) {
  std::string text = tensor.format != nullptr ? tensor.format->name : tensor.type_name;
  text += " [";
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(tensor.shape[i]);
  }
  text += ']';
  return text;
}

}  // namespace clef::container
