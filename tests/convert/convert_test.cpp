// What a written file holds: against recorded files, and against its source.
#include <bit>
#include <cmath>
#include <set>

#include "json/json.hpp"
#include "model/model.hpp"
#include "support.hpp"
#include "support/catch.hpp"
#include "support/gguf_writer.hpp"
#include "text/tokenizer.hpp"

using namespace clef;
using namespace clef::test;
using container::GgufValue;

namespace {

// The steps from one float to the other; 0 when they are the same bits.
int64_t steps(float a, float b) {
  return std::abs(int64_t{std::bit_cast<int32_t>(a)} - int64_t{std::bit_cast<int32_t>(b)});
}

// Every tensor of the recorded file, bit for bit; `loose` ones, which hold exponentials, may be one step off.
void check_same_tensors(const ReadFile& written, const ReadFile& recorded) {
  REQUIRE(written.tensors.size() == recorded.tensors.size());
  for (const auto& [name, expected] : recorded.tensors) {
    CAPTURE(name);
    REQUIRE(written.tensors.count(name) == 1);
    const container::TensorView& got = written.tensors.at(name);
    CHECK(got.shape == expected.shape);
    CHECK(got.type_name == expected.type_name);
    const bool loose = name.ends_with("ssm_a") || name == "decision.scales";
    if (!loose) {
      CHECK(bytes_of(got) == bytes_of(expected));
      continue;
    }
    const std::vector<float> a = decoded(got), b = decoded(expected);
    REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) CHECK(steps(a[i], b[i]) <= 1);
  }
}

void check_same_keys(const container::Gguf& written, const container::Gguf& recorded,
                     const std::set<std::string>& except) {
  for (const auto& [key, value] : recorded.keys) {
    CAPTURE(key);
    if (except.count(key)) continue;
    const GgufValue* got = written.find(key);
    REQUIRE(got != nullptr);
    CHECK(got->value == value.value);
  }
}

}  // namespace

TEST_CASE("a release becomes the recorded BF16 file") {
  for (const std::string name : {"tiny-flash", "tiny-clef"}) {
    CAPTURE(name);
    const std::string out = temporary_directory() + "/out.gguf";
    const auto report = convert_files(files_of(model_path(name)), out, options_of("BF16"), 2);
    REQUIRE(report.ok());
    const ReadFile written = read_written(out), recorded = read_written(data_path("gguf/" + name + "-bf16.gguf"));
    check_same_tensors(written, recorded);
    check_same_keys(written.gguf, recorded.gguf,
                    {"general.name", "tokenizer.chat_templates", "tokenizer.chat_template.systemone"});
    std::string_view value;
    CHECK(written.gguf.get_string("general.name", value));
    CHECK(value == name);
    CHECK(report.value().tensors == recorded.tensors.size());
    CHECK(report.value().file_bytes == read_file(out).size());
    CHECK(!std::ifstream(out + ".part"));
    // The vision tower is left out, and the report says so.
    CHECK(report.value().notes.size() == 2);
    CHECK(report.value().notes[0].find("pictures") != std::string::npos);
  }
}

