// The backbone's tensors.
#include "convert/tensors.hpp"

#include <algorithm>

#include "model/message.hpp"
#include "model/names.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using container::TensorView;
using model::LayerKind;
using model::Name;
using Shapes = std::vector<std::vector<int64_t>>;
using model::tensor_error;

base::Result<const TensorView*> TensorFinder::find(const std::string& name, const std::string& where,
                                                   const Shapes& shapes) const {
  const TensorView* tensor = package_.find(name);
  if (tensor == nullptr)
    return tensor_error(Code::missing_part, where, name, "is missing; the file is incomplete or of another model");
  const std::string& file = tensor->source->name();
  if (tensor->format == nullptr)
    return tensor_error(Code::unsupported, file, name,
                        "has the type " + tensor->type_name + ", which clef does not read; use a BF16 or Q8_0 file");
  std::string expected;
  for (const std::vector<int64_t>& shape : shapes) {
    if (shape == tensor->shape) {
      // Scales of their own were checked against the codes when the files were opened.
      const auto columns = static_cast<uint64_t>(shape.empty() ? 1 : shape.back());
      const auto rows = static_cast<uint64_t>(tensor->elements()) / columns;
      const uint64_t row = quant::row_bytes(*tensor->format, columns);
      uint64_t bytes = 0;
      if (tensor->scales != nullptr || (row != 0 && container::multiply(row, rows, bytes) && bytes == tensor->bytes))
        return tensor;
      return tensor_error(Code::bad_file, file, name,
                          "is " + container::describe(*tensor) + ", whose rows do not fit the blocks of its type");
    }
    expected += (expected.empty() ? "" : " or ") + container::shape_text(shape);
  }
  return tensor_error(Code::bad_file, file, name,
                      "is " + container::describe(*tensor) + "; the configuration asks for " + expected);
}

namespace {

class Backbone {
 public:
  Backbone(const model::Package& package, std::vector<Tensor>& out)
      : package_(package),
        config_(package.config),
        finder_(package),
        out_(out),
        release_(package.kind == model::Kind::release),
        where_(package.backbone_file()) {
    const int64_t per_key = config_.value_heads / config_.key_heads;
    if (!package.conventions.value_heads_tiled && per_key > 1) heads_ = {0, 1, {config_.key_heads, per_key}};
  }

  Status run() {
    const int64_t hidden = config_.hidden;
    CLEF_RETURN_IF_ERROR(matrix(package_.name_prefix, model::kEmbeddings, "", config_.vocabulary, hidden));
    CLEF_RETURN_IF_ERROR(output());
    CLEF_RETURN_IF_ERROR(norm(package_.name_prefix, model::kFinalNorm, "", hidden));
    for (size_t i = 0; i < config_.layers.size(); ++i) {
      const std::string to = "blk." + std::to_string(i) + ".";
      const std::string from = release_ ? package_.name_prefix + "layers." + std::to_string(i) + "." : to;
      CLEF_RETURN_IF_ERROR(norm(from, model::kInputNorm, to, hidden));
      CLEF_RETURN_IF_ERROR(config_.layers[i] == LayerKind::attention ? attention(from, to) : delta_net(from, to));
      CLEF_RETURN_IF_ERROR(norm(from, model::kPostNorm, to, hidden));
      CLEF_RETURN_IF_ERROR(matrix(from, model::kGate, to, config_.intermediate, hidden));
      CLEF_RETURN_IF_ERROR(matrix(from, model::kUp, to, config_.intermediate, hidden));
      CLEF_RETURN_IF_ERROR(matrix(from, model::kDown, to, hidden, config_.intermediate));
    }
    return {};
  }

 private:
  std::string pick(const Name& name) const { return release_ ? name.release : name.gguf; }
  HeadOrder heads(int64_t begin, int64_t block) const {
    HeadOrder order = heads_;
    order.begin = begin, order.block *= block;
    return order;
  }

