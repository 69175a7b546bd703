#include "model/named_weights.hpp"

#include "model/names.hpp"

namespace clef::model {
namespace {

class Lister {
 public:
  Lister(const Package& package, const Weights& weights, NamedWeights& out)
      : package_(package), config_(package.config), weights_(weights), out_(out) {}

  void run() {
    const bool release = package_.kind == Kind::release;
    file_ = package_.name_prefix, gguf_.clear(), release_ = release;
    add(kEmbeddings, weights_.embeddings);
    add_language_head();
    add(kFinalNorm, weights_.final_norm);
    for (size_t i = 0; i < weights_.layers.size(); ++i) {
      const std::string number = std::to_string(i) + ".";
      gguf_ = "blk." + number;
      file_ = release ? package_.name_prefix + "layers." + number : gguf_;
      add_layer(weights_.layers[i], config_.layers[i]);
    }
    release_ = package_.head.release_names;
    add_head(weights_.head);
  }

 private:
  // ---- one weight ----

  void add(const std::string& gguf_name, const std::string& file_name, const Weight& weight, HeadBlocks heads = {}) {
    NamedWeight& made = out_.all.emplace_back();
    const container::TensorView* tensor = package_.find(file_name);
    made.name = gguf_name;
    made.type = tensor ? tensor->type_name : weight.format->name;
    made.weight = weight;
    made.is_vector = tensor ? tensor->shape.size() < 2 : weight.out == 1;
    made.heads = heads;
  }
  void add(const Name& name, const Weight& weight, HeadBlocks heads = {}) { add_part(name, "", weight, heads); }
  void add_part(const Name& name, const char* ending, const Weight& weight, HeadBlocks heads = {}) {
    add(gguf_ + name.gguf + ending, file_ + (release_ ? name.release : name.gguf) + ending, weight, heads);
  }

  void add_language_head() {
    const auto head = package_.language_head();  // the weights would not be there without it
    const bool own = head.ok() && head.value() != nullptr;
    add("output.weight",
        own ? head.value()->name : package_.name_prefix + (release_ ? kEmbeddings.release : kEmbeddings.gguf),
        weights_.lm_head);
    out_.all.back().stands_twice = !own;
  }

  // ---- the backbone ----

  void add_layer(const LayerWeights& layer, LayerKind kind) {
    add(kInputNorm, layer.input_norm), add(kPostNorm, layer.post_norm);
    add(kGate, layer.gate), add(kUp, layer.up), add(kDown, layer.down);
    if (kind == LayerKind::attention) {
      const AttentionWeights& a = layer.attention;
      add(kQuery, a.q_gate), add(kKey, a.k), add(kValue, a.v), add(kOut, a.out);
      add(kQueryNorm, a.q_norm), add(kKeyNorm, a.k_norm);
      return;
    }
    const DeltaNetWeights& d = layer.delta_net;
    const int64_t keys = int64_t{2} * config_.key_heads * config_.key_dim, dim = config_.value_dim;
    add(kDeltaQkv, d.qkv, {HeadBlocks::rows, keys, dim}), add(kDeltaZ, d.z, {HeadBlocks::rows, 0, dim});
    add(kDeltaA, d.a, {HeadBlocks::rows, 0, 1}), add(kDeltaB, d.b, {HeadBlocks::rows, 0, 1});
    add(kDeltaConv, d.conv, {HeadBlocks::rows, keys, dim});
    add(kDeltaScale, d.a_scale, {HeadBlocks::columns, 0, 1});
    add(kDeltaBias, d.dt_bias, {HeadBlocks::columns, 0, 1});
    add(kDeltaNorm, d.norm), add(kDeltaOut, d.out, {HeadBlocks::columns, 0, dim});
  }

  // ---- the decision head ----

