// Helpers of the model tests: models in memory that can be edited, and weights as numbers.
#pragma once
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/safetensors.hpp"
#include "io/source.hpp"
#include "model/model.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/gguf_writer.hpp"
#include "support/safetensors_writer.hpp"

namespace clef::test {

using base::Code;

inline model::Files at_path(std::string path) {
  model::Files files;
  files.entries.push_back({"", std::move(path), nullptr});
  return files;
}

inline io::SourcePtr in_memory(std::string_view bytes, std::string_view name) {
  auto source = io::from_memory(std::as_bytes(std::span(bytes)), true, name);
  REQUIRE(source.ok());
  return std::move(source).value();
}

template <class T>
T must(base::Result<T> result) {
  if (!result.ok()) FAIL(std::string(result.status().message()));
  return std::move(result).value();
}

// The error of a call that must fail.
template <class T>
base::ErrorDetail error_of(const base::Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  INFO(result.status().detail().message);
  return result.status().detail();
}

inline bool mentions(const base::ErrorDetail& error, std::string_view text) {
  return error.message.find(text) != std::string::npos;
}

inline base::ErrorDetail open_error(const model::Files& files) {
  return error_of(model::open_package(files));
}

// A file that holds little more than an architecture.
inline std::string gguf_of(const std::string& architecture, const std::string& decision = "",
                           const std::string& tensor = "x") {
  GgufWriter writer;
  writer.add_string("general.architecture", architecture);
  if (!decision.empty()) writer.add_string(architecture + ".decision.type", decision);
  writer.add_f32_tensor(tensor, {2}, {1, 2});
  return writer.bytes();
}

// A model's files by name.
struct Pack {
  std::map<std::string, std::string> files;

