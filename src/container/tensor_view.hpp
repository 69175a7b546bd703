// A tensor as it lies in a file: shape in torch order ([out, in], the last dimension contiguous), bytes mapped, never
// copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "quant/format.hpp"

namespace clef::container {

struct Scales;

struct TensorView {
  std::string name;
  const quant::Format* format = nullptr;  // nullptr when clef cannot read the type
  std::string type_name;                  // as the file's format spells it: "F32", "Q4_K", "U32", "type 57"
  std::vector<int64_t> shape;             // empty for a 0-d scalar
  io::SourcePtr source;                   // the file it lies in
  uint64_t offset = 0;                    // of its first byte in the file
  uint64_t bytes = 0;
  std::shared_ptr<const Scales> scales;  // formats that keep scales in tensors of their own

  int64_t elements() const noexcept {
    int64_t n = 1;
    for (int64_t d : shape) n *= d;
    return n;
  }
  // Pointer to the bytes when the source is in memory, else nullptr. May be unaligned.
  const std::byte* data() const noexcept { return source->data() ? source->data() + offset : nullptr; }
};

// The tensors that belong to the codes of one quantized matrix, checked against them in shape and type. `layout` says how
// they are used; its pointers are filled in by whoever maps or copies the tensors.
struct Scales {
  TensorView scales, offsets, group_of;  // without a source where the format has none
  quant::Scaling layout;
};

// "[4096, 12288]"; a shape of very many dimensions is cut.
std::string shape_text(std::span<const int64_t> shape);

// "F32 [4096, 12288]", "F32 []" for a scalar: for messages and listings.
std::string describe(const TensorView& tensor);

// With those of its scales.
uint64_t total_bytes(const TensorView& tensor) noexcept;

}  // namespace clef::container