TEST_CASE("files of other forms become the same file") {
  const std::string directory = temporary_directory();
  const std::string f32 = data_path("gguf/mini-f32.gguf");
  REQUIRE(convert_files(files_of(f32), directory + "/f32.gguf", options_of("F32")).ok());
  const ReadFile recorded = read_written(f32);
  check_same_tensors(read_written(directory + "/f32.gguf"), recorded);
  check_same_keys(read_written(directory + "/f32.gguf").gguf, recorded.gguf, {});

  // Ollama's: the head under the release's names, scales as they are trained.
  REQUIRE(
      convert_files(files_of(data_path("gguf/mini-ollama-bf16.gguf")), directory + "/ollama.gguf", options_of("F32"))
          .ok());
  REQUIRE(convert_files(files_of(data_path("gguf/mini-bf16-00001-of-00003.gguf")), directory + "/split.gguf",
                        options_of("BF16"))
              .ok());
  const ReadFile split = read_written(directory + "/split.gguf"), ollama = read_written(directory + "/ollama.gguf");
  REQUIRE(split.tensors.size() == recorded.tensors.size());
  REQUIRE(ollama.tensors.size() == recorded.tensors.size());
  for (const auto& [name, tensor] : recorded.tensors) {
    CAPTURE(name);
    const std::vector<float> expected = decoded(tensor), a = decoded(split.tensors.at(name)),
                             b = decoded(ollama.tensors.at(name));
    CHECK(a == expected);
    for (size_t i = 0; i < expected.size(); ++i) CHECK(std::fabs(b[i] - expected[i]) <= 1e-6f * std::fabs(expected[i]));
  }
  CHECK(split.gguf.find("split.count") == nullptr);

  // The backbone of one file, the head of others. F16 of these weights is exact only to 11 bits.
  const auto headless = convert_files(files_of(data_path("gguf/mini-headless"), data_path("gguf/mini-headless/head")),
                                      directory + "/joined.gguf", options_of("F16"));
  REQUIRE(headless.ok());
  const ReadFile joined = read_written(directory + "/joined.gguf");
  const ReadFile source = read_written(data_path("gguf/mini-headless/mini-headless-f16.gguf"));
  REQUIRE(joined.tensors.size() == recorded.tensors.size());
  for (const auto& [name, tensor] : source.tensors) CHECK(bytes_of(joined.tensors.at(name)) == bytes_of(tensor));
}

TEST_CASE("a quantized file is copied where its types stay") {
  const std::string out = temporary_directory() + "/out.gguf";
  const std::string from = data_path("gguf/mini-q8_0.gguf");
  REQUIRE(convert_files(files_of(from), out, options_of("Q8_0")).ok());
  const ReadFile written = read_written(out), source = read_written(from);
  for (const auto& [name, tensor] : source.tensors) {
    CAPTURE(name);
    CHECK(bytes_of(written.tensors.at(name)) == bytes_of(tensor));
    CHECK(written.tensors.at(name).type_name == tensor.type_name);
  }
}

TEST_CASE("the backbone alone, for other programs") {
  const std::string out = temporary_directory() + "/out.gguf";
  convert::Options options = options_of("BF16");
  options.architecture = convert::Architecture::qwen35;
  const auto report = convert_files(files_of(model_path("tiny-flash")), out, options);
  REQUIRE(report.ok());
  const ReadFile written = read_written(out), recorded = read_written(data_path("gguf/tiny-flash-bf16.gguf"));
  for (const auto& [name, tensor] : written.tensors) {
    CHECK(!name.starts_with("dec"));
    if (!name.ends_with("ssm_a")) CHECK(bytes_of(tensor) == bytes_of(recorded.tensors.at(name)));
  }
  CHECK(written.tensors.size() == 3 + 6 * 14 + 2 * 11);
  for (const auto& [key, value] : recorded.gguf.keys) {
    if (!key.starts_with("clef.") || key.starts_with("clef.decision") || key == "clef.attention.layer_norm_epsilon")
      continue;
    CAPTURE(key);
    const GgufValue* got = written.gguf.find("qwen35." + key.substr(5));
    REQUIRE(got != nullptr);
    CHECK(got->value == value.value);
  }
  for (const auto& [key, value] : written.gguf.keys) CHECK(key.find("decision") == std::string::npos);
  std::string_view architecture, rule;
  CHECK(written.gguf.get_string("general.architecture", architecture));
  CHECK(architecture == "qwen35");
  CHECK(written.gguf.get_string("tokenizer.ggml.pre", rule));
  CHECK(rule == "qwen2");  // the rule that the ids follow

  // With the head beside it, it is the whole model again.
  const std::string again = temporary_directory() + "/again.gguf";
  REQUIRE(convert_files(files_of(out, model_path("tiny-flash")), again, options_of("BF16")).ok());
  check_same_tensors(read_written(again), recorded);
}

