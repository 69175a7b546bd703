// As fit.hpp, for codes of which the lowest stands for a minimum of its own: x = scale * q - minimum.
#pragma once
#include "quant/fit.hpp"

namespace clef::quant {

struct RangeFit {
  float scale = 0.0f;
  float minimum = 0.0f;
  float scale_weight = 0.0f;  // the weighted error grows by about these times the square of a change
  float minimum_weight = 0.0f;
};

template <int kTop>
int range_code(float value) noexcept {
  return LinearCodes<0, kTop>::code(value);
}

// Sums over the codes q nearest to inverse * (x + minimum).
struct RangeSums {
  float q, qq, xq;
};

template <size_t kCount, int kTop>
RangeSums range_sums(const float* x, const float* weights, float inverse, float minimum) noexcept {
  static_assert(kCount % kLanes == 0);
  float sq[kLanes] = {}, sqq[kLanes] = {}, sxq[kLanes] = {};
  for (size_t i = 0; i < kCount; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto q = static_cast<float>(range_code<kTop>(inverse * (x[i + lane] + minimum)));
      const float wq = weights[i + lane] * q;
      sq[lane] += wq;
      sqq[lane] += wq * q;
      sxq[lane] += wq * x[i + lane];
    }
  }
  return {sum_lanes(sq), sum_lanes(sqq), sum_lanes(sxq)};
}

// The scale >= 0 and minimum with the smallest weighted error. Unless `any_minimum`, the minimum is not below 0, as
// super-blocks want it: the lowest code then stands for 0 or less.
template <size_t kCount, int kTop>
RangeFit fit_range(const float* x, const float* weights, bool any_minimum) noexcept {
  float lowest = x[0], highest = x[0];
  float w[kLanes] = {}, wx[kLanes] = {}, wxx[kLanes] = {};
  for (size_t i = 0; i < kCount; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = x[i + lane];
      lowest = value < lowest ? value : lowest;
      highest = value > highest ? value : highest;
      const float weighted = weights[i + lane] * value;
      w[lane] += weights[i + lane];
      wx[lane] += weighted;
      wxx[lane] += weighted * value;
    }
  }
  if (!any_minimum && lowest > 0.0f) lowest = 0.0f;
  const float sum_w = sum_lanes(w), sum_x = sum_lanes(wx), sum_xx = sum_lanes(wxx);
  RangeFit best{0.0f, -lowest, 0.0f, sum_w};
  if (!(highest > lowest)) return best;

  float least = INFINITY;
  const auto consider = [&](float inverse, float minimum) {
    const RangeSums sums = range_sums<kCount, kTop>(x, weights, inverse, minimum);
    const float determinant = sum_w * sums.qq - sums.q * sums.q;
    float scale = 0.0f, offset = 0.0f;
    const bool spread = determinant > 1e-5f * sum_w * sums.qq;  // not all values have one code
    if (spread) {
      scale = (sum_w * sums.xq - sum_x * sums.q) / determinant;
      offset = (sums.q * sums.xq - sums.qq * sum_x) / determinant;
    }
    if (!spread || (!any_minimum && offset < 0.0f)) {
      if (!(sums.qq > 0.0f)) return false;
      scale = sums.xq / sums.qq;
      offset = 0.0f;
    }
    if (!(scale > 0.0f)) return false;
    const float error = sum_xx + scale * (scale * sums.qq - 2.0f * (sums.xq + offset * sums.q)) +
                        offset * (offset * sum_w + 2.0f * sum_x);
    if (!(error < least)) return false;
    least = error;
    best = {scale, offset, sums.qq, sum_w};
    return true;
  };
  constexpr int kSteps = 9;
  constexpr float kReach = 0.95f;
  for (int step = -kSteps; step <= kSteps; ++step) {
    const float top = static_cast<float>(kTop) + kReach / static_cast<float>(kSteps) * static_cast<float>(step);
    consider(top / (highest - lowest), -lowest);
  }
  for (int round = 0; round < 3 && best.scale > 0.0f; ++round)
    if (!consider(1.0f / best.scale, best.minimum)) break;
  return best;
}

template <size_t kCount, int kTop>
float range_error(const float* x, const float* weights, float scale, float minimum) noexcept {
  const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
  float error[kLanes] = {};
  for (size_t i = 0; i < kCount; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto q = static_cast<float>(range_code<kTop>(inverse * (x[i + lane] + minimum)));
      const float difference = x[i + lane] + minimum - scale * q;
      error[lane] += weights[i + lane] * difference * difference;
    }
  }
  return sum_lanes(error);
}

// x = scale * q + lowest, both f16.
struct HalfRange {
  HalfScale scale, lowest;
};

template <size_t kCount, int kTop>
HalfRange fit_half_range(const Source<kCount>& source) noexcept {
  const RangeFit fit = fit_range<kCount, kTop>(source.values, source.weights, true);
  HalfRange best{half_scale(fit.scale, source.exponent), half_scale(-fit.minimum, source.exponent)};
  float least = range_error<kCount, kTop>(source.values, source.weights, best.scale.value, -best.lowest.value);
  // The rounded minimum wants another scale, and so do coarse f16: try the neighbours, too.
  if (fit.scale == 0.0f) return best;
  const float minimum = -best.lowest.value;
  const RangeSums sums = range_sums<kCount, kTop>(source.values, source.weights, 1.0f / fit.scale, minimum);
  if (!(sums.qq > 0.0f) || !(sums.xq + minimum * sums.q > 0.0f)) return best;
  const unsigned middle = half_scale((sums.xq + minimum * sums.q) / sums.qq, source.exponent).bits;
  for (unsigned bits = middle > 1 ? middle - 1 : 1; bits <= middle + 1 && bits < 0x7c00u; ++bits) {
    const HalfScale candidate = half_scale_of_bits(bits, source.exponent);
    const float error = range_error<kCount, kTop>(source.values, source.weights, candidate.value, minimum);
    if (!(error < least)) continue;
    least = error;
    best.scale = candidate;
  }
  return best;
}

template <size_t kCount, int kTop>
void range_to_codes(const float* x, float scale, float minimum, uint8_t* codes) noexcept {
  const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
  for (size_t i = 0; i < kCount; ++i) codes[i] = static_cast<uint8_t>(range_code<kTop>(inverse * (x[i] + minimum)));
}

}  // namespace clef::quant
