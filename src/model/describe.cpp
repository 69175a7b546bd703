// What a model is, as JSON.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "model/package.hpp"
#include "model/vision.hpp"

namespace clef::model {
namespace {

struct TypeSum {
  int64_t tensors = 0, parameters = 0;
  uint64_t bytes = 0;  // of codes and scales

  void add(const container::TensorView& tensor) {
    ++tensors;
    parameters += tensor.elements();
    bytes += container::total_bytes(tensor);
  }
  double bits() const noexcept {
    return parameters > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(parameters) : 0;
  }
};

// The beginnings of names that a GGUF file of architecture 'clef' keeps its head under, and of those that a release
// keeps everything else under.
constexpr std::string_view kHeadNames[] = {"decision.", "dec.blk.", "token_types."};
constexpr std::string_view kOtherNames[] = {"model.",  "language_model.", "lm_head.",
                                            "visual.", "vision_tower.",   "mtp."};

bool is_head(const Package& package, const container::TensorView& tensor) {
  const auto starts = [&](std::string_view beginning) { return tensor.name.starts_with(beginning); };
  const HeadForm& head = package.head;
  if (!head.prefix.empty()) return starts(head.prefix);
  if (!head.release_names) return std::any_of(std::begin(kHeadNames), std::end(kHeadNames), starts);
  if (head.own_file) return tensor.source->name() == head.file;
  return std::none_of(std::begin(kOtherNames), std::end(kOtherNames), starts);
}

// Where the head is and under which names: a file of its own, or inside the model's.
std::string head_form(const HeadForm& head) {
  if (!head.prefix.empty()) return "inside (" + head.prefix + "*)";
  if (!head.release_names) return "inside (clef)";
  return head.own_file ? "joint_head.safetensors" : "inside (one file per tensor)";
}

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

void write_picture(json::Writer& json, std::string_view key, const PictureProcessor& picture) {
  json.key(key);
  json.begin_object();
  json.key("shortest_edge");
  json.integer(picture.shortest_edge);
  json.key("longest_edge");
  json.integer(picture.longest_edge);
  for (const auto& [name, values] : {std::pair("mean", &picture.mean), std::pair("std", &picture.std)}) {
    json.key(name);
    json.begin_array();
    for (const double value : *values) json.number(value);
    json.end_array();
  }
  json.end_object();
}

// The tower and how pictures are prepared for it; the fault instead where pictures would be refused.
void write_vision(json::Writer& json, const Package& package) {
  const auto settings = vision_settings(package);
  json.begin_object();
  if (!settings.ok()) {
    json.key("error");
    json.string(settings.status().message());
    json.end_object();
    return;
  }
  const VisionConfig& config = settings.value().config;
  const Processor& processor = settings.value().processor;
  const auto number = [&](std::string_view key, int64_t value) { json.key(key), json.integer(value); };
  number("blocks", config.blocks);
  number("hidden", config.hidden);
  number("intermediate", config.intermediate);
  number("heads", config.heads);
  number("patch", config.patch);
  number("temporal_patch", config.temporal_patch);
  number("merge", config.merge);
  number("grid", config.grid);
  write_picture(json, "image", processor.image);
  write_picture(json, "video", processor.video);
  json.key("fps");
  json.number(processor.fps);
  number("min_frames", processor.min_frames);
  number("max_frames", processor.max_frames);
  json.end_object();
}

void write_conventions(json::Writer& json, const Package& package) {
  const Conventions& conventions = package.conventions;
  json.begin_object();
  json.key("norms");
  json.string(conventions.norms_zero_centred ? "around 0" : "around 1");
  json.key("decay");
  json.string(conventions.a_log_raw ? "A_log" : "-exp(A_log)");
  json.key("value_heads");
  json.string(conventions.value_heads_tiled ? "tiled" : "grouped");
  json.key("head_scales");
  json.string(package.head.release_names ? "raw" : "final");
  json.end_object();
}

void write_sum(json::Writer& json, const TypeSum& sum, uint64_t all_bytes) {
  json.begin_object();
  json.key("tensors");
  json.integer(sum.tensors);
  json.key("parameters");
  json.integer(sum.parameters);
  json.key("bytes");
  json.unsigned_integer(sum.bytes);
  json.key("share");
  json.rounded4(all_bytes > 0 ? static_cast<double>(sum.bytes) / static_cast<double>(all_bytes) : 0);
  json.key("bits_per_weight");
  json.rounded4(sum.bits());
  json.end_object();
}

void write_types(json::Writer& json, const Package& package) {
  std::map<std::string_view, TypeSum> types;
  TypeSum total;
  for (const container::TensorView& tensor : package.tensors) {
    types[tensor.type_name].add(tensor);
    total.add(tensor);
  }
  json.key("types");
  json.begin_object();
  for (const auto& [name, sum] : types) {
    json.key(name);
    write_sum(json, sum, total.bytes);
  }
  json.end_object();
  json.key("total");
  write_sum(json, total, total.bytes);
}

void write_head(json::Writer& json, const Package& package) {
  std::set<std::string_view> types;
  for (const container::TensorView& tensor : package.tensors)
    if (is_head(package, tensor)) types.insert(tensor.type_name);
  json.begin_object();
  json.key("file");
  json.string(package.head.file);
  json.key("form");
  json.string(head_form(package.head));
  json.key("types");
  json.begin_array();
  for (const std::string_view type : types) json.string(type);
  json.end_array();
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
    json.unsigned_integer(container::total_bytes(tensor));
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
  json.key("container");
  json.string(package.kind == Kind::gguf ? "GGUF" : "safetensors");
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
  if (package.has_vision) {
    json.key("vision");
    write_vision(json, package);
  }
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
  json.key("head");
  write_head(json, package);
  if (package.projector) {
    json.key("projector");
    json.string(package.projector->name());
  }
  write_types(json, package);
  json.key("compute");
  json.string("exact");
  json.key("convention");
  write_conventions(json, package);
  if (with_tensors) {
    json.key("tensors");
    write_tensors(json, package);
  }
  json.end_object();
  return out;
}

}  // namespace clef::model