TEST_CASE("types of the decision head") {
  const std::string directory = temporary_directory();
  const auto types = [&](const std::string& type, const std::string& head) {
    const std::string out = directory + "/" + type + head + ".gguf";
    REQUIRE(convert_files(files_of(model_path("tiny-flash")), out, options_of(type, head)).ok());
    return read_written(out);
  };
  const ReadFile plain = types("Q4_K_M", ""), mixed = types("Q4_K_M", "mixture"), bf16 = types("Q4_K_M", "BF16");
  for (const auto& [name, tensor] : plain.tensors) {
    CAPTURE(name);
    if (tensor.shape.size() == 1 || name.ends_with("_norm.weight") || name == "token_types.weight" ||
        name.ends_with("conv1d.weight")) {
      CHECK(tensor.type_name == "F32");
      CHECK(mixed.tensors.at(name).type_name == "F32");
    } else if (name == "decision.scorer_out.weight") {
      for (const ReadFile* file : {&plain, &mixed, &bf16}) CHECK(file->tensors.at(name).type_name == "BF16");
    } else if (name.starts_with("dec")) {
      CHECK(tensor.type_name == "Q8_0");
      CHECK(bf16.tensors.at(name).type_name == "BF16");
      CHECK((mixed.tensors.at(name).type_name == "Q5_0" || mixed.tensors.at(name).type_name == "Q8_0" ||
             mixed.tensors.at(name).type_name == "Q4_K"));
    }
  }
  CHECK(mixed.tensors.at("decision.proj_memory.weight").type_name == "Q5_0");  // rows of 64
  CHECK(mixed.tensors.at("decision.scorer.weight").type_name == "Q4_K");       // rows of 256
}

TEST_CASE("every type can be written and is near the source") {
  const std::string directory = temporary_directory();
  const ReadFile source = read_written(data_path("gguf/tiny-flash-bf16.gguf"));
  const std::vector<float> x = decoded(source.tensors.at("blk.0.ssm_out.weight"));
  for (const auto& [type, bound] : std::vector<std::pair<std::string, double>>{{"F32", 0},
                                                                               {"F16", 1e-6},
                                                                               {"BF16", 0},
                                                                               {"Q8_0", 0.01},
                                                                               {"Q6_K", 0.03},
                                                                               {"Q5_K", 0.05},
                                                                               {"Q4_K", 0.1},
                                                                               {"Q3_K", 0.2},
                                                                               {"Q2_K", 0.4},
                                                                               {"Q4_0", 0.12},
                                                                               {"Q4_1", 0.1},
                                                                               {"Q5_0", 0.06},
                                                                               {"Q5_1", 0.05},
                                                                               {"IQ4_NL", 0.1},
                                                                               {"IQ4_XS", 0.1}}) {
    CAPTURE(type);
    const std::string out = directory + "/" + type + ".gguf";
    convert::Options options = options_of(type);
    options.types.pure = true;
    const auto report = convert_files(files_of(model_path("tiny-flash")), out, options);
    REQUIRE(report.ok());
    const ReadFile written = read_written(out);
    CHECK(written.tensors.at("blk.0.ssm_out.weight").type_name == type);
    const std::vector<float> y = decoded(written.tensors.at("blk.0.ssm_out.weight"));
    double error = 0, size = 0;
    for (size_t i = 0; i < x.size(); ++i)
      error += std::pow(double{y[i]} - double{x[i]}, 2), size += std::pow(double{x[i]}, 2);
    CHECK(std::sqrt(error / size) <= bound);
    // What is written loads, with the same tokens.
    base::Memory memory{base::Allocator{}};
    const auto loaded = model::Model::load(files_of(out), {}, memory);
    REQUIRE(loaded.ok());
    std::vector<int32_t> ids, expected;
    REQUIRE(loaded.value()
                ->tokenizer()
                .encode("Is it a refund? \xe0\xa4\xa8\xe0\xa5\x87 <think>", text::SpecialText::control, ids)
                .ok());
    const auto reference = model::Model::load(files_of(model_path("tiny-flash")), {}, memory);
    REQUIRE(reference.value()
                ->tokenizer()
                .encode("Is it a refund? \xe0\xa4\xa8\xe0\xa5\x87 <think>", text::SpecialText::control, expected)
                .ok());
    CHECK(ids == expected);
  }
}

