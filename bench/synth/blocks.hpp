// Made-up weights: a pool of blocks per type, repeated in random order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "random.hpp"
#include "tensors.hpp"

namespace synth {

inline constexpr double kDeviation = 0.02;  // of the decoded weights

// Whether a matrix of this type can be made up.
bool can_make(const clef::quant::Format& format);

using Sink = std::function<void(std::span<const std::byte>)>;

class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  // The bytes of a tensor, in pieces of a few megabytes.
  void write(const Tensor& tensor, const Sink& sink);

 private:
  const std::vector<std::byte>& pool(const clef::quant::Format& format);
  void write_values(const Tensor& tensor, const Sink& sink);

  Random random_;
  std::map<const clef::quant::Format*, std::vector<std::byte>> pools_;
};

}  // namespace synth
