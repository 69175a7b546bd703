// The search for scales that encoders share: least squares over the codes that a number of candidate scales give. All
// sums run in eight lanes of a fixed order, so that compilers vectorise them and every build gives the same blocks.
#pragma once
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "quant/half.hpp"

namespace clef::quant {

inline constexpr size_t kLanes = 8;

inline float sum_lanes(const float* lanes) noexcept {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

inline float power_of_two(int exponent) noexcept {  // of a normal number
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

// The values of a block, brought near 1 by a power of two, and the weight of each one's squared error.
template <size_t kCount>
struct Source {
  float values[kCount];
  float weights[kCount];
  int exponent = 0;  // values are the given ones times 2^-exponent
};

// What is not finite counts as 0. `importance` (may be nullptr) holds a weight for each value; only ratios matter, and
// every value keeps a little weight, so that no sum of weights is 0.
template <size_t kCount>
void take(const float* src, const float* importance, Source<kCount>& out) noexcept {
  float largest = 0.0f;
  for (size_t i = 0; i < kCount; ++i) {
    const float magnitude = std::fabs(src[i]);
    out.values[i] = magnitude <= 0x1.fffffep127f ? src[i] : 0.0f;
    largest = std::fabs(out.values[i]) > largest ? std::fabs(out.values[i]) : largest;
  }
  // The smallest step of any format is 2^-24, the smallest f16; what is far below it stays there.
  const int exponent = static_cast<int>(std::bit_cast<uint32_t>(largest) >> 23) - 127;
  out.exponent = exponent < -30 ? -30 : (exponent < 126 ? exponent : 126);
  const float factor = power_of_two(-out.exponent);
  for (size_t i = 0; i < kCount; ++i) {
    const float value = out.values[i] * factor;
    out.values[i] = std::fabs(value) < 0x1p-40f ? 0.0f : value;  // below every step, and too small to divide by
  }

  float heaviest = 0.0f;
  if (importance != nullptr) {
    for (size_t i = 0; i < kCount; ++i)
      if (importance[i] > heaviest && importance[i] <= 0x1.fffffep127f) heaviest = importance[i];
  }
  for (size_t i = 0; i < kCount; ++i) {
    const bool valid = heaviest > 0.0f && importance[i] > 0.0f && importance[i] <= heaviest;
    const float ratio = valid ? importance[i] / heaviest : (heaviest > 0.0f ? 0.0f : 1.0f);
    out.weights[i] = ratio > 0x1p-20f ? ratio : 0x1p-20f;
  }
}

template <size_t kValues, size_t kBytes, void (*kEncodeBlock)(const Source<kValues>&, std::byte*) noexcept>
void encode_blocks(const float* src, const float* importance, std::byte* dst, size_t count) noexcept {
  Source<kValues> source;
  for (size_t first = 0; first + kValues <= count; first += kValues, dst += kBytes) {
    take(src + first, importance != nullptr ? importance + first : nullptr, source);
    kEncodeBlock(source, dst);
  }
}

// A scale as f16, and what it is then among values times 2^-exponent. Scales beyond f16 become its largest number: such
// values are cut, but stay finite.
struct HalfScale {
  uint16_t bits = 0;
  float value = 0.0f;
};

inline HalfScale half_scale_of_bits(unsigned bits, int exponent) noexcept {
  return {static_cast<uint16_t>(bits), widen_f16(static_cast<uint16_t>(bits)) * power_of_two(-exponent)};
}

inline HalfScale half_scale(float scale, int exponent) noexcept {
  float given = scale * power_of_two(exponent);
  given = given > 65504.0f ? 65504.0f : (given < -65504.0f ? -65504.0f : given);
  const unsigned bits = narrow_f16(given);
  return half_scale_of_bits((bits & 0x7fffu) == 0 ? 0 : bits, exponent);
}

// For scales that integers multiply: where f16 is coarse, the next larger one, so that the largest integer reaches.
inline HalfScale half_scale_above(float scale, int exponent) noexcept {
  const HalfScale half = half_scale(scale, exponent);
  if ((half.bits & 0x7fffu) >= 0x0400u || !(std::fabs(half.value) < std::fabs(scale))) return half;
  return half_scale_of_bits((half.bits | (scale < 0.0f ? 0x8000u : 0u)) + 1u, exponent);
}

// Codes that stand for the numbers kLow ... kHigh.
template <int kLow, int kHigh>
struct LinearCodes {
  static constexpr float kFirst = static_cast<float>(kLow);
  static constexpr float kLast = static_cast<float>(kHigh);
  static int code(float value) noexcept {
    float above = (value > kFirst ? (value < kLast ? value : kLast) : kFirst) - kFirst;  // 0 for NaN, too
    above += 0.5f;  // to the nearest: it is not negative
    return static_cast<int>(above);
  }
  static float nearest(float value) noexcept { return static_cast<float>(code(value)) + kFirst; }
};

// Sums over values x and the numbers q nearest to inverse * x.
struct ScaleSums {
  float xq, qq;
};

template <size_t kCount, class Codes>
ScaleSums scale_sums(const float* x, const float* weights, float inverse) noexcept {
  static_assert(kCount % kLanes == 0);
  float xq[kLanes] = {}, qq[kLanes] = {};
  for (size_t i = 0; i < kCount; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float q = Codes::nearest(inverse * x[i + lane]);
      const float wq = weights[i + lane] * q;
      xq[lane] += wq * x[i + lane];
      qq[lane] += wq * q;
    }
  }
  return {sum_lanes(xq), sum_lanes(qq)};
}

struct ScaleFit {
  float scale = 0.0f;
  float weight = 0.0f;  // the weighted error grows by this times the square of a change of the scale
};

// The scale, of either sign, with the smallest weighted error of scale * q. Candidates map the value of the largest
// magnitude near to one or the other end of the codes; then the best one is moved to where its codes want it.
template <size_t kCount, class Codes>
ScaleFit fit_scale(const float* x, const float* weights) noexcept {
  // The magnitude is kept beside the value: clang 19 -O3 takes fabs(extreme) for extreme where 0 is the first one.
  float extreme = 0.0f, largest = 0.0f;
  for (size_t i = 0; i < kCount; ++i) {
    if (!(std::fabs(x[i]) > largest)) continue;
    largest = std::fabs(x[i]);
    extreme = x[i];
  }
  ScaleFit best;
  if (extreme == 0.0f) return best;
  constexpr int kSteps = 7;
  constexpr float kStep = Codes::kLast > 64.0f ? 1.0f : 0.14f;
  float gain = 0.0f;
  const auto consider = [&](float inverse) {
    const ScaleSums sums = scale_sums<kCount, Codes>(x, weights, inverse);
    if (!(sums.qq > 0.0f) || !(sums.xq * sums.xq > gain * sums.qq)) return false;
    gain = sums.xq * sums.xq / sums.qq;
    best = {sums.xq / sums.qq, sums.qq};
    return true;
  };
  for (const float end : {Codes::kFirst, Codes::kLast}) {
    if (end == 0.0f) continue;
    for (int step = -kSteps; step <= kSteps; ++step) consider((end + kStep * static_cast<float>(step)) / extreme);
  }
  for (int round = 0; round < 3 && best.scale != 0.0f; ++round)
    if (!consider(1.0f / best.scale)) break;
  return best;
}

// The weighted squared error of the numbers nearest to x / scale.
template <size_t kCount, class Codes>
float scale_error(const float* x, const float* weights, float scale) noexcept {
  const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
  float error[kLanes] = {};
  for (size_t i = 0; i < kCount; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float difference = x[i + lane] - scale * Codes::nearest(inverse * x[i + lane]);
      error[lane] += weights[i + lane] * difference * difference;
    }
  }
  return sum_lanes(error);
}

// The f16 nearest to a fitted scale, or one beside it where that gives a smaller error.
template <size_t kCount, class Codes>
HalfScale fit_half_scale(const Source<kCount>& source) noexcept {
  const ScaleFit fit = fit_scale<kCount, Codes>(source.values, source.weights);
  HalfScale best = half_scale(fit.scale, source.exponent);
  const unsigned sign = fit.scale < 0.0f ? 0x8000u : 0u;
  const unsigned middle = best.bits & 0x7fffu;
  float least = scale_error<kCount, Codes>(source.values, source.weights, best.value);
  for (unsigned bits = middle > 1 ? middle - 1 : 1; bits <= middle + 1 && bits < 0x7c00u && fit.scale != 0.0f; ++bits) {
    const HalfScale candidate = half_scale_of_bits(bits | sign, source.exponent);
    const float error = scale_error<kCount, Codes>(source.values, source.weights, candidate.value);
    if (!(error < least)) continue;
    least = error;
    best = candidate;
  }
  return best;
}

// The final codes, of any sign of scale.
template <size_t kCount, class Codes>
void scale_to_codes(const float* x, float scale, uint8_t* codes) noexcept {
  const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < kCount; ++i) codes[i] = static_cast<uint8_t>(Codes::code(inverse * x[i]));
}

}  // namespace clef::quant