TEST_CASE("quantized releases are converted") {
  for (const std::string name : {"mlx-4bit", "awq"}) {
    CAPTURE(name);
    const std::string out = temporary_directory() + "/out.gguf", from = data_path("hf-quant/" + name);
    REQUIRE(convert_files(files_of(from), out, options_of("F32"), 2).ok());
    const ReadFile written = read_written(out);
    base::Memory memory{base::Allocator{}};
    const auto source = model::Model::load(files_of(from), {}, memory);
    const auto copy = model::Model::load(files_of(out), {}, memory);
    REQUIRE(source.ok());
    REQUIRE(copy.ok());
    // Matrices whose rows stay where they are, and the norms as they are used.
    const model::Weights &a = source.value()->weights(), &b = copy.value()->weights();
    const auto check = [](const device::Weight& x, const device::Weight& y) {
      REQUIRE(x.in == y.in);
      std::vector<float> left(static_cast<size_t>(x.in)), right(left.size());
      for (int64_t row = 0; row < x.out; ++row) {
        quant::decode_row(x, row, 0, x.in, left.data());
        quant::decode_row(y, row, 0, y.in, right.data());
        REQUIRE(left == right);
      }
    };
    check(a.embeddings, b.embeddings);
    check(a.lm_head, b.lm_head);
    check(a.final_norm, b.final_norm);
    for (size_t i = 0; i < a.layers.size(); ++i) {
      check(a.layers[i].down, b.layers[i].down);
      check(a.layers[i].input_norm, b.layers[i].input_norm);
    }
    check(a.head.memory, b.head.memory);
    check(a.head.decoder[0].self_attention.v, b.head.decoder[0].self_attention.v);
  }
}

TEST_CASE("single tensors get types of their own") {
  const std::string directory = temporary_directory();
  convert::Options options = options_of("Q4_0");
  options.types.rules = {{"blk.*.ffn_*", "Q8_0"}, {"blk.?.ffn_down.weight", "q5_1"}, {"output.weight", "BF16"}};
  REQUIRE(convert_files(files_of(model_path("tiny-flash")), directory + "/a.gguf", options).ok());
  const ReadFile written = read_written(directory + "/a.gguf");
  CHECK(written.tensors.at("blk.1.ffn_up.weight").type_name == "Q8_0");
  CHECK(written.tensors.at("blk.1.ffn_down.weight").type_name == "Q5_1");
  CHECK(written.tensors.at("blk.1.ssm_out.weight").type_name == "Q4_0");
  CHECK(written.tensors.at("output.weight").type_name == "BF16");

  const auto fails = [&](const convert::TypeRule& rule) {
    convert::Options wrong = options_of("Q4_0");
    wrong.types.rules = {rule};
    const auto result = convert_files(files_of(model_path("tiny-flash")), directory + "/b.gguf", wrong);
    REQUIRE(!result.ok());
    CHECK(result.status().code() == base::Code::invalid_value);
    CHECK(!std::ifstream(directory + "/b.gguf.part"));
    return std::string(result.status().message());
  };
  CHECK(fails({"blk.*.mlp", "Q8_0"}).find("blk.0.ffn_down.weight") != std::string::npos);
  CHECK(fails({"*norm*", "Q8_0"}).find("matches no matrix") != std::string::npos);
  CHECK(fails({"*ffn_up*", "Q9"}).find("Q5_K") != std::string::npos);
  CHECK(fails({"*ffn_up*", "IQ2_XXS"}).find("IQ4_NL") != std::string::npos);
  CHECK(fails({"token_embd.weight", "Q4_K"}).find("rows of 64 values are no multiple of 256") != std::string::npos);
  for (const char* type : {"", "Q9_K", "IQ2_XXS", "MXFP4"}) {
    const auto result = convert_files(files_of(model_path("tiny-flash")), directory + "/c.gguf", options_of(type));
    REQUIRE(!result.ok());
    CHECK(result.status().code() == base::Code::invalid_value);
  }
  CHECK(!convert_files(files_of(model_path("tiny-flash")), directory + "/c.gguf", options_of("Q8_0", "small")).ok());
}

