#include "prefill.hpp"

#include <chrono>
#include <stdexcept>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

template <class Result>
auto& checked(Result& result, const char* what) {
  if (!result) throw std::runtime_error(std::string(what) + ": " + std::string(result.error().message()));
  return *result;
}

// The shortest question there is.
clef::Schema make_schema() {
  auto schema = clef::Schema::builder().choice("q", "true", {"a", "b"}).build();
  return std::move(checked(schema, "schema"));
}

// A state of at least so many tokens, and not many more than twice as many.
clef::State make_state(const clef::Model& model, const clef::Schema& schema, unsigned tokens) {
  static constexpr std::string_view kText =
      "The customer was charged twice for this order and has to be refunded; please send it back to the field. ";
  std::string text;
  for (size_t sentences = 1 + tokens / 64;; sentences *= 2) {
    while (text.size() < sentences * kText.size()) text += kText;
    auto state = clef::State::text(text);
    const auto counts = model.count_tokens(schema, checked(state, "state"));
    if (checked(counts, "tokens").fixed >= tokens)
      throw std::runtime_error("the frame of the prompt alone has " + std::to_string(counts->fixed) +
                               " tokens; measure more than that");
    if (counts->fixed + counts->state >= tokens) return std::move(*state);
  }
}

double seconds_of(const clef::Decision& decision, clef::Stage stage) {
  return std::chrono::duration<double>(decision.time(stage)).count();
}

}  // namespace

double operations_per_token(const nlohmann::json& geometry) {
  const auto size = [&](const char* key) { return geometry.at(key).get<double>(); };
  const double hidden = size("hidden"), layers = size("layers"), attention = size("attention_layers");
  const double queries = size("heads") * size("head_dim"), keys = size("kv_heads") * size("head_dim");
  const double delta_keys = size("delta_key_heads") * size("delta_key_dim");
  const double delta_values = size("delta_value_heads") * size("delta_value_dim");
  const double of_mlp = 3 * hidden * size("intermediate");
  const double of_attention = hidden * (2 * queries + 2 * keys) + queries * hidden;
  const double of_delta =
      hidden * (2 * delta_keys + 2 * delta_values + 2 * size("delta_value_heads")) + delta_values * hidden;
  return 2 * (layers * of_mlp + attention * of_attention + (layers - attention) * of_delta);
}

Pass measure_pass(const clef::Model& model, clef::Session& session, unsigned tokens, unsigned repeats) {
  const clef::Schema schema = make_schema();
  const clef::State state = make_state(model, schema, tokens);
  clef::Options options;
  options.max_tokens = tokens;
  options.truncation = clef::Truncation::state_tail;
  Pass pass;
  pass.tokens = tokens;
  auto estimate = model.estimate(tokens, options);
  pass.estimate_scratch = checked(estimate, "estimate").scratch;
  pass.estimate = estimate->scratch + estimate->weights;
  reset_peak_bytes();
  for (unsigned i = 0; i <= repeats; ++i) {
    const Usage before = usage_now();
    const auto begin = Clock::now();
    const auto decision = session.decide(schema, state, options);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const Usage used = usage_now() - before;
    if (checked(decision, "decision").input_tokens() != tokens)
      throw std::runtime_error("the prompt has " + std::to_string(decision->input_tokens()) + " tokens instead of " +
                               std::to_string(tokens));
    if (i == 0) pass.first_seconds = seconds, pass.first = used;
    if (i != 1 && (i == 0 || seconds >= pass.seconds)) continue;
    pass.seconds = seconds, pass.best = used;
    pass.prefill_seconds = seconds_of(*decision, clef::Stage::prefill);
    pass.head_seconds = seconds_of(*decision, clef::Stage::head);
  }
  pass.peak = peak_bytes();
  pass.scratch = session.memory().peak;
  return pass;
}

}  // namespace bench
