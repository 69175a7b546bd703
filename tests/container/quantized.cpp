// Tensors of quantized matrices become one, which decodes to the recorded values.
#include "container/quantized.hpp"

#include <cstring>

#include "container/joined.hpp"
#include "support/data.hpp"

using namespace clef::test;
using namespace clef::container;
namespace quant = clef::quant;

namespace {

std::vector<float> decode(const TensorView& tensor) {
  REQUIRE(tensor.format != nullptr);
  REQUIRE(tensor.scales != nullptr);
  quant::Scaling scaling = tensor.scales->layout;
  const auto data = [](const TensorView& part) { return part.source ? part.data() : nullptr; };
  scaling.scales = data(tensor.scales->scales);
  scaling.offsets = data(tensor.scales->offsets);
  scaling.group_of = data(tensor.scales->group_of);
  const quant::Matrix matrix{tensor.format, tensor.data(), tensor.shape[0], tensor.shape[1], &scaling};
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  for (int64_t row = 0; row < matrix.out; ++row)
    quant::decode_row(matrix, row, 0, matrix.in, values.data() + row * matrix.in);
  return values;
}

// Every "X.values" of a recorded file has an "X.weight" now; returns how many.
int check_recorded(const std::string& file, const std::string& config) {
  const auto result = joined(path_source(data_path("quant/" + file)), config);
  if (!result.ok()) FAIL(result.status().message());
  int count = 0;
  for (const TensorView& values : result.value()) {
    if (!values.name.ends_with(".values") || values.shape.size() != 2) continue;
    const std::string module = values.name.substr(0, values.name.size() - std::strlen(".values"));
    INFO(module);
    const TensorView& weight = tensor_named(result.value(), module + ".weight");
    REQUIRE(weight.shape == values.shape);
    const std::vector<float> decoded = decode(weight);
    CHECK(std::memcmp(decoded.data(), values.data(), values.bytes) == 0);
    CHECK(total_bytes(weight) > weight.bytes);
    ++count;
  }
  // Nothing that belongs to a matrix is left over.
  for (const TensorView& tensor : result.value())
    CHECK((tensor.scales != nullptr || tensor.name.ends_with(".values") || tensor.name.ends_with(".codes")));
  return count;
}

std::string type_of(const Parts& parts, const std::string& config, const std::string& name) {
  const auto result = joined(memory_source(parts.file()), config);
  if (!result.ok()) FAIL(result.status().message());
  return describe(tensor_named(result.value(), name));
}

Parts mlx() {
  Parts parts;
  parts.set("a.weight", "U32", {3, 16}).set("a.scales", "BF16", {3, 2}).set("a.biases", "BF16", {3, 2});
  return parts;
}

}  // namespace

TEST_CASE("recorded matrices of every scheme are joined and decode exactly") {
  CHECK(check_recorded("compressed-tensors.safetensors", "{}") == 12);
  CHECK(check_recorded("compressed-tensors.safetensors",
                       R"({"quantization_config":{"quant_method":"compressed-tensors","format":"mixed-precision"}})") ==
        12);
  CHECK(check_recorded("formula.safetensors", "{}") == 4);
  std::string modules;
  for (const int bits : {2, 3, 4, 5, 6, 8})
    for (const int group : {32, 64, 128})
      for (const char* scale : {"bf16", "f16"})
        modules += ",\"affine." + std::to_string(bits) + "bit.g" + std::to_string(group) + "." + scale +
                   "\":{\"bits\":" + std::to_string(bits) + ",\"group_size\":" + std::to_string(group) + "}";
  CHECK(check_recorded("mlx.safetensors", R"({"quantization":{"bits":4,"group_size":64)" + modules + "}}") == 39);
}

