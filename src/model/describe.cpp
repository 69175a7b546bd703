// What a model is, as JSON.
#include <algorithm>
#include <map>

#include "model/package.hpp"

namespace clef::model {
namespace {

struct TypeSum {
  int64_t tensors = 0, parameters = 0;
  uint64_t bytes = 0;
};

void write_geometry(json::Writer& json, const Config& config) {
  json.begin_object();
  const auto number = [&](std::string_view key, int64_t value) { json.key(key), json.integer(value); };
  number("layers", static_cast<int64_t>(config.layers.size()));
  number("attention_layers", std::count(config.layers.begin(), config.layers.end(), LayerKind::attention));
  number("vocabulary", config.vocabulary);
  number("hidden", config.hidden);
  number("intermediate", config.intermediate);
  number("heads", config.heads);
  number("kv_heads", config.kv_heads);
  number("head_dim", config.head_dim);
  number("delta_key_heads", config.key_heads);
  number("delta_value_heads", config.value_heads);
  number("delta_key_dim", config.key_dim);
  number("delta_value_dim", config.value_dim);
  number("delta_conv_width", config.conv_width);
  number("rotary_dims", config.rotary_dims);
  json.key("rope_theta");
  json.number(config.rope_theta);
  json.key("tied_embeddings");
  json.boolean(config.tied_embeddings);
  json.key("head");
  json.begin_object();
  number("width", config.head.width);
  number("feedforward", config.head.feedforward);
  number("routing_layers", config.head.routing_layers);
  number("decoder_layers", config.head.decoder_layers);
  number("heads", config.head.heads);
  json.end_object();
  json.end_object();
}

void write_conventions(json::Writer& json, const Conventions& conventions) {
  json.begin_object();
  json.key("norms");
  json.string(conventions.norms_zero_centred ? "around 0" : "around 1");
  json.key("decay");
  json.string(conventions.a_log_raw ? "A_log" : "-exp(A_log)");
  json.key("value_heads");
  json.string(conventions.value_heads_tiled ? "tiled" : "grouped");
  json.key("head_scales");
  json.string(conventions.head_scales_final ? "final" : "raw");
  json.end_object();
}

void write_types(json::Writer& json, const Package& package) {
  std::map<std::string_view, TypeSum> types;
  for (const container::TensorView& tensor : package.tensors) {
    TypeSum& sum = types[tensor.type_name];
    ++sum.tensors;
    sum.parameters += tensor.elements();
    sum.bytes += tensor.bytes;
  }
  json.begin_object();
  for (const auto& [name, sum] : types) {
    json.key(name);
    json.begin_object();
    json.key("tensors");
    json.integer(sum.tensors);
    json.key("parameters");
    json.integer(sum.parameters);
    json.key("bytes");
    json.unsigned_integer(sum.bytes);
    json.end_object();
  }
  json.end_object();
}

void write_tokenizer(json::Writer& json, const Package& package, const text::Tokenizer& tokenizer) {
  std::string_view stated = text::pre_tokenizer_name(tokenizer.stated_rule());
  if (package.gguf) package.gguf->get_string("tokenizer.ggml.pre", stated);
  json.begin_object();
  json.key("rule");
  json.string(text::pre_tokenizer_name(tokenizer.rule()));
  json.key("stated");
  json.string(stated);
  json.key("size");
  json.integer(tokenizer.size());
  json.end_object();
}

void write_tensors(json::Writer& json, const Package& package) {
  json.begin_array();
  for (const container::TensorView& tensor : package.tensors) {
    json.begin_object();
    json.key("name");
    json.string(tensor.name);
    json.key("type");
    json.string(tensor.type_name);
    json.key("shape");
    json.begin_array();
    for (const int64_t size : tensor.shape) json.integer(size);
    json.end_array();
    json.key("bytes");
    json.unsigned_integer(tensor.bytes);
    json.key("file");
    json.string(tensor.source->name());
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string describe(const Package& package, const text::Tokenizer* tokenizer, bool with_tensors) {
  std::string out;
  json::Writer json(out);
  json.begin_object();
  json.key("name");
  json.string(package.name);
  json.key("kind");
  json.string(package.kind_name);
  json.key("files");
  json.begin_array();
  for (const FileEntry& file : package.files) {
    json.begin_object();
    json.key("name");
    json.string(file.name);
    json.key("bytes");
    json.unsigned_integer(file.bytes);
    json.end_object();
  }
  json.end_array();
  json.key("geometry");
  write_geometry(json, package.config);
  json.key("has_vision");
  json.boolean(package.has_vision);
  json.key("limits");
  json.begin_object();
  json.key("tokens");
  json.integer(package.config.max_positions);
  json.key("vocabulary");
  json.integer(package.config.vocabulary);
  json.end_object();
  if (tokenizer) {
    json.key("tokenizer");
    write_tokenizer(json, package, *tokenizer);
  }
  json.key("types");
  write_types(json, package);
  json.key("compute");
  json.string("exact");
  json.key("convention");
  write_conventions(json, package.conventions);
  if (with_tensors) {
    json.key("tensors");
    write_tensors(json, package);
  }
  json.end_object();
  return out;
}

}  // namespace clef::model
