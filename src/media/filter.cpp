#include "media/filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace clef::media {

using base::Buffer;
using base::Memory;
using base::Result;

namespace {

constexpr double kRadius = 2;  // of the cubic, in pixels of the coarser grid
constexpr double kSharpness = -0.5;

double cubic(double x) noexcept {
  const double a = kSharpness;
  x = std::fabs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Half is added and the fraction cut off, as the reference does (below 0 that is no rounding).
int64_t cut(double value) noexcept {
  value += 0.5;
  return static_cast<int64_t>(value);
}

// Everything in doubles and in the reference's order of operations, so that integer weights come out equal.
struct Grid {
  double scale, support, inverse;
  int64_t in;

  Grid(uint32_t from, uint32_t to) noexcept
      : scale(double(from) / to),
        support(kRadius * std::max(scale, 1.0)),
        inverse(1 / std::max(scale, 1.0)),
        in(from) {}
  double center(uint32_t i) const noexcept { return scale * (i + 0.5); }
  int64_t first(uint32_t i) const noexcept { return std::max<int64_t>(cut(center(i) - support), 0); }
  int64_t end(uint32_t i) const noexcept { return std::min<int64_t>(cut(center(i) + support), in); }
  // Weight of the j-th input of output i, before it is divided by their sum.
  double weight(uint32_t i, int64_t j) const noexcept {
    return cubic((static_cast<double>(j) + (static_cast<double>(first(i)) - center(i)) + 0.5) * inverse);
  }
  double sum(uint32_t i) const noexcept {
    double total = 0;
    for (int64_t j = 0; j < end(i) - first(i); ++j) total += weight(i, j);
    return total;
  }
};

// The largest precision, up to 22 bits, at which the largest weight still has 16 bits.
int precision_for(double largest) noexcept {
  int precision = 0;
  while (precision < 22 && cut(largest * (1 << (precision + 1))) < (1 << 15)) ++precision;
  return precision;
}

}  // namespace

Result<Axis> Axis::create(uint32_t in, uint32_t out, Memory& memory) {
  Axis axis;
  axis.in_ = in, axis.out_ = out;
  if (in == out) return axis;
  const Grid grid(in, out);
  CLEF_ASSIGN_OR_RETURN(axis.spans_, Buffer::create(memory, uint64_t{out} * sizeof(Span), "the spans of a scaling"));
  double largest = 0;
  for (uint32_t i = 0; i < out; ++i) {
    const int64_t count = grid.end(i) - grid.first(i);
    axis.spans_.as<Span>()[i] = {static_cast<uint32_t>(grid.first(i)), static_cast<uint32_t>(count)};
    axis.most_ = std::max(axis.most_, static_cast<uint32_t>(count));
    const double sum = grid.sum(i);
    for (int64_t j = 0; j < count; ++j) largest = std::max(largest, grid.weight(i, j) / sum);
  }
  axis.precision_ = precision_for(largest);
  axis.taps_ = (axis.most_ + kTapGroup - 1) / kTapGroup * kTapGroup;
  const uint64_t bytes = uint64_t{out} * axis.taps_ * sizeof(int16_t);
  CLEF_ASSIGN_OR_RETURN(axis.weights_, Buffer::create(memory, bytes, "the weights of a scaling"));
  auto* weights = axis.weights_.as<int16_t>();
  std::memset(weights, 0, static_cast<size_t>(bytes));
  for (uint32_t i = 0; i < out; ++i, weights += axis.taps_) {
    const double sum = grid.sum(i);
    for (uint32_t j = 0; j < axis.count(i); ++j) {
      const double weight = grid.weight(i, j) / sum * (1 << axis.precision_);
      weights[j] = static_cast<int16_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
  }
  return axis;
}

}  // namespace clef::media