  Status add(const std::string& from, const Name& name, const std::string& to, const Shapes& shapes, bool is_matrix) {
    CLEF_ASSIGN_OR_RETURN(const TensorView* source, finder_.find(from + pick(name), where_, shapes));
    Tensor& tensor = out_.emplace_back();
    tensor.name = to + name.gguf;
    tensor.shape = shapes.front();
    tensor.source = source;
    tensor.matrix = is_matrix;
    return {};
  }
  Status matrix(const std::string& from, const Name& name, const std::string& to, int64_t rows, int64_t columns) {
    return add(from, name, to, {{rows, columns}}, true);
  }
  Status vector(const std::string& from, const Name& name, const std::string& to, int64_t size) {
    return add(from, name, to, {{size}}, false);
  }
  Status norm(const std::string& from, const Name& name, const std::string& to, int64_t size) {
    CLEF_RETURN_IF_ERROR(vector(from, name, to, size));
    if (package_.conventions.norms_zero_centred) out_.back().change = Change::add_one;
    return {};
  }

  // Options are compared with its rows, so the file has it even where it equals the embeddings.
  Status output() {
    CLEF_ASSIGN_OR_RETURN(const TensorView* tensor, package_.language_head());
    const std::string name = tensor ? tensor->name : package_.name_prefix + pick(model::kEmbeddings);
    CLEF_RETURN_IF_ERROR(matrix("", {name.c_str(), name.c_str()}, "", config_.vocabulary, config_.hidden));
    out_.back().name = "output.weight";
    return {};
  }

  Status attention(const std::string& from, const std::string& to) {
    const int64_t hidden = config_.hidden, dim = config_.head_dim;
    const int64_t queries = config_.heads * dim, keys = config_.kv_heads * dim;
    CLEF_RETURN_IF_ERROR(matrix(from, model::kQuery, to, 2 * queries, hidden));
    CLEF_RETURN_IF_ERROR(matrix(from, model::kKey, to, keys, hidden));
    CLEF_RETURN_IF_ERROR(matrix(from, model::kValue, to, keys, hidden));
    CLEF_RETURN_IF_ERROR(matrix(from, model::kOut, to, hidden, queries));
    CLEF_RETURN_IF_ERROR(norm(from, model::kQueryNorm, to, dim));
    return norm(from, model::kKeyNorm, to, dim);
  }

  Status delta_net(const std::string& from, const std::string& to) {
    const int64_t hidden = config_.hidden, count = config_.value_heads, dim = config_.value_dim;
    const int64_t keys = int64_t{config_.key_heads} * config_.key_dim;
    const int64_t values = count * dim, channels = 2 * keys + values, width = config_.conv_width;
    CLEF_RETURN_IF_ERROR(matrix(from, model::kDeltaQkv, to, channels, hidden));
    out_.back().rows = heads(2 * keys, dim);
    CLEF_RETURN_IF_ERROR(matrix(from, model::kDeltaZ, to, values, hidden));
    out_.back().rows = heads(0, dim);
    for (const Name& name : {model::kDeltaA, model::kDeltaB}) {
      CLEF_RETURN_IF_ERROR(matrix(from, name, to, count, hidden));
      out_.back().rows = heads(0, 1);
    }
    // The release keeps an axis of 1 in the middle, conversions for MLX at the end.
    CLEF_RETURN_IF_ERROR(
        add(from, model::kDeltaConv, to, {{channels, width}, {channels, 1, width}, {channels, width, 1}}, false));
    out_.back().rows = heads(2 * keys, dim);
    CLEF_RETURN_IF_ERROR(vector(from, model::kDeltaScale, to, count));
    out_.back().rows = heads(0, 1);
    if (package_.conventions.a_log_raw) out_.back().change = Change::negative_exp;
    CLEF_RETURN_IF_ERROR(vector(from, model::kDeltaBias, to, count));
    out_.back().rows = heads(0, 1);
    CLEF_RETURN_IF_ERROR(vector(from, model::kDeltaNorm, to, dim));
    CLEF_RETURN_IF_ERROR(matrix(from, model::kDeltaOut, to, hidden, values));
    out_.back().columns = heads(0, dim);
    return {};
  }

  const model::Package& package_;
  const model::Config& config_;
  TensorFinder finder_;
  std::vector<Tensor>& out_;
  const bool release_;
  const std::string where_;
  HeadOrder heads_;
};

}  // namespace

base::Result<std::vector<Tensor>> list_tensors(const model::Package& package, Architecture architecture) {
  std::vector<Tensor> tensors;
  CLEF_RETURN_IF_ERROR(Backbone(package, tensors).run());
  if (architecture == Architecture::clef) CLEF_RETURN_IF_ERROR(list_head_tensors(package, tensors));
  return tensors;
}

}  // namespace clef::convert
