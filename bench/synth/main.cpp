// clef-synth: GGUF files with made-up weights at the dimensions of real models, for measuring speed.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "blocks.hpp"
#include "geometry.hpp"
#include "gguf.hpp"
#include "mixture.hpp"
#include "vocabulary.hpp"

namespace synth {
namespace {

struct Arguments {
  std::string geometry, mixture, out, architecture = "clef";
  int64_t layers = 0, vocabulary = 0;
  uint64_t seed = 1;
};

void add_keys(const Geometry& g, const std::string& architecture, uint32_t file_type, GgufHeader& out) {
  out.add("general.architecture", std::string_view(architecture));
  out.add("general.type", std::string_view("model"));
  out.add("general.name", std::string_view(g.name + " (made-up weights)"));
  out.add("general.file_type", file_type);
  out.add("general.quantization_version", uint32_t{2});
  const std::string prefix = architecture + ".";
  const std::initializer_list<std::pair<const char*, int64_t>> numbers = {
      {"block_count", g.layers},
      {"context_length", g.context},
      {"embedding_length", g.hidden},
      {"feed_forward_length", g.intermediate},
      {"attention.head_count", g.heads},
      {"attention.head_count_kv", g.kv_heads},
      {"attention.key_length", g.head_dim},
      {"attention.value_length", g.head_dim},
      {"rope.dimension_count", g.rotary_dims},
      {"ssm.conv_kernel", g.conv_width},
      {"ssm.state_size", g.key_dim},
      {"ssm.group_count", g.key_heads},
      {"ssm.time_step_rank", g.value_heads},
      {"ssm.inner_size", g.value_heads * g.value_dim},
      {"full_attention_interval", g.interval}};
  for (const auto& [key, value] : numbers) out.add(prefix + key, static_cast<uint32_t>(value));
  out.add(prefix + "rope.freq_base", static_cast<float>(g.rope_theta));
  out.add(prefix + "attention.layer_norm_rms_epsilon", static_cast<float>(g.norm_eps));
  const int32_t sections[] = {static_cast<int32_t>(g.rope_sections[0]), static_cast<int32_t>(g.rope_sections[1]),
                              static_cast<int32_t>(g.rope_sections[2]), 0};
  out.add(prefix + "rope.dimension_sections", std::span<const int32_t>(sections));
  std::vector<bool> recurrent;
  for (int64_t i = 0; i < g.layers; ++i) recurrent.push_back(!g.attention(i));
  out.add(prefix + "attention.recurrent_layers", recurrent);
  if (architecture != "clef") return;
  out.add(prefix + "decision.type", std::string_view("clef"));
  out.add(prefix + "decision.routing_block_count", static_cast<uint32_t>(g.routing_layers));
  out.add(prefix + "decision.block_count", static_cast<uint32_t>(g.decoder_layers));
  out.add(prefix + "decision.head_count", static_cast<uint32_t>(g.head_heads));
  out.add(prefix + "attention.layer_norm_epsilon", 1e-5f);
}

void add_projector_keys(const Geometry& g, uint32_t file_type, GgufHeader& out) {
  out.add("general.architecture", std::string_view("clip"));
  out.add("general.type", std::string_view("mmproj"));
  out.add("general.name", std::string_view(g.name + " (made-up weights)"));
  out.add("general.file_type", file_type);
  out.add("clip.has_vision_encoder", true);
  out.add("clip.projector_type", std::string_view("qwen3vl_merger"));
  out.add("clip.use_gelu", true);
  const std::initializer_list<std::pair<const char*, int64_t>> numbers = {
      {"block_count", g.vision_blocks},
      {"embedding_length", g.vision_hidden},
      {"feed_forward_length", g.vision_intermediate},
      {"attention.head_count", g.vision_heads},
      {"patch_size", g.patch},
      {"image_size", g.patch * g.vision_grid},
      {"spatial_merge_size", g.merge},
      {"projection_dim", g.hidden}};
  for (const auto& [key, value] : numbers) out.add(std::string("clip.vision.") + key, static_cast<uint32_t>(value));
  out.add("clip.vision.attention.layer_norm_epsilon", 1e-6f);
}

void add_tokenizer(int64_t size, GgufHeader& out) {
  const Vocabulary vocabulary = make_vocabulary(size);
  out.add("tokenizer.ggml.model", std::string_view("gpt2"));
  out.add("tokenizer.ggml.pre", std::string_view("qwen35"));
  out.add("tokenizer.ggml.tokens", std::span<const std::string>(vocabulary.tokens));
  out.add("tokenizer.ggml.token_type", std::span<const int32_t>(vocabulary.types));
  out.add("tokenizer.ggml.merges", std::span<const std::string>(vocabulary.merges));
  out.add("tokenizer.ggml.eos_token_id", vocabulary.end_of_turn);
  out.add("tokenizer.ggml.padding_token_id", vocabulary.end_of_text);
  out.add("tokenizer.ggml.add_bos_token", false);
}

void write(const std::string& path, const std::string& header, std::span<const Tensor> tensors, uint64_t seed) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.exceptions(std::ios::failbit | std::ios::badbit);
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  Filler filler(seed);
  static constexpr char kZeros[kAlignment] = {};
  for (const Tensor& tensor : tensors) {
    filler.write(tensor, [&](std::span<const std::byte> bytes) {
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
    out.write(kZeros, static_cast<std::streamsize>((kAlignment - tensor.bytes % kAlignment) % kAlignment));
  }
  out.flush();
}

void run(const Arguments& arguments) {
  const auto begin = std::chrono::steady_clock::now();
  Geometry geometry = read_geometry(arguments.geometry);
  if (arguments.layers > 0) geometry.layers = arguments.layers;
  if (arguments.vocabulary > 0) geometry.vocabulary = arguments.vocabulary;
  const bool projector = arguments.architecture == "clip";
  std::vector<Tensor> tensors =
      projector ? list_projector_tensors(geometry) : list_tensors(geometry, arguments.architecture == "clef");
  const uint32_t file_type = assign_types(arguments.mixture, tensors, geometry.layers);
  GgufHeader header;
  if (projector) {
    add_projector_keys(geometry, file_type, header);
  } else {
    add_keys(geometry, arguments.architecture, file_type, header);
    add_tokenizer(geometry.vocabulary, header);
  }
  const std::string text = header.finish(tensors);
  write(arguments.out, text, tensors, arguments.seed);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const double bytes = static_cast<double>(text.size() + tensors.back().offset + tensors.back().bytes);
  std::printf("%zu tensors, %.2f GB in %.1f s\n", tensors.size(), bytes / 1e9, taken.count());
}

}  // namespace
}  // namespace synth

int main(int count, char** values) {
  synth::Arguments arguments;
  CLI::App app("clef-synth: a GGUF file with made-up weights at the dimensions of a real model", "clef-synth");
  app.add_option("geometry", arguments.geometry, "clef-flash, clef, or a config.json")->required();
  app.add_option("mixture", arguments.mixture, "types of the tensors: " + synth::known_mixtures())->required();
  app.add_option("out", arguments.out, "the file to write")->required();
  app.add_option("--layers", arguments.layers, "fewer (or more) layers")->check(CLI::Range(1, 1000));
  app.add_option("--vocabulary", arguments.vocabulary, "tokens, instead of those of the model")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--arch", arguments.architecture,
                 "clef; qwen35: the backbone alone, for other engines; clip: its projector")
      ->check(CLI::IsMember({"clef", "qwen35", "clip"}));
  app.add_option("--seed", arguments.seed, "the same seed makes the same file");
  CLI11_PARSE(app, count, values);
  try {
    synth::run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "clef-synth: %s\n", error.what());
    return 1;
  }
}
