// The last part of the head: a prior from the words of an option, and a joint score of field and option.
#include <algorithm>
#include <cmath>

#include "decide/head.hpp"

namespace clef::decide {

using base::Status;
using device::Epilogue;
using device::Product;
using device::Rows;

namespace {

constexpr int64_t kBatch = 256;  // options scored at a time

float dot(const float* a, const float* b, int64_t n) {
  float sum = 0;
  for (int64_t j = 0; j < n; ++j) sum += a[j] * b[j];
  return sum;
}

float norm(const float* a, int64_t n, float smallest) {
  return std::max(std::sqrt(dot(a, a, n)), smallest);
}

}  // namespace

// prior = scale n(l) . n(q + g); joint = scale cos(F, o) + scorer([F, o, F * o, |F - o|]); logit = prior + gate * joint
Status Head::score() {
  const int64_t hidden = config_.hidden, width = config_.head.width;
  const float eps = config_.head.norm_eps;
  const Rows fields{attended_.get(), 0, questions_};
  device_.layer_norm({field_rows_.get(), 0, questions_}, head_.field_norm.scale, head_.field_norm.bias, eps, fields,
                     {-1, "head field norm"});
  std::vector<float> field(static_cast<size_t>(questions_ * width));
  CLEF_RETURN_IF_ERROR(device_.download(fields, field));
  const Rows normed{queries_.get(), 0, options_};
  device_.layer_norm({option_rows_.get(), 0, options_}, head_.option_norm.scale, head_.option_norm.bias, eps, normed,
                     {-1, "head option norm"});
  std::vector<float> option(static_cast<size_t>(options_ * width));
  CLEF_RETURN_IF_ERROR(device_.download(normed, option));
  CLEF_ASSIGN_OR_RETURN(std::vector<float> question, download(*question_means_));
  CLEF_ASSIGN_OR_RETURN(const std::vector<float> lexical, download(*lexical_));
  CLEF_ASSIGN_OR_RETURN(const std::vector<float> last, download(*last_));
  for (size_t i = 0; i < question.size(); ++i) question[i] += last[i % static_cast<size_t>(hidden)];

  const int64_t batch = std::min(kBatch, options_);
  device::Device& device = device_;
  CLEF_ASSIGN_OR_RETURN(const auto features, device.allocate(batch, 4 * width, device::Role::matmul_input));
  CLEF_ASSIGN_OR_RETURN(const auto inner, device.allocate(batch, width, device::Role::matmul_input));
  CLEF_ASSIGN_OR_RETURN(const auto result, device.allocate(batch, 1, device::Role::activation));
  std::vector<float> values(static_cast<size_t>(batch * 4 * width)), scored(static_cast<size_t>(batch));
  logits_.assign(static_cast<size_t>(options_), 0.0f);
  const auto field_of = [&](int64_t i) {
    const int64_t q = question_of_option_[static_cast<size_t>(i)].first;
    return field.data() + q * width;
  };
  for (int64_t first = 0; first < options_; first += batch) {
    const int64_t count = std::min(batch, options_ - first);
    for (int64_t i = 0; i < count; ++i) {
      const float *f = field_of(first + i), *o = option.data() + (first + i) * width;
      float* x = values.data() + i * 4 * width;
      for (int64_t j = 0; j < width; ++j) {
        x[j] = f[j], x[width + j] = o[j];
        x[2 * width + j] = f[j] * o[j], x[3 * width + j] = std::fabs(f[j] - o[j]);
      }
    }
    const size_t used = static_cast<size_t>(count);
    device_.upload(std::span<const float>(values).first(used * static_cast<size_t>(4 * width)),
                   {features.get(), 0, count});
    const Product up[] = {{&head_.scorer, {inner.get(), 0, count}, Epilogue::gelu, &head_.scorer_bias}};
    device_.matmul({features.get(), 0, count}, up);
    const Product out[] = {{&head_.scorer_out, {result.get(), 0, count}, Epilogue::store, &head_.scorer_out_bias}};
    device_.matmul({inner.get(), 0, count}, out);
    CLEF_RETURN_IF_ERROR(device_.download({result.get(), 0, count}, std::span<float>(scored).first(used)));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t index = first + i, q = question_of_option_[static_cast<size_t>(index)].first;
      const float *f = field_of(index), *o = option.data() + index * width;
      const float *l = lexical.data() + index * hidden, *asked = question.data() + q * hidden;
      const float prior =
          head_.prior_scale * dot(l, asked, hidden) / (norm(l, hidden, 1e-12f) * norm(asked, hidden, 1e-12f));
      const float cosine = dot(f, o, width) / (norm(f, width, 1e-8f) * norm(o, width, 1e-8f));
      const float joint = head_.joint_scale * cosine + scored[static_cast<size_t>(i)];
      const float logit = prior + head_.gate * joint;
      if (!std::isfinite(logit))
        return Status(base::Code::non_finite, "a logit is NaN or infinite; the weights of the head are damaged");
      logits_[static_cast<size_t>(index)] = logit;
    }
  }
  return {};
}

}  // namespace clef::decide
