// Encodes tensors block by block, in parallel; the bytes do not depend on the number of threads.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "base/executor.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "base/status.hpp"
#include "convert/tensors.hpp"

namespace clef::convert {

// Takes bytes at an offset in the tensor.
using Sink = std::function<base::Status(uint64_t offset, std::span<const std::byte> bytes)>;

class Encoder {
 public:
  Encoder(base::Executor& executor, base::Memory& memory, base::Watch& watch)
      : executor_(executor), memory_(memory), watch_(watch) {}

  // Gives all of a tensor to the sink. `importance`: a weight per column, or empty.
  base::Status encode(const Tensor& tensor, std::span<const float> importance, const Sink& sink);

  // How far rows that are spread over a matrix are from the source once they are read back.
  struct Difference {
    double error = 0, size = 0;  // sums of squares
    bool same_bytes = true;      // as encoding gives them again
    bool finite = true;
  };
  // `read` gives bytes of the written tensor.
  base::Result<Difference> compare(const Tensor& tensor, std::span<const float> importance,
                                   const std::function<base::Status(uint64_t, std::span<std::byte>)>& read);

 private:
  base::Status encode_small(const Tensor& tensor, std::span<const float> importance, const Sink& sink);
  base::Status reserve(base::Buffer& buffer, uint64_t bytes);

  base::Executor& executor_;
  base::Memory& memory_;
  base::Watch& watch_;
  base::Buffer out_, scratch_;
};

}  // namespace clef::convert
