#include "tensors.hpp"

#include <utility>

namespace synth {
namespace {

class List {
 public:
  explicit List(const Geometry& geometry) : g_(geometry) {}

  void ends() {
    matrix("token_embd.weight", g_.vocabulary, g_.hidden);
    vector("output_norm.weight", g_.hidden, Content::norm);
    matrix("output.weight", g_.vocabulary, g_.hidden);
  }
  void layers() {
    for (int64_t i = 0; i < g_.layers; ++i) layer("blk." + std::to_string(i) + ".", g_.attention(i));
  }

  void head() {
    for (const char* name : {"memory", "question", "option_question", "global", "option_context", "option_lexical"})
      matrix("decision.proj_" + std::string(name) + ".weight", g_.width, g_.hidden);
    layer_norm("decision.hidden_norm", g_.hidden);
    for (const char* name : {"option_summary_norm", "field_norm", "option_norm"})
      layer_norm("decision." + std::string(name), g_.width);
    matrix("token_types.weight", 3, g_.width);
    vector("decision.scales", 3, Content::scales);
    linear("decision.scorer", g_.width, 4 * g_.width);
    linear("decision.scorer_out", 1, g_.width);
    for (int64_t i = 0; i < g_.routing_layers + g_.decoder_layers; ++i) {
      const std::string at = "dec.blk." + std::to_string(i) + ".";
      const bool routing = i < g_.routing_layers;
      linear(at + "ffn_up", g_.feedforward, g_.width), linear(at + "ffn_down", g_.width, g_.feedforward);
      layer_norm(at + "cross_attn_norm", g_.width), layer_norm(at + "ffn_norm", g_.width);
      layer_norm(at + (routing ? "cross_attn_norm_kv" : "attn_norm"), g_.width);
      for (const char* letter : {"q", "k", "v", "o"}) {
        linear(at + "cross_attn_" + letter, g_.width, g_.width);
        if (!routing) linear(at + "attn_" + letter, g_.width, g_.width);
      }
    }
  }

  void tower() {
    const int64_t hidden = g_.vision_hidden, merged = g_.merge * g_.merge * hidden;
    for (int64_t frame = 0; frame < g_.temporal_patch; ++frame)
      add("v.patch_embd.weight" + (frame == 0 ? std::string() : "." + std::to_string(frame)),
          {hidden, 3, g_.patch, g_.patch}, Content::small);
    vector("v.patch_embd.bias", hidden, Content::small);
    add("v.position_embd.weight", {g_.vision_grid * g_.vision_grid, hidden}, Content::small);
    for (int64_t i = 0; i < g_.vision_blocks; ++i) {
      const std::string at = "v.blk." + std::to_string(i) + ".";
      layer_norm(at + "ln1", hidden), layer_norm(at + "ln2", hidden);
      linear(at + "attn_qkv", 3 * hidden, hidden), linear(at + "attn_out", hidden, hidden);
      linear(at + "ffn_up", g_.vision_intermediate, hidden), linear(at + "ffn_down", hidden, g_.vision_intermediate);
    }
    layer_norm("v.post_ln", hidden);
    linear("mm.0", merged, merged), linear("mm.2", g_.hidden, merged);
  }

  std::vector<Tensor> take() { return std::move(tensors_); }

 private:
  void add(const std::string& name, std::vector<int64_t> shape, Content content) {
    Tensor tensor;
    tensor.name = name, tensor.shape = std::move(shape), tensor.content = content;
    tensors_.push_back(std::move(tensor));
  }
  void matrix(const std::string& name, int64_t out, int64_t in) { add(name, {out, in}, Content::matrix); }
  void vector(const std::string& name, int64_t size, Content content) { add(name, {size}, content); }
  void linear(const std::string& name, int64_t out, int64_t in) {
    matrix(name + ".weight", out, in), vector(name + ".bias", out, Content::small);
  }
  void layer_norm(const std::string& name, int64_t size) {
    vector(name + ".weight", size, Content::norm), vector(name + ".bias", size, Content::small);
  }

  void layer(const std::string& at, bool attention) {
    vector(at + "attn_norm.weight", g_.hidden, Content::norm);
    vector(at + "post_attention_norm.weight", g_.hidden, Content::norm);
    matrix(at + "ffn_gate.weight", g_.intermediate, g_.hidden);
    matrix(at + "ffn_up.weight", g_.intermediate, g_.hidden);
    matrix(at + "ffn_down.weight", g_.hidden, g_.intermediate);
    if (attention) {
      matrix(at + "attn_q.weight", 2 * g_.heads * g_.head_dim, g_.hidden);
      matrix(at + "attn_k.weight", g_.kv_heads * g_.head_dim, g_.hidden);
      matrix(at + "attn_v.weight", g_.kv_heads * g_.head_dim, g_.hidden);
      matrix(at + "attn_output.weight", g_.hidden, g_.heads * g_.head_dim);
      vector(at + "attn_q_norm.weight", g_.head_dim, Content::norm);
      vector(at + "attn_k_norm.weight", g_.head_dim, Content::norm);
      return;
    }
    const int64_t keys = g_.key_heads * g_.key_dim, values = g_.value_heads * g_.value_dim;
    matrix(at + "attn_qkv.weight", 2 * keys + values, g_.hidden);
    matrix(at + "attn_gate.weight", values, g_.hidden);
    matrix(at + "ssm_alpha.weight", g_.value_heads, g_.hidden);
    matrix(at + "ssm_beta.weight", g_.value_heads, g_.hidden);
    add(at + "ssm_conv1d.weight", {2 * keys + values, g_.conv_width}, Content::conv);
    vector(at + "ssm_a", g_.value_heads, Content::decay);
    vector(at + "ssm_dt.bias", g_.value_heads, Content::step);
    vector(at + "ssm_norm.weight", g_.value_dim, Content::norm);
    matrix(at + "ssm_out.weight", g_.hidden, values);
  }

  const Geometry& g_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::vector<Tensor> list_projector_tensors(const Geometry& geometry) {
  List list(geometry);
  list.tower();
  return list.take();
}

std::vector<Tensor> list_tensors(const Geometry& geometry, bool head) {
  List list(geometry);
  list.ends();
  if (head) list.head();  // mixtures count it before the layers
  list.layers();
  return list.take();
}

}  // namespace synth
