// A file of its own: inlined into their caller, these loops are not vectorised by every compiler.
#include "media/rows.hpp"

#include <algorithm>

namespace clef::media {
namespace {

// The clamp in 16 bits has vector instructions everywhere; sums stay within a few times 255.
uint8_t to_byte(int32_t sum, int precision) noexcept {
  const auto value = static_cast<int16_t>(sum >> precision);
  return static_cast<uint8_t>(std::min<int16_t>(std::max<int16_t>(value, 0), 255));
}

void split(const uint8_t* row, uint32_t width, Planes out) noexcept {
  int16_t* red = out.values;
  int16_t* green = red + out.stride;
  int16_t* blue = green + out.stride;
  for (uint32_t x = 0; x < width; ++x, row += 3) red[x] = row[0], green[x] = row[1], blue[x] = row[2];
}

// A number of taps that the compiler knows would be unrolled before it can be vectorised.
int32_t dot(const int16_t* values, const int16_t* weights, uint32_t taps) noexcept {
  int32_t sum = 0;
  for (uint32_t i = 0; i < taps; ++i) sum += int32_t{values[i]} * int32_t{weights[i]};
  return sum;
}

// Sums that stay in registers; measured, other numbers are much slower with some compilers.
constexpr size_t kLanes = 16;

void vertical_lanes(const uint8_t* const* rows, const int16_t* weights, uint32_t count, int precision, size_t at,
                    uint8_t* out) noexcept {
  int32_t sums[kLanes];
  for (size_t i = 0; i < kLanes; ++i) sums[i] = 1 << (precision - 1);
  for (uint32_t j = 0; j < count; ++j) {
    const uint8_t* row = rows[j] + at;
    const int32_t weight = weights[j];
    for (size_t i = 0; i < kLanes; ++i) sums[i] += row[i] * weight;
  }
  for (size_t i = 0; i < kLanes; ++i) out[i] = to_byte(sums[i], precision);
}

}  // namespace

void horizontal_row(const uint8_t* row, const Axis& axis, Planes planes, uint8_t* out) noexcept {
  split(row, axis.in(), planes);
  const int precision = axis.precision();
  const int32_t half = 1 << (precision - 1);
  const uint32_t taps = axis.taps();
  const int16_t* weights = axis.weights(0);
  for (uint32_t x = 0; x < axis.out(); ++x, weights += taps, out += kChannels) {
    const int16_t* values = planes.values + axis.first(x);
    for (size_t channel = 0; channel < kChannels; ++channel)
      out[channel] = to_byte(half + dot(values + channel * planes.stride, weights, taps), precision);
  }
}

void vertical_row(const uint8_t* const* rows, const Axis& axis, uint32_t y, size_t bytes, uint8_t* out) noexcept {
  const int16_t* weights = axis.weights(y);
  const uint32_t count = axis.count(y);
  const int precision = axis.precision();
  size_t at = 0;
  for (; at + kLanes <= bytes; at += kLanes) vertical_lanes(rows, weights, count, precision, at, out + at);
  for (; at < bytes; ++at) {
    int32_t sum = 1 << (precision - 1);
    for (uint32_t j = 0; j < count; ++j) sum += rows[j][at] * weights[j];
    out[at] = to_byte(sum, precision);
  }
}

}  // namespace clef::media
