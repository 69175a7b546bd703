// Geometry from configuration files, and every refusal with its field.
#include <array>

#include "model/file_set.hpp"
#include "support.hpp"

using namespace clef;
using namespace clef::test;
using model::LayerKind;

namespace {

std::string config_text(const std::string& model) {
  return read_file(data_path("models/" + model + "/config.json"));
}
std::string head_text(const std::string& model) {
  return read_file(data_path("models/" + model + "/joint_head_config.json"));
}

base::Result<model::Config> read_config(const std::string& config, const std::string& head) {
  const json::Document a = must(json::parse(config)), b = must(json::parse(head));
  CLEF_ASSIGN_OR_RETURN(model::Config whole, model::config_from_json(a.root(), "config.json"));
  CLEF_ASSIGN_OR_RETURN(whole.head, model::head_from_json(b.root(), "joint_head_config.json", whole.hidden));
  return whole;
}

// tiny-flash's config with one change.
base::Result<model::Config> changed(std::string_view from, std::string_view to) {
  std::string text = config_text("tiny-flash");
  const size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return read_config(text, head_text("tiny-flash"));
}

int attention_layers(const model::Config& config) {
  return static_cast<int>(std::count(config.layers.begin(), config.layers.end(), LayerKind::attention));
}

void check_tiny_flash(const model::Config& c) {
  CHECK(c.vocabulary == 1408);
  CHECK(c.hidden == 64);
  CHECK(c.intermediate == 96);
  REQUIRE(c.layers.size() == 8);
  for (size_t i = 0; i < 8; ++i) CHECK((c.layers[i] == LayerKind::attention) == (i == 3 || i == 7));
  CHECK(c.heads == 4);
  CHECK(c.kv_heads == 1);
  CHECK(c.head_dim == 256);
  CHECK(c.key_heads == 2);
  CHECK(c.value_heads == 4);
  CHECK(c.key_dim == 128);
  CHECK(c.value_dim == 128);
  CHECK(c.conv_width == 4);
  CHECK(c.norm_eps == 1e-6f);
  CHECK(c.rope_theta == 1e7);
  CHECK(c.rotary_dims == 64);
  CHECK(c.rope_sections[0] == 11);
  CHECK(c.rope_sections[1] == 11);
  CHECK(c.rope_sections[2] == 10);
  CHECK(c.max_positions == 262144);
  CHECK_FALSE(c.tied_embeddings);
  CHECK(c.head.width == 64);
  CHECK(c.head.feedforward == 128);
  CHECK(c.head.routing_layers == 2);
  CHECK(c.head.decoder_layers == 4);
  CHECK(c.head.heads == 2);
  CHECK(c.head.norm_eps == 1e-5f);
}

void check_tiny_clef(const model::Config& c) {
  CHECK(c.vocabulary == 1920);
  CHECK(c.hidden == 96);
  CHECK(c.intermediate == 160);
  CHECK(c.layers.size() == 4);
  CHECK(attention_layers(c) == 1);
  CHECK(c.heads == 6);
  CHECK(c.kv_heads == 1);
  CHECK(c.key_heads == 2);
  CHECK(c.value_heads == 6);
  CHECK(c.head.width == 96);
  CHECK(c.head.feedforward == 160);
  CHECK(c.head.heads == 3);
}

}  // namespace

TEST_CASE("geometry of the release layout") {
  check_tiny_flash(must(read_config(config_text("tiny-flash"), head_text("tiny-flash"))));
  check_tiny_clef(must(read_config(config_text("tiny-clef"), head_text("tiny-clef"))));
}

TEST_CASE("geometry of the demonstration model") {
  const model::Config c = must(read_config(read_file(source_path("examples/clef-nano/config.json")),
                                           read_file(source_path("examples/clef-nano/joint_head_config.json"))));
  CHECK(c.hidden == 128);
  CHECK(c.intermediate == 256);
  CHECK(c.head.width == 128);
  CHECK(c.key_heads == 1);
  CHECK(c.value_heads == 2);
}

