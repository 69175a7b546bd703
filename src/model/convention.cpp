#include "model/convention.hpp"

#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

constexpr std::string_view kAdvice =
    "; the answers would be nonsense. Use an unmodified file, or switch the check of weights off if it is right";

}  // namespace

void ConventionCheck::add_norm(std::span<const float> values) noexcept {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value);
    negative_ += value < 0 ? 1 : 0;
  }
  const auto count = static_cast<int64_t>(values.size());
  if (count == 0) return;
  ++norms_;
  norms_near_one_ += sum > 0.5 * static_cast<double>(count) ? 1 : 0;
  values_ += count;
  sum_ += sum;
}

void ConventionCheck::add_a_log(std::span<const float> values) noexcept {
  for (const float value : values) a_negative_ += value < 0 ? 1 : 0;
  a_values_ += static_cast<int64_t>(values.size());
}

Status ConventionCheck::check(const Conventions& conventions, std::string_view file) const {
  // Weights around 0 are negative about half the time, multipliers practically never; together with the means of nine
  // tenths of the tensors that leaves room for any trained model and none for a shifted one.
  const double mean = values_ > 0 ? sum_ / static_cast<double>(values_) : 0;
  const bool plenty = norms_ >= 3 && values_ >= 64;
  if (plenty && conventions.norms_zero_centred && norms_near_one_ * 10 >= norms_ * 9 && negative_ * 100 < values_ &&
      mean > 0.7 && mean < 1.6)
    return file_error(Code::bad_file, file,
                      "the norm weights lie around 1, but in the release's layout they lie around 0 and 1 is added; "
                      "they were probably shifted when the file was converted" +
                          std::string(kAdvice));
  if (plenty && !conventions.norms_zero_centred && (norms_ - norms_near_one_) * 10 >= norms_ * 9 &&
      negative_ * 10 > values_ && mean < 0.25)
    return file_error(
        Code::bad_file, file,
        "the norm weights lie around 0, but in GGUF files and MLX conversions 1 has been added to them; the file was "
        "probably converted without that" +
            std::string(kAdvice));
  // -exp(A_log) is never positive. A_log itself is rarely negative, and never for all heads of all layers.
  if (!conventions.a_log_raw && a_negative_ < a_values_)
    return file_error(
        Code::bad_file, file,
        "the tensors ssm_a hold positive values, but must hold -exp(A_log); they are probably A_log itself" +
            std::string(kAdvice));
  if (conventions.a_log_raw && a_values_ >= 8 && a_negative_ == a_values_)
    return file_error(
        Code::bad_file, file,
        "all values of the tensors A_log are negative; they are probably -exp(A_log) already" + std::string(kAdvice));
  return {};
}

}  // namespace clef::model
