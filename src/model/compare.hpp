// Two models of one geometry, weight by weight, whatever containers they are in.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "base/status.hpp"
#include "model/package.hpp"

namespace clef::model {

// A value where the two differ.
struct Outlier {
  int64_t row = 0, column = 0;  // of the first model's order
  float a = 0, b = 0;
};

// Values that are not finite in both count in `non_finite_a`, `non_finite_b` and `differing` only.
struct Difference {
  static constexpr size_t kOutliers = 3;

  int64_t values = 0;
  int64_t differing = 0;  // values that are not the same number in both
  int64_t non_finite_a = 0, non_finite_b = 0;
  double square_sum = 0;                    // of the values of the first model
  double difference_square_sum = 0;         // of the differences
  std::array<Outlier, kOutliers> outliers;  // the largest differences, the largest first
  size_t outlier_count = 0;

  // rms(b - a) / rms(a); infinite when all values of the first are 0 and those of the second are not.
  double relative_error() const noexcept;
  double max_difference() const noexcept;  // 0 when there is none
  // Adds what comes after the values seen so far.
  void add(const Difference& next) noexcept;
  void add_outlier(const Outlier& outlier) noexcept;
};

struct TensorDifference {
  std::string name;  // as in GGUF files: "blk.3.attn_q.weight"
  std::vector<int64_t> shape;
  std::string type_a, type_b;
  Difference difference;
};

struct Comparison {
  std::vector<TensorDifference> tensors;  // in the order of the model
  Difference total;                       // its outliers mean nothing
};

// Weights under their canonical meaning: norms as multipliers, -exp(A_log), scales of the head as they are used. The
// order of value heads may differ. Reads row by row; mapped files are not copied. The vision part is left out.
// Errors: those of loading; invalid_argument when the geometries differ (which number).
base::Result<Comparison> compare(const Package& a, const Package& b, base::Executor& executor, base::Memory& memory,
                                 const base::Hooks& hooks);

// For people and tools.
std::string describe(const Comparison& comparison, const Package& a, const Package& b);

}  // namespace clef::model