TEST_CASE("geometry of GGUF files") {
  check_tiny_flash(must(model::open_package(at_path(data_path("gguf/tiny-flash-bf16.gguf")))).config);
  check_tiny_clef(must(model::open_package(at_path(data_path("gguf/tiny-clef-bf16.gguf")))).config);
  // The second has neither the head's epsilon nor a list of recurrent layers.
  for (const char* name : {"mini-f32.gguf", "mini-q8_0.gguf", "mini-bf16-00001-of-00003.gguf"}) {
    INFO(name);
    const model::Config c = must(model::open_package(at_path(data_path(std::string("gguf/") + name)))).config;
    CHECK(c.hidden == 32);
    CHECK(c.vocabulary == 448);
    CHECK(c.layers.size() == 4);
    CHECK(attention_layers(c) == 1);
    CHECK(c.layers[3] == LayerKind::attention);
    CHECK(c.head.norm_eps == 1e-5f);
    CHECK(c.norm_eps == 1e-6f);
  }
}

TEST_CASE("older spellings and flat files give the same geometry") {
  std::string text = config_text("tiny-flash");
  // The interval in place of the list.
  const size_t begin = text.find("\"layer_types\""), end = text.find("],", begin);
  check_tiny_flash(must(read_config(std::string(text).erase(begin, end + 2 - begin), head_text("tiny-flash"))));
  // rope_theta and partial_rotary_factor beside the rest, sections in rope_scaling.
  const size_t rope = text.find("\"rope_parameters\""), close = text.find('}', rope);
  std::string older = text;
  older.replace(
      rope, text.find('}', close) + 1 - rope,
      R"("rope_theta":10000000,"partial_rotary_factor":0.25,"rope_scaling":{"type":"mrope","mrope_section":[11,11,10]})");
  check_tiny_flash(must(read_config(older, head_text("tiny-flash"))));
  // Sections default to those of the family.
  const std::string sections =
      text.substr(text.find("\"mrope_section\""),
                  text.find("],", text.find("\"mrope_section\"")) + 2 - text.find("\"mrope_section\""));
  check_tiny_flash(must(changed(sections, "")));
  // text_config alone.
  const size_t open = text.find('{', text.find("\"text_config\"")), vision = text.find("\"vision_config\"");
  std::string flat = text.substr(open, text.rfind('}', vision) + 1 - open);
  check_tiny_flash(must(read_config(flat, head_text("tiny-flash"))));
  // No activation of the output gate, or either name of the only one.
  for (const char* gate : {"null", "\"silu\"", "\"swish\""})
    check_tiny_flash(
        must(changed("\"use_cache\": false", "\"use_cache\": false, \"output_gate_type\": " + std::string(gate))));
}

TEST_CASE("tied embeddings are what config.json says") {
  std::string text = config_text("tiny-flash");
  text.replace(text.rfind("\"tie_word_embeddings\": false"), 28, "\"tie_word_embeddings\": true ");
  CHECK(must(read_config(text, head_text("tiny-flash"))).tied_embeddings);
}

TEST_CASE("other computations are refused by the field's name") {
  const std::vector<std::array<const char*, 3>> cases = {
      {"\"use_cache\": false", "\"output_gate_type\": \"sigmoid\"", "text_config.output_gate_type"},
      {"\"use_cache\": false", "\"output_gate_type\": \"tanh\"", "text_config.output_gate_type"},
      {"\"hidden_act\": \"silu\"", "\"hidden_act\": \"gelu\"", "text_config.hidden_act"},
      {"\"attention_bias\": false", "\"attention_bias\": true", "text_config.attention_bias"},
      {"\"attn_output_gate\": true", "\"attn_output_gate\": false", "text_config.attn_output_gate"},
      {"\"rope_type\": \"default\"", "\"rope_type\": \"yarn\"", "text_config.rope_parameters.rope_type"},
      {"\"mrope_interleaved\": true", "\"mrope_interleaved\": false", "text_config.rope_parameters.mrope_interleaved"},
      {"\"linear_attention\"", "\"sliding_attention\"", "text_config.layer_types"},
      {"\"architectures\": [\n    \"Qwen3_5ForConditionalGeneration\"",
       "\"architectures\": [\n    \"Qwen3OmniMoeForConditionalGeneration\"", "Clef-Omni"},
  };
  for (const auto& [from, to, field] : cases) {
    INFO(to);
    const base::ErrorDetail error = error_of(changed(from, to));
    CHECK(error.code == Code::unsupported);
    CHECK(error.file == "config.json");
    CHECK(mentions(error, field));
  }
}

