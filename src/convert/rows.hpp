// The values of a tensor to be written, made from its source.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "base/status.hpp"
#include "convert/tensors.hpp"

namespace clef::convert {

// All values of a small tensor. Non-finite ones are an error.
base::Result<std::vector<float>> small_values(const Tensor& tensor);

// Rows of a matrix. Sources that are not in memory are read block by block.
class RowReader {
 public:
  static base::Result<RowReader> open(const Tensor& tensor, base::Memory& memory);

  // Makes rows [first, first + count) of the written tensor ready. The rows before it may be gone.
  base::Status load(int64_t first, int64_t count);
  // One loaded row into `out`; `scratch` has room for as many values. Any number of threads.
  void read(int64_t row, float* out, float* scratch) const noexcept;
  // Its bytes as they are in the source, or nullptr where they cannot be copied.
  const std::byte* bytes(int64_t row) const noexcept;
  // Index in the source of a value of the written tensor, for messages.
  int64_t source_index(int64_t row, int64_t column) const noexcept;
  size_t row_bytes() const noexcept { return row_bytes_; }

 private:
  explicit RowReader(const Tensor& tensor, base::Memory& memory) : tensor_(&tensor), memory_(&memory) {}
  base::Status hold(const container::TensorView& tensor, const std::byte*& data);

  const Tensor* tensor_;
  base::Memory* memory_;
  quant::Matrix matrix_;    // of the source; without data when it is read block by block
  quant::Scaling scaling_;  // what matrix_ refers to, once open() has returned
  std::vector<base::Buffer> held_;
  size_t row_bytes_ = 0;
  base::Buffer block_;
  int64_t block_first_ = 0;
};

}  // namespace clef::convert