  void add_norm(const Name& name, const NormWeights& norm) {
    add_part(name, ".weight", norm.scale), add_part(name, ".bias", norm.bias);
  }
  void add_dense(const Name& name, const Weight& weight, const Weight& bias) {
    add_part(name, ".weight", weight), add_part(name, ".bias", bias);
  }
  void add_attention(const Name& name, const HeadAttentionWeights& w) {
    struct Part {
      const char* letter;
      const Weight &weight, &bias;
    };
    for (const Part& part : {Part{"q", w.q, w.q_bias}, Part{"k", w.k, w.k_bias}, Part{"v", w.v, w.v_bias}}) {
      const std::string gguf = gguf_ + name.gguf + part.letter, release = file_ + name.release;
      add(gguf + ".weight", release_ ? release + "in_proj_weight" : file_ + name.gguf + part.letter + ".weight",
          part.weight);
      add(gguf + ".bias", release_ ? release + "in_proj_bias" : file_ + name.gguf + part.letter + ".bias", part.bias);
    }
    const std::string out = file_ + (release_ ? std::string(name.release) + "out_proj" : std::string(name.gguf) + "o");
    add(gguf_ + name.gguf + "o.weight", out + ".weight", w.out);
    add(gguf_ + name.gguf + "o.bias", out + ".bias", w.out_bias);
  }
  void add_feed_forward(const Name& up, const Name& down, const HeadFeedForward& w) {
    add_dense(up, w.up, w.up_bias), add_dense(down, w.down, w.down_bias);
  }
  // The prefixes of a layer; those of GGUF files count on through both kinds.
  void begin_head_layer(const char* release_name, size_t index, size_t number) {
    gguf_ = "dec.blk." + std::to_string(number) + ".";
    file_ = package_.head.prefix + (release_ ? release_name + std::to_string(index) + "." : gguf_);
  }

  void add_head(const HeadWeights& head) {
    gguf_.clear(), file_ = package_.head.prefix;
    add_norm(kHiddenNorm, head.hidden_norm), add_norm(kSummaryNorm, head.summary_norm);
    add_norm(kFieldNorm, head.field_norm), add_norm(kOptionNorm, head.option_norm);
    add(kMemory, head.memory), add(kQuestion, head.question), add(kOptionQuestion, head.option_question);
    add(kGlobal, head.global), add(kOptionContext, head.option_context), add(kOptionLexical, head.option_lexical);
    add(kTypes, head.types);
    add_dense(kScorer, head.scorer, head.scorer_bias), add_dense(kScorerOut, head.scorer_out, head.scorer_out_bias);
    // Three tensors in the release; all have one type.
    out_.scales = {head.prior_scale, head.joint_scale, head.gate};
    add(kScales, file_ + (release_ ? kPriorScale : kScales),
        {&quant::format(quant::Type::f32), reinterpret_cast<const std::byte*>(out_.scales.data()), 1, 3});
    for (size_t i = 0; i < head.evidence.size(); ++i) {
      const EvidenceLayer& layer = head.evidence[i];
      begin_head_layer("evidence_layers.", i, i);
      add_norm(kEvidenceQueryNorm, layer.query_norm), add_norm(kEvidenceMemoryNorm, layer.memory_norm);
      add_norm(kEvidenceFeedForwardNorm, layer.feedforward_norm);
      add_attention(kEvidenceAttention, layer.attention);
      add_feed_forward(kEvidenceUp, kEvidenceDown, layer.feedforward);
    }
    for (size_t i = 0; i < head.decoder.size(); ++i) {
      const DecoderLayer& layer = head.decoder[i];
      begin_head_layer("layers.", i, head.evidence.size() + i);
      add_norm(kDecoderSelfNorm, layer.self_norm), add_norm(kDecoderCrossNorm, layer.cross_norm);
      add_norm(kDecoderFeedForwardNorm, layer.feedforward_norm);
      add_attention(kDecoderSelf, layer.self_attention), add_attention(kDecoderCross, layer.cross_attention);
      add_feed_forward(kDecoderUp, kDecoderDown, layer.feedforward);
    }
  }

  const Package& package_;
  const Config& config_;
  const Weights& weights_;
  NamedWeights& out_;
  bool release_ = false;
  std::string file_, gguf_;  // before the names in the file, and before those of GGUF files
};

}  // namespace

NamedWeights named_weights(const Package& package, const Weights& weights) {
  NamedWeights made;
  Lister(package, weights, made).run();
  return made;
}

}  // namespace clef::model
