// The decision head's weights.
#include <algorithm>
#include <cmath>

#include "model/message.hpp"
#include "model/names.hpp"
#include "model/tensor_reader.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

class Head {
 public:
  Head(const Package& package, TensorReader& reader, HeadWeights& out)
      : package_(package),
        config_(package.config.head),
        reader_(reader),
        out_(out),
        release_(package.head.release_names),
        where_(package.head.file) {}

  Status run() {
    const int64_t hidden = package_.config.hidden, width = config_.width;
    CLEF_RETURN_IF_ERROR(norm(top(pick(kHiddenNorm)), hidden, out_.hidden_norm));
    CLEF_RETURN_IF_ERROR(norm(top(pick(kSummaryNorm)), width, out_.summary_norm));
    CLEF_RETURN_IF_ERROR(norm(top(pick(kFieldNorm)), width, out_.field_norm));
    CLEF_RETURN_IF_ERROR(norm(top(pick(kOptionNorm)), width, out_.option_norm));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kMemory)), width, hidden, out_.memory));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kQuestion)), width, hidden, out_.question));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kOptionQuestion)), width, hidden, out_.option_question));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kGlobal)), width, hidden, out_.global));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kOptionContext)), width, hidden, out_.option_context));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kOptionLexical)), width, hidden, out_.option_lexical));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kTypes)), 3, width, out_.types));
    out_.evidence.resize(static_cast<size_t>(config_.routing_layers));
    out_.decoder.resize(static_cast<size_t>(config_.decoder_layers));
    for (size_t i = 0; i < out_.evidence.size(); ++i) CLEF_RETURN_IF_ERROR(evidence(i, out_.evidence[i]));
    for (size_t i = 0; i < out_.decoder.size(); ++i) CLEF_RETURN_IF_ERROR(decoder(i, out_.decoder[i]));
    CLEF_RETURN_IF_ERROR(matrix(top(pick(kScorer)) + ".weight", width, 4 * width, out_.scorer));
    CLEF_RETURN_IF_ERROR(vector(top(pick(kScorer)) + ".bias", width, out_.scorer_bias));
    const Shape row[] = {{1, width}, {width}};
    CLEF_RETURN_IF_ERROR(reader_.matrix(top(pick(kScorerOut)) + ".weight", where_, 1, width, out_.scorer_out, row));
    CLEF_RETURN_IF_ERROR(vector(top(pick(kScorerOut)) + ".bias", 1, out_.scorer_out_bias));
    return scalars();
  }

 private:
  // Names at the start; those inside layers follow a prefix of their own.
  std::string top(const std::string& name) const { return package_.head.prefix + name; }
  std::string pick(const Name& name) const { return release_ ? name.release : name.gguf; }

  Status matrix(const std::string& name, int64_t rows, int64_t columns, Weight& out) {
    return reader_.matrix(name, where_, rows, columns, out);
  }
  Status vector(const std::string& name, int64_t size, Weight& out) { return reader_.vector(name, where_, size, out); }
  Status norm(const std::string& name, int64_t size, NormWeights& out) {
    return reader_.layer_norm(name, where_, size, out);
  }

  Status evidence(size_t index, EvidenceLayer& layer) {
    const std::string at = top(release_ ? "evidence_layers." : "dec.blk.") + std::to_string(index) + ".";
    CLEF_RETURN_IF_ERROR(norm(at + pick(kEvidenceQueryNorm), config_.width, layer.query_norm));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kEvidenceMemoryNorm), config_.width, layer.memory_norm));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kEvidenceFeedForwardNorm), config_.width, layer.feedforward_norm));
    CLEF_RETURN_IF_ERROR(attention(at + pick(kEvidenceAttention), layer.attention));
    return feed_forward(at + pick(kEvidenceUp), at + pick(kEvidenceDown), layer.feedforward);
  }

  Status decoder(size_t index, DecoderLayer& layer) {
    const size_t number = release_ ? index : index + out_.evidence.size();
    const std::string at = top(release_ ? "layers." : "dec.blk.") + std::to_string(number) + ".";
    CLEF_RETURN_IF_ERROR(norm(at + pick(kDecoderSelfNorm), config_.width, layer.self_norm));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kDecoderCrossNorm), config_.width, layer.cross_norm));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kDecoderFeedForwardNorm), config_.width, layer.feedforward_norm));
    CLEF_RETURN_IF_ERROR(attention(at + pick(kDecoderSelf), layer.self_attention));
    CLEF_RETURN_IF_ERROR(attention(at + pick(kDecoderCross), layer.cross_attention));
    return feed_forward(at + pick(kDecoderUp), at + pick(kDecoderDown), layer.feedforward);
  }

  Status feed_forward(const std::string& up, const std::string& down, HeadFeedForward& out) {
    CLEF_RETURN_IF_ERROR(matrix(up + ".weight", config_.feedforward, config_.width, out.up));
    CLEF_RETURN_IF_ERROR(vector(up + ".bias", config_.feedforward, out.up_bias));
    CLEF_RETURN_IF_ERROR(matrix(down + ".weight", config_.width, config_.feedforward, out.down));
    return vector(down + ".bias", config_.width, out.down_bias);
  }

  Status attention(const std::string& at, HeadAttentionWeights& out) {
    const int64_t width = config_.width;
    Weight* const projections[] = {&out.q, &out.k, &out.v};
    Weight* const biases[] = {&out.q_bias, &out.k_bias, &out.v_bias};
    if (!release_) {
      const char* const letters[] = {"q", "k", "v"};
      for (size_t i = 0; i < 3; ++i) {
        CLEF_RETURN_IF_ERROR(matrix(at + letters[i] + ".weight", width, width, *projections[i]));
        CLEF_RETURN_IF_ERROR(vector(at + letters[i] + ".bias", width, *biases[i]));
      }
      CLEF_RETURN_IF_ERROR(matrix(at + "o.weight", width, width, out.out));
      return vector(at + "o.bias", width, out.out_bias);
    }
    // One matrix of three parts, used in place: rows of queries, keys, values.
    Weight joined;
    CLEF_RETURN_IF_ERROR(matrix(at + "in_proj_weight", 3 * width, width, joined));
    std::vector<float> bias;
    const Shape shapes[] = {{3 * width}};
    CLEF_RETURN_IF_ERROR(reader_.values(at + "in_proj_bias", where_, shapes, bias));
    for (size_t i = 0; i < 3; ++i) {
      *projections[i] = joined.rows(static_cast<int64_t>(i) * width, width);
      const auto begin = bias.begin() + static_cast<std::ptrdiff_t>(i) * width;
      *biases[i] = reader_.keep(std::vector<float>(begin, begin + width), 1, width);
    }
    CLEF_RETURN_IF_ERROR(matrix(at + "out_proj.weight", width, width, out.out));
    return vector(at + "out_proj.bias", width, out.out_bias);
  }

  Status scalars() {
    std::vector<float> values;
    if (!release_) {
      const Shape shapes[] = {{3}};
      CLEF_RETURN_IF_ERROR(reader_.values(top(kScales), where_, shapes, values));
      out_.prior_scale = values[0], out_.joint_scale = values[1], out_.gate = values[2];
      return {};
    }
    const Shape shapes[] = {{}, {1}};
    for (const auto& [name, scale] :
         {std::pair(kPriorScale, &out_.prior_scale), std::pair(kJointScale, &out_.joint_scale)}) {
      CLEF_RETURN_IF_ERROR(reader_.values(top(name), where_, shapes, values));
      *scale = final_logit_scale(values[0]);
    }
    CLEF_RETURN_IF_ERROR(reader_.values(top(kResidualGate), where_, shapes, values));
    out_.gate = final_gate(values[0]);
    return {};
  }

  const Package& package_;
  const HeadConfig& config_;
  TensorReader& reader_;
  HeadWeights& out_;
  const bool release_;
  const std::string where_;
};

}  // namespace

float final_logit_scale(float stored) noexcept {
  return std::exp(std::min(stored, std::log(100.0f)));
}

float final_gate(float stored) noexcept {
  return 1.0f / (1.0f + std::exp(-stored));
}

Status resolve_head(const Package& package, TensorReader& reader, HeadWeights& out) {
  return Head(package, reader, out).run();
}

}  // namespace clef::model
