// A small generator that gives the same numbers everywhere.
#pragma once
#include <cmath>
#include <cstdint>

namespace synth {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {  // splitmix64
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t bound) { return (next() >> 32) * bound >> 32; }  // bound below 2^32
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal(double deviation) {
    const double radius = std::sqrt(-2 * std::log(uniform(0x1p-60, 1)));
    return deviation * radius * std::cos(uniform(0, 6.283185307179586));
  }

 private:
  uint64_t state_;
};

}  // namespace synth
