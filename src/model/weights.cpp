// The canonical weights of a package.
#include "model/weights.hpp"

#include <algorithm>
#include <cmath>

#include "model/convention.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/tensor_reader.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

class Backbone {
 public:
  Backbone(const Package& package, TensorReader& reader, Weights& out)
      : package_(package),
        config_(package.config),
        reader_(reader),
        out_(out),
        release_(package.kind == Kind::release),
        where_(package.backbone_file()) {}

  Status run() {
    CLEF_RETURN_IF_ERROR(
        reader_.matrix(prefix() + pick(kEmbeddings), where_, config_.vocabulary, config_.hidden, out_.embeddings));
    CLEF_RETURN_IF_ERROR(language_head());
    CLEF_RETURN_IF_ERROR(norm(prefix() + pick(kFinalNorm), config_.hidden, out_.final_norm));
    out_.layers.resize(config_.layers.size());
    for (size_t i = 0; i < config_.layers.size(); ++i) CLEF_RETURN_IF_ERROR(layer(i));
    return {};
  }
  const ConventionCheck& conventions() const noexcept { return check_; }
  const std::string& where() const noexcept { return where_; }

 private:
  std::string prefix() const { return package_.name_prefix; }
  std::string pick(const Name& name) const { return release_ ? name.release : name.gguf; }

  Status language_head() {
    CLEF_ASSIGN_OR_RETURN(const container::TensorView* tensor, package_.language_head());
    if (tensor) return reader_.matrix(tensor->name, where_, config_.vocabulary, config_.hidden, out_.lm_head);
    out_.lm_head = out_.embeddings;
    return {};
  }

  // A norm that the release stores around 0.
  Status norm(const std::string& name, int64_t size, Weight& out) {
    std::vector<float> values;
    const Shape shapes[] = {{size}};
    CLEF_RETURN_IF_ERROR(reader_.values(name, where_, shapes, values));
    check_.add_norm(values);
    if (package_.conventions.norms_zero_centred)
      for (float& value : values) value += 1.0f;
    out = reader_.keep(std::move(values), 1, size);
    return {};
  }

  Status vector(const std::string& name, int64_t size, Weight& out) { return reader_.vector(name, where_, size, out); }

  Status layer(size_t index) {
    const std::string number = std::to_string(index) + ".";
    const std::string at = release_ ? prefix() + "layers." + number : "blk." + number;
    LayerWeights& layer = out_.layers[index];
    CLEF_RETURN_IF_ERROR(norm(at + pick(kInputNorm), config_.hidden, layer.input_norm));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kPostNorm), config_.hidden, layer.post_norm));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kGate), where_, config_.intermediate, config_.hidden, layer.gate));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kUp), where_, config_.intermediate, config_.hidden, layer.up));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kDown), where_, config_.hidden, config_.intermediate, layer.down));
    return config_.layers[index] == LayerKind::attention ? attention(at, layer.attention)
                                                         : delta_net(at, layer.delta_net);
  }

  Status attention(const std::string& at, AttentionWeights& out) {
    const int64_t hidden = config_.hidden, dim = config_.head_dim;
    const int64_t queries = config_.heads * dim, keys = config_.kv_heads * dim;
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kQuery), where_, 2 * queries, hidden, out.q_gate));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kKey), where_, keys, hidden, out.k));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kValue), where_, keys, hidden, out.v));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kOut), where_, hidden, queries, out.out));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kQueryNorm), dim, out.q_norm));
    return norm(at + pick(kKeyNorm), dim, out.k_norm);
  }

  Status delta_net(const std::string& at, DeltaNetWeights& out) {
    const int64_t hidden = config_.hidden, heads = config_.value_heads;
    const int64_t keys = int64_t{config_.key_heads} * config_.key_dim;
    const int64_t values = int64_t{config_.value_heads} * config_.value_dim;
    const int64_t channels = 2 * keys + values;
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kDeltaQkv), where_, channels, hidden, out.qkv));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kDeltaZ), where_, values, hidden, out.z));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kDeltaA), where_, heads, hidden, out.a));
    CLEF_RETURN_IF_ERROR(reader_.matrix(at + pick(kDeltaB), where_, heads, hidden, out.b));
    CLEF_RETURN_IF_ERROR(convolution(at + pick(kDeltaConv), channels, out.conv));
    CLEF_RETURN_IF_ERROR(decay(at + pick(kDeltaScale), heads, out.a_scale));
    CLEF_RETURN_IF_ERROR(vector(at + pick(kDeltaBias), heads, out.dt_bias));
    CLEF_RETURN_IF_ERROR(vector(at + pick(kDeltaNorm), config_.value_dim, out.norm));
    return reader_.matrix(at + pick(kDeltaOut), where_, hidden, values, out.out);
  }

  Status convolution(const std::string& name, int64_t channels, Weight& out) {
    const int64_t width = config_.conv_width;
    std::vector<float> values;
    const Shape shapes[] = {{channels, 1, width}, {channels, width}};
    const Shape mlx[] = {{channels, width, 1}};  // all of them, since the norms go with it
    const bool is_mlx = release_ && !package_.conventions.norms_zero_centred;
    CLEF_RETURN_IF_ERROR(reader_.values(name, where_, is_mlx ? std::span<const Shape>(mlx) : shapes, values));
    out = reader_.keep(std::move(values), channels, width);
    return {};
  }

  Status decay(const std::string& name, int64_t heads, Weight& out) {
    std::vector<float> values;
    const Shape shapes[] = {{heads}};
    CLEF_RETURN_IF_ERROR(reader_.values(name, where_, shapes, values));
    check_.add_a_log(values);
    if (package_.conventions.a_log_raw)
      for (float& value : values) value = -std::exp(value);
    if (const auto bad = std::find_if_not(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
        bad != values.end())
      return tensor_error(
          Code::non_finite, package_.find(name)->source->name(), name,
          "is too large at index " + std::to_string(bad - values.begin()) + "; its exponential overflows");
    out = reader_.keep(std::move(values), 1, heads);
    return {};
  }

  const Package& package_;
  const Config& config_;
  TensorReader& reader_;
  Weights& out_;
  const bool release_;
  const std::string where_;
  ConventionCheck check_;
};

}  // namespace

base::Result<Weights> resolve_weights(const Package& package, const WeightOptions& options, base::Memory& memory,
                                      base::Watch& watch) {
  CLEF_RETURN_IF_ERROR(watch.check());
  Weights weights;
  TensorReader reader(package, options, memory, watch, weights);
  Backbone backbone(package, reader, weights);
  CLEF_RETURN_IF_ERROR(backbone.run());
  CLEF_RETURN_IF_ERROR(resolve_head(package, reader, weights.head));
  if (options.check_convention)
    CLEF_RETURN_IF_ERROR(backbone.conventions().check(package.conventions, backbone.where()));
  CLEF_RETURN_IF_ERROR(reader.fill_copies());
  return weights;
}

}  // namespace clef::model