TEST_CASE("patterns") {
  CHECK(convert::glob_matches("*", ""));
  CHECK(convert::glob_matches("a*b?c", "axxbbyc"));
  CHECK(!convert::glob_matches("a*b?c", "axxbc"));
  CHECK(!convert::glob_matches("", "a"));
  CHECK(!convert::glob_matches("?", ""));
  const std::string many(200, 'a');
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "a*";
  CHECK(!convert::glob_matches(stars + "b", many));
}

TEST_CASE("values that are not finite are refused by name and index") {
  const std::string directory = temporary_directory();
  for (const std::string name : {"blk.0.ssm_out.weight", "blk.3.attn_q_norm.weight", "decision.scorer.bias"}) {
    std::string bytes = read_file(data_path("gguf/mini-f32.gguf"));
    const ReadFile file = read_written(data_path("gguf/mini-f32.gguf"));
    const container::TensorView& tensor = file.tensors.at(name);
    const size_t index = static_cast<size_t>(tensor.elements()) - 3;
    const float nan = std::nanf("");
    std::memcpy(bytes.data() + tensor.offset + 4 * index, &nan, 4);
    std::ofstream(directory + "/nan.gguf", std::ios::binary) << bytes;
    for (const char* type : {"F32", "Q8_0", "Q4_K_M"}) {
      const auto result =
          convert_files(files_of(directory + "/nan.gguf"), directory + "/out.gguf", options_of(type), 2);
      REQUIRE(!result.ok());
      CHECK(result.status().code() == base::Code::non_finite);
      CHECK(result.status().detail().tensor == name);
      CHECK(result.status().message().find("index " + std::to_string(index)) != std::string::npos);
      CHECK(!std::ifstream(directory + "/out.gguf"));
      CHECK(!std::ifstream(directory + "/out.gguf.part"));
    }
  }
}

TEST_CASE("values beyond the range of the type are refused") {
  const std::string directory = temporary_directory();
  std::string bytes = read_file(data_path("gguf/mini-f32.gguf"));
  const ReadFile file = read_written(data_path("gguf/mini-f32.gguf"));
  const float large = 1e6f;
  std::memcpy(bytes.data() + file.tensors.at("blk.0.ffn_up.weight").offset, &large, 4);
  std::ofstream(directory + "/large.gguf", std::ios::binary) << bytes;
  const auto result = convert_files(files_of(directory + "/large.gguf"), directory + "/out.gguf", options_of("F16"));
  REQUIRE(!result.ok());
  CHECK(result.status().code() == base::Code::unsupported);
  CHECK(result.status().detail().tensor == "blk.0.ffn_up.weight");
  CHECK(convert_files(files_of(directory + "/large.gguf"), directory + "/out.gguf", options_of("BF16")).ok());
}

TEST_CASE("the report as JSON") {
  const std::string out = temporary_directory() + "/out.gguf";
  const auto report = convert_files(files_of(model_path("tiny-flash")), out, options_of("Q8_0"));
  REQUIRE(report.ok());
  const std::string text = convert::report_json(report.value());
  const auto document = json::parse(text);
  REQUIRE(document.ok());
  const json::Value& root = document.value().root();
  int64_t tensors = 0, bytes = 0, sum = 0;
  CHECK(root.find("file")->text() == "out.gguf");
  CHECK(root.find("tensors")->to_int64(tensors));
  CHECK(tensors == 269);
  CHECK(root.find("tensor_bytes")->to_int64(bytes));
  for (const json::Value& type : root.find("types")->items()) {
    int64_t part = 0;
    CHECK(type.find("bytes")->to_int64(part));
    sum += part;
  }
  CHECK(sum == bytes);
  double bits = 0;
  CHECK(root.find("bits_per_weight")->to_double(bits));
  CHECK((bits > 8.5 && bits < 9.0));
}
