// Canonical weights: what every container's tensors become. Large matrices stay where the file has them; only small
// vectors (norms as plain multipliers, -exp(A_log), biases, scalars) are converted, to f32.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "device/device.hpp"
#include "layers/attention.hpp"
#include "layers/delta_net.hpp"
#include "layers/layer_norm.hpp"
#include "model/package.hpp"

namespace clef::model {

using device::Weight;

using layers::AttentionWeights;
using layers::DeltaNetWeights;

struct LayerWeights {
  Weight input_norm, post_norm, gate, up, down;
  AttentionWeights attention;  // by the layer's kind
  DeltaNetWeights delta_net;
};

struct HeadAttentionWeights {
  Weight q, k, v, out, q_bias, k_bias, v_bias, out_bias;
};

using NormWeights = layers::LayerNormWeights;

struct HeadFeedForward {
  Weight up, up_bias, down, down_bias;
};

struct EvidenceLayer {
  NormWeights query_norm, memory_norm, feedforward_norm;
  HeadAttentionWeights attention;
  HeadFeedForward feedforward;
};

struct DecoderLayer {
  NormWeights self_norm, cross_norm, feedforward_norm;
  HeadAttentionWeights self_attention, cross_attention;
  HeadFeedForward feedforward;
};

struct HeadWeights {
  NormWeights hidden_norm, summary_norm, field_norm, option_norm;
  Weight memory, question, option_question, global, option_context, option_lexical;
  Weight types;  // [3, width]
  std::vector<EvidenceLayer> evidence;
  std::vector<DecoderLayer> decoder;
  Weight scorer, scorer_bias, scorer_out, scorer_out_bias;
  float prior_scale = 0, joint_scale = 0, gate = 0;  // final: exp(min(., ln 100)), sigmoid
};

// What the release's scalars mean: logit scales stand under an exponential with a limit, the gate under a sigmoid.
float final_logit_scale(float stored) noexcept;
float final_gate(float stored) noexcept;

// What the bytes behind weights lie in.
struct WeightStorage {
  std::vector<std::vector<float>> vectors;  // converted vectors
  std::vector<std::unique_ptr<quant::Scaling>> scalings;
  std::vector<base::Buffer> copies;    // tensors whose source is not in memory, or that were copied
  std::vector<io::SourcePtr> sources;  // keep the mappings alive
  uint64_t mapped_bytes = 0, copied_bytes = 0;
};

struct Weights : WeightStorage {
  Weight embeddings, lm_head, final_norm;
  std::vector<LayerWeights> layers;
  HeadWeights head;
};

struct WeightOptions {
  bool copy = false;  // hold everything in memory
  bool check_convention = true;
};

// Checks presence, shape and type of every tensor that the model needs (each message names file and tensor) and that no
// norm vector or scalar holds a non-finite value. Tensors that are not needed are ignored.
base::Result<Weights> resolve_weights(const Package& package, const WeightOptions& options, base::Memory& memory,
                                      base::Watch& watch);

}  // namespace clef::model
