// Encoding of super-blocks: groups with scales that are small integers times an f16. The groups are fitted alone first,
// then the integers to the fitted scales; then each group tries the integers beside its own, and the f16 moves to where
// the codes want it, as long as that lowers the error.
#pragma once
#include <initializer_list>

#include "quant/blocks.hpp"
#include "quant/fit_range.hpp"

namespace clef::quant {

inline constexpr int kSuperRounds = 3;

// x = d * scale * q
template <size_t kGroup>
struct ScaledSuper {
  static constexpr size_t kGroups = kSuperBlock / kGroup;
  uint16_t d = 0;
  int scales[kGroups] = {};
  uint8_t codes[kSuperBlock];
};

template <size_t kGroup, class Codes, class Scales>
void fit_super(const Source<kSuperBlock>& source, ScaledSuper<kGroup>& out) noexcept {
  constexpr size_t kGroups = kSuperBlock / kGroup;
  float wanted[kGroups], weights[kGroups];
  for (size_t group = 0; group < kGroups; ++group) {
    const size_t at = group * kGroup;
    const ScaleFit fit = fit_scale<kGroup, Codes>(source.values + at, source.weights + at);
    wanted[group] = fit.scale;
    weights[group] = fit.weight;
  }
  HalfScale d = half_scale_above(fit_scale<kGroups, Scales>(wanted, weights).scale, source.exponent);
  HalfScale best_d;
  float least = INFINITY;
  for (int round = 0; round < kSuperRounds && d.bits != 0; ++round) {
    int scales[kGroups];
    float error = 0.0f;
    for (size_t group = 0; group < kGroups; ++group) {
      const float* x = source.values + group * kGroup;
      const float* w = source.weights + group * kGroup;
      const auto middle = static_cast<int>(Scales::nearest(wanted[group] / d.value));
      float group_error = INFINITY;
      scales[group] = middle;
      for (int scale = middle - 1; scale <= middle + 1; ++scale) {
        if (static_cast<float>(scale) < Scales::kFirst || static_cast<float>(scale) > Scales::kLast) continue;
        const float candidate = scale_error<kGroup, Codes>(x, w, d.value * static_cast<float>(scale));
        if (!(candidate < group_error)) continue;
        group_error = candidate;
        scales[group] = scale;
      }
      error += group_error;
    }
    if (!(error < least)) break;
    least = error;
    best_d = d;
    float xq = 0.0f, qq = 0.0f;
    for (size_t group = 0; group < kGroups; ++group) {
      const auto scale = static_cast<float>(scales[group]);
      const float step = d.value * scale;
      out.scales[group] = scales[group];
      if (step == 0.0f) continue;
      const ScaleSums sums =
          scale_sums<kGroup, Codes>(source.values + group * kGroup, source.weights + group * kGroup, 1.0f / step);
      xq += scale * sums.xq;
      qq += scale * scale * sums.qq;
      wanted[group] = sums.qq > 0.0f ? sums.xq / sums.qq : step;
    }
    if (!(qq > 0.0f)) break;
    d = half_scale_above(xq / qq, source.exponent);
    if (d.bits == best_d.bits) break;
  }
  out.d = best_d.bits;
  for (size_t group = 0; group < kGroups; ++group) {
    const float step = best_d.value * static_cast<float>(out.scales[group]);
    scale_to_codes<kGroup, Codes>(source.values + group * kGroup, step, out.codes + group * kGroup);
  }
}

// x = d * scale * q - d_minimum * minimum
template <size_t kGroup>
struct RangeSuper {
  static constexpr size_t kGroups = kSuperBlock / kGroup;
  uint16_t d = 0;
  uint16_t d_minimum = 0;
  uint8_t scales[kGroups] = {};
  uint8_t minima[kGroups] = {};
  uint8_t codes[kSuperBlock];
};

// Moves scale, then minimum, by one where that gives a group a smaller error, which is returned.
template <size_t kGroup, int kTop, int kScaleTop>
float refine_group(const float* x, const float* w, float d, float d_minimum, int& scale, int& minimum) noexcept {
  const auto error_of = [&](int s, int m) {
    return range_error<kGroup, kTop>(x, w, d * static_cast<float>(s), d_minimum * static_cast<float>(m));
  };
  float least = error_of(scale, minimum);
  const int scale_middle = scale, minimum_middle = minimum;
  for (const int s : {scale_middle - 1, scale_middle + 1}) {
    if (s < 0 || s > kScaleTop) continue;
    const float error = error_of(s, minimum);
    if (error < least) least = error, scale = s;
  }
  for (const int m : {minimum_middle - 1, minimum_middle + 1}) {
    if (m < 0 || m > kScaleTop) continue;
    const float error = error_of(scale, m);
    if (error < least) least = error, minimum = m;
  }
  return least;
}

template <size_t kGroup, int kTop, int kScaleTop>
void fit_super(const Source<kSuperBlock>& source, RangeSuper<kGroup>& out) noexcept {
  constexpr size_t kGroups = kSuperBlock / kGroup;
  using Scales = LinearCodes<0, kScaleTop>;
  float scales[kGroups], minima[kGroups], scale_weights[kGroups], minimum_weights[kGroups];
  for (size_t group = 0; group < kGroups; ++group) {
    const size_t at = group * kGroup;
    const RangeFit fit = fit_range<kGroup, kTop>(source.values + at, source.weights + at, false);
    scales[group] = fit.scale, scale_weights[group] = fit.scale_weight;
    minima[group] = fit.minimum, minimum_weights[group] = fit.minimum_weight;
  }
  HalfScale d = half_scale_above(fit_scale<kGroups, Scales>(scales, scale_weights).scale, source.exponent);
  HalfScale d_minimum = half_scale_above(fit_scale<kGroups, Scales>(minima, minimum_weights).scale, source.exponent);
  HalfScale best_d, best_minimum;
  float least = INFINITY;
  for (int round = 0; round < kSuperRounds; ++round) {
    int s[kGroups], m[kGroups];
    float error = 0.0f;
    for (size_t group = 0; group < kGroups; ++group) {
      s[group] = d.bits != 0 ? Scales::code(scales[group] / d.value) : 0;
      m[group] = d_minimum.bits != 0 ? Scales::code(minima[group] / d_minimum.value) : 0;
      error += refine_group<kGroup, kTop, kScaleTop>(source.values + group * kGroup, source.weights + group * kGroup,
                                                     d.value, d_minimum.value, s[group], m[group]);
    }
    if (!(error < least)) break;
    least = error;
    best_d = d, best_minimum = d_minimum;
    // Both f16 together: sums over a = scale * q and b = minimum.
    float aa = 0.0f, ab = 0.0f, bb = 0.0f, xa = 0.0f, xb = 0.0f;
    for (size_t group = 0; group < kGroups; ++group) {
      out.scales[group] = static_cast<uint8_t>(s[group]);
      out.minima[group] = static_cast<uint8_t>(m[group]);
      const auto a = static_cast<float>(s[group]), b = static_cast<float>(m[group]);
      const float step = d.value * a;
      scales[group] = step, minima[group] = d_minimum.value * b;
      const float* x = source.values + group * kGroup;
      const float* w = source.weights + group * kGroup;
      const RangeSums sums = range_sums<kGroup, kTop>(x, w, step != 0.0f ? 1.0f / step : 0.0f, minima[group]);
      float sum_x = 0.0f;
      for (size_t i = 0; i < kGroup; ++i) sum_x += w[i] * x[i];
      aa += a * a * sums.qq, ab += a * b * sums.q, bb += b * b * minimum_weights[group];
      xa += a * sums.xq, xb += b * sum_x;
    }
    const float determinant = aa * bb - ab * ab;
    float scale = 0.0f, minimum = 0.0f;
    if (determinant > 0.0f) {
      scale = (xa * bb - xb * ab) / determinant;
      minimum = (xa * ab - xb * aa) / determinant;
    } else if (aa > 0.0f) {
      scale = xa / aa;
    }
    if (!(scale > 0.0f) || minimum < 0.0f) break;
    d = half_scale_above(scale, source.exponent);
    d_minimum = half_scale_above(minimum, source.exponent);
    if (d.bits == best_d.bits && d_minimum.bits == best_minimum.bits) break;
  }
  out.d = best_d.bits;
  out.d_minimum = best_minimum.bits;
  for (size_t group = 0; group < kGroups; ++group) {
    const float step = best_d.value * static_cast<float>(out.scales[group]);
    const float minimum = best_minimum.value * static_cast<float>(out.minima[group]);
    range_to_codes<kGroup, kTop>(source.values + group * kGroup, step, minimum, out.codes + group * kGroup);
  }
}

}  // namespace clef::quant
