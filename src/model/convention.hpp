// Plausibility of the three conventions in which families of files differ: a file of the wrong one loads cleanly and
// answers nonsense. Inside src/model only.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "model/package.hpp"

namespace clef::model {

class ConventionCheck {
 public:
  // Values as the file has them, of the norms that the release stores around 0 (not the delta net's own).
  void add_norm(std::span<const float> values) noexcept;
  // A_log or -exp(A_log), as the file has it.
  void add_a_log(std::span<const float> values) noexcept;
  // bad_file when the values are clearly those of the other convention.
  base::Status check(const Conventions& conventions, std::string_view file) const;

 private:
  int64_t norms_ = 0, norms_near_one_ = 0;  // tensors, and those whose mean is above a half
  int64_t values_ = 0, negative_ = 0;
  double sum_ = 0;
  int64_t a_values_ = 0, a_negative_ = 0;
};

}  // namespace clef::model