TEST_CASE("joined tensors say what they are") {
  const std::string config = R"({"quantization":{"bits":4,"group_size":64}})";
  CHECK(type_of(mlx(), config, "a.weight") == "MLX 4-bit g64 [3, 128]");
  // The same shapes with other bits; an entry of the module wins, also under its shorter name.
  CHECK(type_of(mlx(), R"({"quantization":{"bits":4,"group_size":64,"a":{"bits":8,"group_size":32}}})", "a.weight") ==
        "MLX 8-bit g32 [3, 64]");
  Parts longer;
  longer.set("language_model.a.weight", "U32", {3, 16}).set("language_model.a.scales", "F16", {3, 2});
  longer.set("language_model.a.biases", "F16", {3, 2});
  CHECK(type_of(longer, R"({"quantization":{"bits":4,"group_size":64,"a":{"bits":2,"group_size":128}}})",
                "language_model.a.weight") == "MLX 2-bit g128 [3, 256]");
  Parts micro;
  for (const auto& [name, groups] : {std::pair<std::string, int64_t>{"mx8", 2}, {"mx4", 4}, {"nv4", 8}})
    micro.set(name + ".weight", "U32", {3, 16}).set(name + ".scales", "U8", {3, groups});
  CHECK(type_of(micro, "{}", "mx8.weight") == "MXFP8 [3, 64]");
  CHECK(type_of(micro, "{}", "mx4.weight") == "MXFP4 [3, 128]");
  CHECK(type_of(micro, "{}", "nv4.weight") == "NVFP4 [3, 128]");

  Parts fp8;
  fp8.set("t.weight", "F8_E4M3", {200, 130}).set("t.weight_scale", "F32", {});
  fp8.set("r.weight", "F8_E4M3", {200, 130}).set("r.weight_scale", "BF16", {200, 1});
  fp8.set("b.weight", "F8_E4M3", {200, 130}).set("b.weight_scale_inv", "F32", {2, 2});
  fp8.set("m.weight", "F8_E4M3", {200, 130}).set("m.weight_scale", "U8", {200, 5});
  fp8.set("i.weight", "I8", {200, 130}).set("i.weight_scale", "F32", {200});
  CHECK(type_of(fp8, "{}", "t.weight") == "FP8 per tensor [200, 130]");
  CHECK(type_of(fp8, "{}", "r.weight") == "FP8 per row [200, 130]");
  CHECK(type_of(fp8, "{}", "b.weight") == "FP8 128x128 [200, 130]");
  CHECK(type_of(fp8, "{}", "m.weight") == "MXFP8 [200, 130]");
  CHECK(type_of(fp8, "{}", "i.weight") == "INT8 per row [200, 130]");
  Parts blocks;
  blocks.set("b.weight", "F8_E4M3", {200, 130}).set("b.weight_scale_inv", "F32", {4, 5});
  CHECK(type_of(blocks, R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[64,32]}})", "b.weight") ==
        "FP8 64x32 [200, 130]");
  // Without scales and without a word about quantization they are left alone.
  for (const char* type : {"F8_E4M3", "U8", "I8", "U32"}) {
    Parts plain;
    plain.set("x.weight", type, {2, 2});
    CHECK(type_of(plain, "{}", "x.weight") == std::string(type) + " [2, 2]");
  }
}

TEST_CASE("other tensors stay as they are, in order") {
  Parts parts;
  parts.set("first", "BF16", {2});
  for (const Parts::Part& part : mlx().parts) parts.parts.push_back(part);
  parts.set("norm.weight", "F32", {3}).set("odd", "U32", {1}).set("codes", "U8", {4});
  const auto result = joined(memory_source(parts.file()), R"({"quantization":{"bits":4,"group_size":64}})");
  REQUIRE(result.ok());
  const Tensors& tensors = result.value();
  REQUIRE(tensors.size() == 5);
  CHECK(tensors[0].name == "first");
  CHECK(tensors[1].name == "norm.weight");
  CHECK(describe(tensors[2]) == "U32 [1]");
  CHECK(tensors[2].format == nullptr);
  CHECK(tensors[3].format == nullptr);
  CHECK(tensors[4].name == "a.weight");
  CHECK(tensors[4].bytes == 192);
  CHECK(total_bytes(tensors[4]) == 192 + 2 * 12);
}

