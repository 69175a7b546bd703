// The weights of one axis of a resize. Inside src/media only.
#pragma once
#include <cstdint>

#include "base/memory.hpp"
#include "base/status.hpp"

namespace clef::media {

// Output i is the sum over j < count(i) of input[first(i) + j] * weights(i)[j], plus half, shifted right by precision.
class Axis {
 public:
  static base::Result<Axis> create(uint32_t in, uint32_t out, base::Memory& memory);

  uint32_t in() const noexcept { return in_; }
  uint32_t out() const noexcept { return out_; }
  bool changes() const noexcept { return in_ != out_; }
  uint32_t first(uint32_t i) const noexcept { return spans_.as<Span>()[i].first; }
  uint32_t count(uint32_t i) const noexcept { return spans_.as<Span>()[i].count; }
  uint32_t end(uint32_t i) const noexcept { return first(i) + count(i); }
  const int16_t* weights(uint32_t i) const noexcept { return weights_.as<int16_t>() + uint64_t{i} * taps_; }
  // Weights of one output as they are stored: a multiple of kTapGroup, zeros behind count(i).
  uint32_t taps() const noexcept { return taps_; }
  uint32_t most() const noexcept { return most_; }  // largest count(i)
  int precision() const noexcept { return precision_; }

  static constexpr uint32_t kTapGroup = 8;

 private:
  struct Span {
    uint32_t first, count;
  };
  uint32_t in_ = 0, out_ = 0, taps_ = 0, most_ = 0;
  int precision_ = 0;
  base::Buffer spans_;
  base::Buffer weights_;
};

}  // namespace clef::media
