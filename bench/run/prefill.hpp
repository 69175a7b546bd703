// Whole passes of a model through the public interface.
#pragma once
#include <clef/clef.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "usage.hpp"

namespace bench {

// One measured length of prompt.
struct Pass {
  unsigned tokens = 0;
  double seconds = 0, first_seconds = 0;         // best of the repeats; of the first pass, which is no candidate
  double prefill_seconds = 0, head_seconds = 0;  // stages of the best
  Usage first, best;                             // faults and processor time of these two
  uint64_t peak = 0, scratch = 0;                // bytes: resident with mapped files; scratch of the session
  uint64_t estimate = 0, estimate_scratch = 0;   // what the model predicted for the two
};

// Multiply-adds of all matmuls of the backbone, times two, per token, from what Model::describe says; without the
// delta rule, attention scores and the head.
double operations_per_token(const nlohmann::json& geometry);

// A request of exactly `tokens` tokens, answered once to warm up and then `repeats` times. Throws std::runtime_error
// when the model refuses it or the length is too short for the frame of the prompt.
Pass measure_pass(const clef::Model& model, clef::Session& session, unsigned tokens, unsigned repeats);

}  // namespace bench
