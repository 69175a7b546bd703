// The decision head's tensors.
#include <cmath>

#include "convert/tensors.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/weights.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using container::TensorView;
using model::Name;
using Shapes = std::vector<std::vector<int64_t>>;
using model::tensor_error;

namespace {

class Head {
 public:
  Head(const model::Package& package, std::vector<Tensor>& out)
      : package_(package),
        config_(package.config.head),
        finder_(package),
        out_(out),
        release_(package.head.release_names) {}

  Status run() {
    const int64_t hidden = package_.config.hidden, width = config_.width;
    CLEF_RETURN_IF_ERROR(norm("", model::kHiddenNorm, "", hidden));
    for (const Name& name : {model::kSummaryNorm, model::kFieldNorm, model::kOptionNorm})
      CLEF_RETURN_IF_ERROR(norm("", name, "", width));
    for (const Name& name : {model::kMemory, model::kQuestion, model::kOptionQuestion, model::kGlobal,
                             model::kOptionContext, model::kOptionLexical})
      CLEF_RETURN_IF_ERROR(add(pick(name), name.gguf, {{width, hidden}}, true));
    CLEF_RETURN_IF_ERROR(add(pick(model::kTypes), model::kTypes.gguf, {{3, width}}, false));
    for (int32_t i = 0; i < config_.routing_layers; ++i) CLEF_RETURN_IF_ERROR(evidence(i));
    for (int32_t i = 0; i < config_.decoder_layers; ++i) CLEF_RETURN_IF_ERROR(decoder(i));
    CLEF_RETURN_IF_ERROR(layer("", model::kScorer, "", width, 4 * width));
    const std::string out = pick(model::kScorerOut), to = model::kScorerOut.gguf;
    CLEF_RETURN_IF_ERROR(add(out + ".weight", to + ".weight", {{1, width}, {width}}, false));
    CLEF_RETURN_IF_ERROR(add(out + ".bias", to + ".bias", {{1}}, false));
    return scales();
  }

 private:
  std::string pick(const Name& name) const { return release_ ? name.release : name.gguf; }

  Status add(const std::string& from, const std::string& to, const Shapes& shapes, bool matrix, int64_t first_row = 0) {
    CLEF_ASSIGN_OR_RETURN(const TensorView* source,
                          finder_.find(package_.head.prefix + from, package_.head.file, shapes));
    Tensor& tensor = out_.emplace_back();
    tensor.name = to;
    tensor.shape = shapes.front();
    tensor.source = source;
    tensor.first_row = first_row;
    tensor.matrix = matrix;
    tensor.head = true;
    return {};
  }
  Status norm(const std::string& from, const Name& name, const std::string& to, int64_t size) {
    CLEF_RETURN_IF_ERROR(add(from + pick(name) + ".weight", to + name.gguf + ".weight", {{size}}, false));
    return add(from + pick(name) + ".bias", to + name.gguf + ".bias", {{size}}, false);
  }
  Status layer(const std::string& from, const Name& name, const std::string& to, int64_t rows, int64_t columns) {
    CLEF_RETURN_IF_ERROR(add(from + pick(name) + ".weight", to + name.gguf + ".weight", {{rows, columns}}, true));
    return add(from + pick(name) + ".bias", to + name.gguf + ".bias", {{rows}}, false);
  }

  Status evidence(int32_t index) {
    const std::string to = "dec.blk." + std::to_string(index) + ".";
    const std::string from = release_ ? "evidence_layers." + std::to_string(index) + "." : to;
    const int64_t width = config_.width;
    for (const Name& name : {model::kEvidenceQueryNorm, model::kEvidenceMemoryNorm, model::kEvidenceFeedForwardNorm})
      CLEF_RETURN_IF_ERROR(norm(from, name, to, width));
    CLEF_RETURN_IF_ERROR(attention(from, model::kEvidenceAttention, to));
    CLEF_RETURN_IF_ERROR(layer(from, model::kEvidenceUp, to, config_.feedforward, width));
    return layer(from, model::kEvidenceDown, to, width, config_.feedforward);
  }

  Status decoder(int32_t index) {
    const std::string to = "dec.blk." + std::to_string(index + config_.routing_layers) + ".";
    const std::string from = release_ ? "layers." + std::to_string(index) + "." : to;
    const int64_t width = config_.width;
    for (const Name& name : {model::kDecoderSelfNorm, model::kDecoderCrossNorm, model::kDecoderFeedForwardNorm})
      CLEF_RETURN_IF_ERROR(norm(from, name, to, width));
    CLEF_RETURN_IF_ERROR(attention(from, model::kDecoderSelf, to));
    CLEF_RETURN_IF_ERROR(attention(from, model::kDecoderCross, to));
    CLEF_RETURN_IF_ERROR(layer(from, model::kDecoderUp, to, config_.feedforward, width));
    return layer(from, model::kDecoderDown, to, width, config_.feedforward);
  }

  // The release joins the projections of queries, keys and values; GGUF files have them one by one.
  Status attention(const std::string& from, const Name& name, const std::string& to) {
    const int64_t width = config_.width;
    const char* const letters[] = {"q", "k", "v"};
    for (int64_t i = 0; i < 3; ++i) {
      const std::string written = to + name.gguf + letters[i];
      const std::string read = from + pick(name) + (release_ ? "in_proj_" : letters[i]);
      const int64_t source_rows = release_ ? 3 * width : width, first = release_ ? i * width : 0;
      const std::string dot = release_ ? "" : ".";
      CLEF_RETURN_IF_ERROR(add(read + dot + "weight", written + ".weight", {{source_rows, width}}, true, first));
      out_.back().shape = {width, width};
      CLEF_RETURN_IF_ERROR(add(read + dot + "bias", written + ".bias", {{source_rows}}, false, first));
      out_.back().shape = {width};
    }
    const std::string read = from + pick(name) + (release_ ? "out_proj" : "o"), written = to + name.gguf + "o";
    CLEF_RETURN_IF_ERROR(add(read + ".weight", written + ".weight", {{width, width}}, true));
    return add(read + ".bias", written + ".bias", {{width}}, false);
  }

  // The release stores what stands under the exponential and the sigmoid, GGUF files the results.
  Status scales() {
    if (!release_) return add(model::kScales, model::kScales, {{3}}, false);
    Tensor tensor;
    tensor.name = model::kScales;
    tensor.shape = {3};
    tensor.head = true;
    tensor.values.resize(3);
    const char* const names[] = {model::kPriorScale, model::kJointScale, model::kResidualGate};
    for (size_t i = 0; i < 3; ++i) {
      const std::string name = package_.head.prefix + names[i];
      CLEF_ASSIGN_OR_RETURN(const TensorView* source, finder_.find(name, package_.head.file, {{}, {1}}));
      std::vector<std::byte> bytes(static_cast<size_t>(source->bytes));
      CLEF_RETURN_IF_ERROR(source->source->read(source->offset, bytes));
      float value = 0;
      source->format->decode(bytes.data(), &value, 1);
      if (!std::isfinite(value))
        return tensor_error(Code::non_finite, source->source->name(), name, "is not finite; the file is damaged");
      tensor.values[i] = i < 2 ? model::final_logit_scale(value) : model::final_gate(value);
    }
    out_.push_back(std::move(tensor));
    return {};
  }

  const model::Package& package_;
  const model::HeadConfig& config_;
  TensorFinder finder_;
  std::vector<Tensor>& out_;
  const bool release_;
};

}  // namespace

Status list_head_tensors(const model::Package& package, std::vector<Tensor>& out) {
  return Head(package, out).run();
}

}  // namespace clef::convert
