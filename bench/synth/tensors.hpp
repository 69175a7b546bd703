// The tensors of a file: names, shapes, types, and what kind of numbers they hold.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "geometry.hpp"
#include "quant/format.hpp"

namespace synth {

// Ranges of the made-up values, so that a pass stays finite and the look at norms when a model is loaded is content.
enum class Content : uint8_t {
  matrix,  // normal, deviation 0.02
  norm,    // around 1
  small,   // biases: normal, deviation 0.02
  conv,    // normal, deviation 0.25
  decay,   // -exp(A_log): -8 to -0.5
  step,    // dt_bias: -4 to 0
  scales,  // the head's three numbers
};

struct Tensor {
  std::string name;
  std::vector<int64_t> shape;  // outermost first
  Content content = Content::matrix;
  const clef::quant::Format* format = nullptr;
  uint64_t offset = 0, bytes = 0;

  int64_t columns() const { return shape.back(); }
  uint64_t values() const {
    uint64_t product = 1;
    for (const int64_t size : shape) product *= static_cast<uint64_t>(size);
    return product;
  }
};

// A GGUF projector: the vision tower and its merger.
std::vector<Tensor> list_projector_tensors(const Geometry& geometry);

// In the order of the file. `head`: with the decision head.
std::vector<Tensor> list_tensors(const Geometry& geometry, bool head);

}  // namespace synth