TEST_CASE("other models are not Clef") {
  for (const char* type : {"qwen3_5_moe", "qwen3_next", "llama"}) {
    const base::ErrorDetail error =
        error_of(changed("\"model_type\": \"qwen3_5\"", "\"model_type\": \"" + std::string(type) + "\""));
    CHECK(error.code == Code::not_clef);
    CHECK(mentions(error, type));
  }
  CHECK(error_of(read_config("{}", head_text("tiny-flash"))).code == Code::not_clef);
  CHECK(error_of(read_config("[]", head_text("tiny-flash"))).code == Code::bad_file);
  CHECK(error_of(read_config(config_text("tiny-flash"), "3")).file == "joint_head_config.json");
}

TEST_CASE("every value is checked, and the message names its field") {
  const std::vector<std::array<const char*, 3>> cases = {
      {"\"hidden_size\": 64", "\"hidden_size\": 0", "text_config.hidden_size"},
      {"\"hidden_size\": 64", "\"hidden_size\": -64", "text_config.hidden_size"},
      {"\"hidden_size\": 64", "\"hidden_size\": 1e400", "text_config.hidden_size"},
      {"\"hidden_size\": 64", "\"hidden_size\": 123456789012345678901234", "text_config.hidden_size"},
      {"\"hidden_size\": 64", "\"hidden_size\": \"64\"", "text_config.hidden_size"},
      {"\"hidden_size\": 64,", "", "text_config.hidden_size"},
      {"\"intermediate_size\": 96", "\"intermediate_size\": 1048577", "text_config.intermediate_size"},
      {"\"num_hidden_layers\": 8", "\"num_hidden_layers\": 7", "text_config.layer_types"},
      {"\"num_hidden_layers\": 8", "\"num_hidden_layers\": 100000", "text_config.num_hidden_layers"},
      {"\"num_attention_heads\": 4", "\"num_attention_heads\": null", "text_config.num_attention_heads"},
      {"\"num_key_value_heads\": 1", "\"num_key_value_heads\": 3", "text_config.num_attention_heads"},
      {"\"head_dim\": 256", "\"head_dim\": 2.5", "text_config.head_dim"},
      {"\"linear_num_value_heads\": 4", "\"linear_num_value_heads\": 5", "text_config.linear_num_value_heads"},
      {"\"linear_num_key_heads\": 2", "\"linear_num_key_heads\": 0", "text_config.linear_num_key_heads"},
      {"\"linear_key_head_dim\": 128", "\"linear_key_head_dim\": 99999", "text_config.linear_key_head_dim"},
      {"\"linear_conv_kernel_dim\": 4", "\"linear_conv_kernel_dim\": 17", "text_config.linear_conv_kernel_dim"},
      {"\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": 0", "text_config.rms_norm_eps"},
      {"\"rms_norm_eps\": 1e-06", "\"rms_norm_eps\": -1", "text_config.rms_norm_eps"},
      {"\"vocab_size\": 1408", "\"vocab_size\": 999999999", "text_config.vocab_size"},
      {"\"max_position_embeddings\": 262144", "\"max_position_embeddings\": 3000000000",
       "text_config.max_position_embeddings"},
      {"\"rope_theta\": 10000000", "\"rope_theta\": 1e999", "rope_theta"},
      {"\"rope_theta\": 10000000,", "", "rope_theta"},
      {"\"partial_rotary_factor\": 0.25", "\"partial_rotary_factor\": 1.5", "partial_rotary_factor"},
      {"\"partial_rotary_factor\": 0.25", "\"partial_rotary_factor\": 0.001", "partial_rotary_factor"},
      {"\"partial_rotary_factor\": 0.25", "\"partial_rotary_factor\": 0.5", "mrope_section"},
      {"\"mrope_section\": [", "\"mrope_section\": [1,", "mrope_section"},
      {"\"attention_bias\": false", "\"attention_bias\": 0", "text_config.attention_bias"},
      {"\"tie_word_embeddings\": false,\n  \"dtype\"", "\"tie_word_embeddings\": \"no\",\n  \"dtype\"",
       "tie_word_embeddings"},
  };
  for (const auto& [from, to, field] : cases) {
    INFO(from << " -> " << to);
    const base::ErrorDetail error = error_of(changed(from, to));
    CHECK(error.code == Code::bad_file);
    CHECK(error.file == "config.json");
    INFO(error.message);
    CHECK(mentions(error, field));
  }
}

TEST_CASE("the head's configuration is checked") {
  const std::string config = config_text("tiny-flash");
  const std::vector<std::array<const char*, 3>> cases = {
      {"\"width\": 64", "\"width\": 65", "width"},
      {"\"width\": 64", "\"width\": 0", "width"},
      {"\"heads\": 2", "\"heads\": 0", "heads"},
      {"\"routing_layers\": 2", "\"routing_layers\": -1", "routing_layers"},
      {"\"layers\": 4", "\"layers\": 1000", "layers"},
      {"\"feedforward\": 128", "\"feedforward\": 0.5", "feedforward"},
      {"\"feedforward\": 128", "\"other\": 1", "feedforward"},
  };
  for (const auto& [from, to, field] : cases) {
    INFO(to);
    std::string head = head_text("tiny-flash");
    REQUIRE(head.find(from) != std::string::npos);
    head.replace(head.find(from), std::string_view(from).size(), to);
    const base::ErrorDetail error = error_of(read_config(config, head));
    CHECK(error.code == Code::bad_file);
    CHECK(error.file == "joint_head_config.json");
    CHECK(mentions(error, field));
  }
  // The head of one size beside the backbone of the other.
  const base::ErrorDetail error = error_of(read_config(config, head_text("tiny-clef")));
  CHECK(error.code == Code::bad_file);
  CHECK(mentions(error, "64"));
  CHECK(mentions(error, "96"));
}

namespace {

// A GGUF file with nothing but keys and the tensors that tell widths.
struct Keys {
  std::map<std::string, int64_t> integers = {{"embedding_length", 32},
                                             {"block_count", 4},
                                             {"feed_forward_length", 64},
                                             {"attention.head_count", 2},
                                             {"attention.head_count_kv", 1},
                                             {"attention.key_length", 16},
                                             {"attention.value_length", 16},
                                             {"ssm.group_count", 1},
                                             {"ssm.time_step_rank", 2},
                                             {"ssm.state_size", 8},
                                             {"ssm.conv_kernel", 4},
                                             {"ssm.inner_size", 16},
                                             {"context_length", 1000},
                                             {"rope.dimension_count", 8},
                                             {"decision.routing_block_count", 1},
                                             {"decision.block_count", 1},
                                             {"decision.head_count", 2}};
  std::map<std::string, float> floats = {{"attention.layer_norm_rms_epsilon", 1e-6f}, {"rope.freq_base", 1e6f}};
  std::map<std::string, std::vector<int32_t>> arrays = {{"rope.dimension_sections", {2, 1, 1, 0}}};
  std::map<std::string, std::string> strings;
  int64_t head_hidden = 32;
  bool ffn_up = true;

  base::Result<model::Config> read() const {
    GgufWriter writer;
    for (const auto& [key, value] : integers) writer.add_u32("clef." + key, static_cast<uint32_t>(value));
    for (const auto& [key, value] : floats) writer.add_f32("clef." + key, value);
    for (const auto& [key, value] : arrays) writer.add_i32s("clef." + key, value);
    for (const auto& [key, value] : strings) writer.add_string("clef." + key, value);
    writer.add_f32_tensor("token_embd.weight", {3, 32}, std::vector<float>(96));
    writer.add_f32_tensor("decision.proj_memory.weight", {8, head_hidden},
                          std::vector<float>(static_cast<size_t>(8 * head_hidden)));
    if (ffn_up) writer.add_f32_tensor("dec.blk.0.ffn_up.weight", {12, 8}, std::vector<float>(96));
    const container::Gguf gguf = must(container::read_gguf(in_memory(writer.bytes(), "keys.gguf")));
    CLEF_ASSIGN_OR_RETURN(model::Config whole, model::config_from_gguf(gguf, "clef"));
    CLEF_ASSIGN_OR_RETURN(whole.head, model::head_from_gguf(gguf, whole.hidden));
    return whole;
  }
};

}  // namespace

TEST_CASE("GGUF keys") {
  const model::Config plain = must(Keys().read());
  CHECK(plain.vocabulary == 3);
  CHECK(plain.layers ==
        std::vector<LayerKind>{LayerKind::delta_net, LayerKind::delta_net, LayerKind::delta_net, LayerKind::attention});
  CHECK(plain.value_dim == 8);
  CHECK(plain.head.width == 8);
  CHECK(plain.head.feedforward == 12);
  CHECK(plain.head.norm_eps == 1e-5f);
  CHECK(plain.rope_sections[0] == 2);

  Keys interval;
  interval.integers["full_attention_interval"] = 2;
  CHECK(attention_layers(must(interval.read())) == 2);

  Keys array;
  array.integers.erase("attention.head_count_kv");
  array.arrays["attention.head_count_kv"] = {0, 2, 0, 2};
  const model::Config from_array = must(array.read());
  CHECK(from_array.kv_heads == 2);
  CHECK(from_array.layers ==
        std::vector<LayerKind>{LayerKind::delta_net, LayerKind::attention, LayerKind::delta_net, LayerKind::attention});

  Keys recurrent = array;
  recurrent.arrays["attention.head_count_kv"] = {1, 1, 1, 1};
  recurrent.arrays["attention.recurrent_layers"] = {0, 1, 1, 1};
  CHECK(must(recurrent.read()).layers.front() == LayerKind::attention);

  Keys eps;
  eps.floats["attention.layer_norm_epsilon"] = 1e-4f;
  CHECK(must(eps.read()).head.norm_eps == 1e-4f);
}

TEST_CASE("GGUF keys are checked") {
  const auto refused = [](const Keys& keys, std::string_view field, Code code = Code::bad_file) {
    const base::ErrorDetail error = error_of(keys.read());
    INFO(error.message);
    CHECK(error.code == code);
    CHECK(error.file == "keys.gguf");
    CHECK(mentions(error, field));
  };
  for (const auto& [key, value] : Keys().integers) {
    INFO(key);
    Keys missing, zero, huge, text;
    missing.integers.erase(key);
    refused(missing, key);
    zero.integers[key] = 0;
    if (key != "decision.routing_block_count" && key != "decision.block_count") refused(zero, key);
    huge.integers[key] = 4000000000;
    refused(huge, key);
    text.integers.erase(key);
    text.strings[key] = "1";
    refused(text, key);
  }
  for (const auto& [key, value] : Keys().floats) {
    INFO(key);
    Keys missing, negative;
    missing.floats.erase(key);
    refused(missing, key);
    negative.floats[key] = -1;
    refused(negative, key);
  }
  Keys odd;
  odd.integers["rope.dimension_count"] = 7;
  refused(odd, "rope.dimension_count");
  Keys sections;
  sections.arrays["rope.dimension_sections"] = {2, 1, 2, 0};
  refused(sections, "rope.dimension_sections");
  sections.arrays["rope.dimension_sections"] = {2, 1};
  refused(sections, "rope.dimension_sections");
  Keys scaling;
  scaling.strings["rope.scaling.type"] = "yarn";
  refused(scaling, "rope.scaling.type", Code::unsupported);
  Keys inner;
  inner.integers["ssm.inner_size"] = 17;
  refused(inner, "ssm.inner_size");
  Keys lengths;
  lengths.integers["attention.value_length"] = 8;
  refused(lengths, "attention.value_length", Code::unsupported);
  Keys layers;
  layers.arrays["attention.recurrent_layers"] = {1, 0};
  refused(layers, "attention.recurrent_layers");
  Keys differing;
  differing.integers.erase("attention.head_count_kv");
  differing.arrays["attention.head_count_kv"] = {0, 1, 0, 2};
  refused(differing, "attention.head_count_kv", Code::unsupported);
  Keys other_head;
  other_head.head_hidden = 40;
  refused(other_head, "40");
  refused(other_head, "32");
  Keys no_blocks;
  no_blocks.ffn_up = false;
  refused(no_blocks, "dec.blk.0.ffn_up.weight", Code::missing_part);
}