  static Pack of_directory(const std::string& path) {
    Pack pack;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.is_regular_file()) pack.files[entry.path().filename().string()] = read_file(entry.path().string());
    return pack;
  }
  model::Files sources() const {
    model::Files result;
    for (const auto& [name, bytes] : files) result.entries.push_back({name, "", in_memory(bytes, name)});
    return result;
  }
  void write(const std::string& directory) const {
    for (const auto& [name, bytes] : files) {
      std::ofstream out(directory + "/" + name, std::ios::binary);
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      REQUIRE(out.flush());
    }
  }
  Pack& replace(const std::string& file, std::string_view from, std::string_view to) {
    std::string& text = files.at(file);
    const size_t at = text.find(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    return *this;
  }
};

inline Pack tiny_flash() {
  return Pack::of_directory(data_path("models/tiny-flash"));
}
inline Pack tiny_clef() {
  return Pack::of_directory(data_path("models/tiny-clef"));
}

struct RawTensor {
  std::string name, dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

inline std::vector<RawTensor> read_tensors(const std::string& bytes) {
  const container::Safetensors file = must(container::read_safetensors(in_memory(bytes, "file")));
  std::vector<RawTensor> tensors;
  for (const container::TensorView& tensor : file.tensors)
    tensors.push_back({tensor.name, tensor.type_name, tensor.shape,
                       std::string(reinterpret_cast<const char*>(tensor.data()), tensor.bytes)});
  return tensors;
}

inline std::string write_tensors(const std::vector<RawTensor>& tensors) {
  SafetensorsWriter writer;
  for (const RawTensor& tensor : tensors) writer.add_tensor(tensor.name, tensor.dtype, tensor.shape, tensor.bytes);
  return writer.bytes();
}

// Calls `edit(tensor)` for every tensor of a safetensors file; false removes it.
template <class Edit>
void edit_tensors(std::string& bytes, Edit edit) {
  std::vector<RawTensor> kept;
  for (RawTensor& tensor : read_tensors(bytes))
    if (edit(tensor)) kept.push_back(std::move(tensor));
  bytes = write_tensors(kept);
}

inline std::vector<float> decode(const device::Weight& weight) {
  REQUIRE(weight.data != nullptr);
  std::vector<float> values(static_cast<size_t>(weight.out * weight.in));
  for (int64_t row = 0; row < weight.out; ++row)
    quant::decode_row(weight, row, 0, weight.in, values.data() + row * weight.in);
  return values;
}

inline std::vector<float> decode(const container::TensorView& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  tensor.format->decode(tensor.data(), values.data(), values.size());
  return values;
}

// All weights with what to call them, in a fixed order.
inline std::vector<std::pair<std::string, device::Weight>> list(const model::Weights& weights) {
  std::vector<std::pair<std::string, device::Weight>> all;
  const auto add = [&](std::string name, const device::Weight& weight) { all.emplace_back(std::move(name), weight); };
  const auto add_norm = [&](const std::string& name, const model::NormWeights& norm) {
    add(name + ".scale", norm.scale), add(name + ".bias", norm.bias);
  };
  const auto add_attention = [&](const std::string& name, const model::HeadAttentionWeights& w) {
    add(name + ".q", w.q), add(name + ".k", w.k), add(name + ".v", w.v), add(name + ".out", w.out);
    add(name + ".q_bias", w.q_bias), add(name + ".k_bias", w.k_bias), add(name + ".v_bias", w.v_bias);
    add(name + ".out_bias", w.out_bias);
  };
  const auto add_feed_forward = [&](const std::string& name, const model::HeadFeedForward& w) {
    add(name + ".up", w.up), add(name + ".up_bias", w.up_bias);
    add(name + ".down", w.down), add(name + ".down_bias", w.down_bias);
  };
  add("embeddings", weights.embeddings), add("lm_head", weights.lm_head), add("final_norm", weights.final_norm);
  for (size_t i = 0; i < weights.layers.size(); ++i) {
    const model::LayerWeights& layer = weights.layers[i];
    const std::string at = "layer " + std::to_string(i) + " ";
    add(at + "input_norm", layer.input_norm), add(at + "post_norm", layer.post_norm);
    add(at + "gate", layer.gate), add(at + "up", layer.up), add(at + "down", layer.down);
    const model::AttentionWeights& a = layer.attention;
    if (a.k.data) {
      add(at + "q_gate", a.q_gate), add(at + "k", a.k), add(at + "v", a.v), add(at + "out", a.out);
      add(at + "q_norm", a.q_norm), add(at + "k_norm", a.k_norm);
      continue;
    }
    const model::DeltaNetWeights& d = layer.delta_net;
    add(at + "qkv", d.qkv), add(at + "z", d.z), add(at + "a", d.a), add(at + "b", d.b), add(at + "conv", d.conv);
    add(at + "a_scale", d.a_scale), add(at + "dt_bias", d.dt_bias), add(at + "norm", d.norm);
    add(at + "delta_out", d.out);
  }
  const model::HeadWeights& head = weights.head;
  add_norm("hidden_norm", head.hidden_norm), add_norm("summary_norm", head.summary_norm);
  add_norm("field_norm", head.field_norm), add_norm("option_norm", head.option_norm);
  add("memory", head.memory), add("question", head.question), add("option_question", head.option_question);
  add("global", head.global), add("option_context", head.option_context), add("option_lexical", head.option_lexical);
  add("types", head.types);
  for (size_t i = 0; i < head.evidence.size(); ++i) {
    const std::string at = "evidence " + std::to_string(i) + " ";
    add_norm(at + "query_norm", head.evidence[i].query_norm),
        add_norm(at + "memory_norm", head.evidence[i].memory_norm);
    add_norm(at + "feedforward_norm", head.evidence[i].feedforward_norm);
    add_attention(at + "attention", head.evidence[i].attention);
    add_feed_forward(at + "feedforward", head.evidence[i].feedforward);
  }
  for (size_t i = 0; i < head.decoder.size(); ++i) {
    const std::string at = "decoder " + std::to_string(i) + " ";
    add_norm(at + "self_norm", head.decoder[i].self_norm), add_norm(at + "cross_norm", head.decoder[i].cross_norm);
    add_norm(at + "feedforward_norm", head.decoder[i].feedforward_norm);
    add_attention(at + "self", head.decoder[i].self_attention);
    add_attention(at + "cross", head.decoder[i].cross_attention);
    add_feed_forward(at + "feedforward", head.decoder[i].feedforward);
  }
  add("scorer", head.scorer), add("scorer_bias", head.scorer_bias);
  add("scorer_out", head.scorer_out), add("scorer_out_bias", head.scorer_out_bias);
  return all;
}

struct Resolved {
  base::Memory memory{base::Allocator{}};
  base::Result<model::Weights> result{base::Status(Code::internal, "not run")};

  explicit Resolved(const model::Package& package, model::WeightOptions options = {}, base::Hooks hooks = {},
                    uint64_t limit = 0) {
    memory.set_limit(limit);
    base::Watch watch(hooks);
    result = model::resolve_weights(package, options, memory, watch);
  }
  ~Resolved() { result = base::Status(Code::internal, "gone"); }  // before the memory
  const model::Weights& weights() const {
    if (!result.ok()) FAIL(std::string(result.status().message()));
    return result.value();
  }
};

}  // namespace clef::test