TEST_CASE("GPTQ keeps an order of inputs only where it is one") {
  // Three groups of 8 inputs: 4 bits, one output of 8.
  Parts parts;
  std::vector<int32_t> order(24);
  for (int32_t i = 0; i < 24; ++i) order[static_cast<size_t>(i)] = i / 8;
  parts.set("a.qweight", "I32", {3, 8}).set("a.qzeros", "I32", {3, 1}).set("a.scales", "F16", {3, 8});
  const std::string config = R"({"quantization_config":{"quant_method":"gptq","bits":4,"group_size":8}})";
  const auto without = joined(memory_source(parts.file()), config);
  parts.set("a.g_idx", "I32", {24}, raw(order));
  const auto regular = joined(callback_source(parts.file()), config);
  std::swap(order[0], order[23]);
  parts.set("a.g_idx", "I32", {24}, raw(order));
  const auto shuffled = joined(memory_source(parts.file()), config);
  for (const auto* result : {&without, &regular, &shuffled}) {
    if (!result->ok()) FAIL(result->status().message());
    REQUIRE(result->value().size() == 1);
    CHECK(describe(result->value()[0]) == "GPTQ 4-bit g8 [8, 24]");
    CHECK(result->value()[0].scales->layout.offset_shift == 1);
  }
  CHECK(without.value()[0].scales->group_of.source == nullptr);
  CHECK(regular.value()[0].scales->group_of.source == nullptr);
  CHECK(shuffled.value()[0].scales->group_of.source != nullptr);
  const auto second = joined(memory_source(parts.file()),
                             R"({"quantization_config":{"quant_method":"gptq","checkpoint_format":"gptq_v2"}})");
  REQUIRE(second.ok());
  CHECK(second.value()[0].scales->layout.offset_shift == 0);
}

TEST_CASE("schemes are named") {
  const auto name = [](const std::string& config) {
    const auto document = clef::json::parse(config);
    REQUIRE(document.ok());
    const auto result = quantization_scheme(document.value().root(), "config.json");
    if (!result.ok()) FAIL(result.status().message());
    return result.value();
  };
  CHECK(name("{}") == "");
  CHECK(name(R"({"quantization_config":null})") == "");
  CHECK(name(R"({"quantization_config":{}})") == "");
  CHECK(name(R"({"quantization":{"bits":4,"group_size":64}})") == "MLX (affine)");
  CHECK(name(R"({"quantization":{"bits":4,"group_size":32,"mode":"mxfp4"}})") == "MLX (mxfp4)");
  CHECK(name(R"({"text_config":{"quantization_config":{"quant_method":"fp8"}}})") == "FP8");
  CHECK(name(R"({"quantization_config":{"quant_method":"awq","version":"GEMM"}})") == "AWQ");
  CHECK(name(R"({"quantization_config":{"quant_method":"gptq"}})") == "GPTQ");
  CHECK(name(R"({"quantization_config":{"quant_method":"compressed-tensors"}})") == "compressed-tensors");
  CHECK(name(R"({"quantization_config":{"quant_algo":"NVFP4"}})") == "ModelOpt");
  CHECK(name(R"({"quantization_config":{"quant_method":"auto-round","packing_format":"auto_round:auto_gptq"}})") ==
        "AutoRound (GPTQ)");
}

TEST_CASE("tensors of Ollama's store") {
  const auto check = [](const Parts& parts, const std::map<std::string, std::string>& metadata,
                        const std::string& expected) {
    auto file = read_safetensors(memory_source(parts.file()));
    REQUIRE(file.ok());
    Tensors tensors = std::move(file).value().tensors;
    const clef::base::Status status = join_ollama(metadata, tensors);
    if (!status.ok()) FAIL(status.message());
    REQUIRE(tensors.size() == 1);
    CHECK(tensors[0].name == "a.weight");
    CHECK(describe(tensors[0]) == expected);
  };
  Parts affine, micro;
  affine.set("a.weight", "U32", {3, 16}).set("a.weight.scale", "BF16", {3, 2}).set("a.weight.bias", "BF16", {3, 2});
  check(affine, {{"quant_type", "int4"}, {"group_size", "64"}}, "MLX 4-bit g64 [3, 128]");
  check(affine, {{"a.weight.quant_type", "int8"}, {"quant_type", "int4"}, {"a.weight.group_size", "32"}},
        "MLX 8-bit g32 [3, 64]");
  check(affine, {{"quant_type", "int4"}}, "MLX 4-bit g64 [3, 128]");
  micro.set("a.weight", "U32", {3, 16}).set("a.weight.scale", "U8", {3, 2});
  check(micro, {{"quant_type", "mxfp8"}, {"group_size", "32"}}, "MXFP8 [3, 64]");
  micro.set("a.weight.scale", "U8", {3, 8});
  check(micro, {{"quant_type", "nvfp4"}}, "NVFP4 [3, 128]");
  Parts plain;
  plain.set("a.weight", "BF16", {3, 2});
  check(plain, {}, "BF16 [3, 2]");
}
