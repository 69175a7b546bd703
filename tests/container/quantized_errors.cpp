#include "container/quantized.hpp"

#include <cmath>

#include "container/joined.hpp"

using namespace clef::test;
using namespace clef::container;
using clef::base::Code;

namespace {

// Joining fails with this code; the message names the file and tensor and holds `words`.
void refused(const Parts& parts, const std::string& config, Code code, const std::string& tensor,
             std::string_view words) {
  INFO("expected: " << words);
  for (const auto& source : {memory_source(parts.file()), callback_source(parts.file())}) {
    const auto result = joined(source, config);
    REQUIRE_FALSE(result.ok());
    const clef::base::ErrorDetail& detail = result.status().detail();
    INFO("message: " << detail.message);
    CHECK(detail.code == code);
    CHECK(detail.tensor == tensor);
    CHECK(detail.file == (tensor.empty() ? "config.json" : "test.bin"));
    CHECK(detail.message.starts_with(detail.file + ": "));
    CHECK(detail.message.find(words) != std::string::npos);
  }
}

const std::string kMlx = R"({"quantization":{"bits":4,"group_size":64}})";
const std::string kAwq = R"({"quantization_config":{"quant_method":"awq","bits":4,"group_size":16}})";
const std::string kGptq = R"({"quantization_config":{"quant_method":"gptq","bits":4,"group_size":8}})";
const std::string kFp8 = R"({"quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})";

Parts mlx() {
  return Parts().set("a.weight", "U32", {3, 16}).set("a.scales", "BF16", {3, 2}).set("a.biases", "BF16", {3, 2});
}
Parts awq() {
  return Parts().set("a.qweight", "I32", {32, 2}).set("a.qzeros", "I32", {2, 2}).set("a.scales", "F16", {2, 16});
}
Parts gptq() {
  return Parts().set("a.qweight", "I32", {3, 8}).set("a.qzeros", "I32", {3, 1}).set("a.scales", "F16", {3, 8});
}
Parts packed() {
  return Parts()
      .set("a.weight_packed", "I32", {3, 16})
      .set("a.weight_scale", "BF16", {3, 2})
      .set("a.weight_shape", "I64", {2}, raw<int64_t>({3, 128}))
      .set("a.weight_zero_point", "I32", {1, 2});
}
Parts fp8() {
  return Parts().set("a.weight", "F8_E4M3", {200, 130}).set("a.weight_scale_inv", "F32", {2, 2});
}
Parts nvfp4() {
  return Parts()
      .set("a.weight_packed", "U8", {3, 32})
      .set("a.weight_scale", "F8_E4M3", {3, 4})
      .set("a.weight_global_scale", "F32", {1}, raw<float>({2.0f}));
}

bool joins(const Parts& parts, const std::string& config) {
  return joined(memory_source(parts.file()), config).ok();
}

}  // namespace

TEST_CASE("the unbroken files of these tests are joined") {
  CHECK(joins(mlx(), kMlx));
  CHECK(joins(awq(), kAwq));
  CHECK(joins(gptq(), kGptq));
  CHECK(joins(packed(), "{}"));
  CHECK(joins(fp8(), kFp8));
  CHECK(joins(nvfp4(), "{}"));
}

TEST_CASE("schemes that clef does not read are refused with advice") {
  const auto unsupported = [](const std::string& settings, std::string_view words) {
    const std::string config = "{\"quantization_config\":" + settings + "}";
    refused(Parts().set("a", "F32", {1}), config, Code::unsupported, "", words);
    refused(Parts().set("a", "F32", {1}), config, Code::unsupported, "", "GGUF");
  };
  unsupported(R"({"quant_method":"bitsandbytes"})", "bitsandbytes");
  unsupported(R"({"quant_method":"exl3"})", "ExLlama");
  unsupported(R"({"quant_method":"hqq"})", "'hqq'");
  unsupported(R"({"load_in_4bit":true})", "but not how");
  unsupported(R"({"bits":4,"mode":"spiral"})", "'spiral'");
  unsupported(R"({"quant_method":"awq","version":"gemv"})", "'gemv'");
  unsupported(R"({"quant_method":"gptq","checkpoint_format":"marlin"})", "'marlin'");
  unsupported(R"({"quant_method":"auto-round","packing_format":"mx"})", "'mx'");
  unsupported(R"({"quant_method":"compressed-tensors","format":"marlin-24"})", "'marlin-24'");
  unsupported(R"({"quant_method":"compressed-tensors","config_groups":{"a":{"format":"x"}}})", "'x'");
  unsupported(R"({"quant_method":"compressed-tensors","sparsity_config":{"format":"sparse-24-bitmask"}})", "sparse-24");
  unsupported(R"({"quant_method":"compressed-tensors","transform_config":{"config_groups":{"u":{}}}})",
              "transform_config");
  refused(Parts().set("a", "F32", {1}), R"({"quantization_config":[]})", Code::bad_file, "", "not an object");
  // Without a configuration their tensors tell.
  refused(Parts().set("a.weight", "U8", {8, 1}).set("a.weight.absmax", "F32", {1}), "{}", Code::unsupported,
          "a.weight.absmax", "bitsandbytes");
  refused(Parts().set("a.trellis", "I16", {2}), "{}", Code::unsupported, "a.trellis", "ExLlama");
}

TEST_CASE("broken MLX files") {
  refused(mlx().remove("a.scales"), kMlx, Code::missing_part, "a.weight", "'a.scales', which is missing");
  refused(mlx().remove("a.biases"), kMlx, Code::missing_part, "a.weight", "'a.biases', which is missing");
  refused(mlx().remove("a.weight"), kMlx, Code::missing_part, "a.scales", "no codes of 'a'");
  refused(mlx().set("a.weight", "U32", {48}), kMlx, Code::bad_file, "a.weight", "U32 [48], which is no shape");
  refused(mlx().set("a.weight", "U32", std::vector<int64_t>(1000, 1)), kMlx, Code::bad_file, "a.weight",
          "U32 [1, 1, 1, 1, 1, 1, 1, 1, ...], which is no shape");
  refused(mlx().set("a.weight", "U32", {0, 16}), kMlx, Code::bad_file, "a.weight", "which is no shape");
  refused(mlx().set("a.weight", "U32", {0, 4294967296}), kMlx, Code::bad_file, "a.weight", "which is no shape");
  refused(mlx().set("a.scales", "BF16", {6}), kMlx, Code::bad_file, "a.scales", "which is no shape");
  refused(mlx().set("a.scales", "BF16", {4, 2}), kMlx, Code::bad_file, "a.scales", "BF16 [3, 2]");
  refused(mlx().set("a.scales", "I32", {3, 2}), kMlx, Code::bad_file, "a.scales", "F32 or F16 or BF16 [3, 2]");
  refused(mlx().set("a.biases", "BF16", {3, 1}), kMlx, Code::bad_file, "a.biases", "BF16 [3, 1]");
  refused(mlx().set("a.scales", "BF16", {3, 3}), kMlx, Code::bad_file, "a.weight", "config.json says 4 bits in groups");
  refused(mlx(), R"({"quantization":{"bits":4,"group_size":32}})", Code::bad_file, "a.weight",
          "means 256 bits of codes per scale, but config.json says 4 bits in groups of 32");
  for (const char* settings :
       {"{}", R"({"quantization":{"bits":7,"group_size":64}})", R"({"quantization":{"bits":4,"group_size":0}})",
        R"({"quantization":{"bits":4,"group_size":9223372036854775807}})", R"({"quantization":{"bits":4}})"})
    refused(mlx(), settings, Code::bad_file, "a.weight", "does not give a usable 'bits' and 'group_size'");
  refused(mlx().remove("a.biases").set("a.scales", "U8", {3, 3}), kMlx, Code::bad_file, "a.weight",
          "none of nvfp4, mxfp4 and mxfp8");
}

TEST_CASE("broken AWQ and GPTQ files") {
  refused(awq().remove("a.scales"), kAwq, Code::missing_part, "a.qweight", "'a.scales', which is missing");
  refused(awq().remove("a.qzeros"), kAwq, Code::missing_part, "a.qweight", "'a.qzeros', which is missing");
  refused(awq().set("a.qweight", "F32", {32, 2}), kAwq, Code::bad_file, "a.qweight", "I32 or U32");
  refused(awq().set("a.qweight", "I32", {32}), kAwq, Code::bad_file, "a.qweight", "which is no shape");
  refused(awq().set("a.scales", "F16", {2, 15}), kAwq, Code::bad_file, "a.qweight", "neither AWQ nor GPTQ");
  refused(awq().set("a.scales", "U8", {2, 16}), kAwq, Code::bad_file, "a.scales", "F32 or F16 or BF16");
  refused(awq().set("a.scales", "F16", {3, 16}), kAwq, Code::bad_file, "a.qweight", "do not divide");
  refused(awq().set("a.qzeros", "I32", {2, 3}), kAwq, Code::bad_file, "a.qzeros", "I32 or U32 [2, 2]");
  refused(awq(), R"({"quantization_config":{"quant_method":"awq","bits":8}})", Code::bad_file, "a.qweight",
          "means 4 bits, but config.json says 8");
  refused(awq(), R"({"quantization_config":{"quant_method":"awq","group_size":128}})", Code::bad_file, "a.qweight",
          "means groups of 16, but config.json says 128");
  refused(awq(), kGptq, Code::bad_file, "a.qweight", "means AWQ, but config.json says 'gptq'");
  refused(gptq(), kAwq, Code::bad_file, "a.qweight", "means GPTQ, but config.json says 'awq'");

  refused(gptq().remove("a.qzeros"), kGptq, Code::missing_part, "a.qweight", "'a.qzeros', which is missing");
  refused(gptq().set("a.qzeros", "I32", {3, 3}), kGptq, Code::bad_file, "a.qweight", "no number of bits");
  refused(gptq().set("a.qzeros", "I32", {2, 1}), kGptq, Code::bad_file, "a.qzeros", "I32 or U32 [3, 1]");
  refused(gptq().set("a.scales", "F16", {2, 8}).set("a.qzeros", "I32", {2, 1}), kGptq, Code::bad_file, "a.qweight",
          "2 groups");
  refused(gptq().set("a.g_idx", "I32", {23}), kGptq, Code::bad_file, "a.g_idx", "I32 [24]");
  refused(gptq().set("a.g_idx", "I64", {24}), kGptq, Code::bad_file, "a.g_idx", "I32 [24]");
  for (const int32_t group : {3, -1, INT32_MAX, INT32_MIN}) {
    std::vector<int32_t> order(24);
    order[7] = group;
    refused(gptq().set("a.g_idx", "I32", {24}, raw(order)), kGptq, Code::bad_file, "a.g_idx",
            "puts input 7 into group " + std::to_string(group) + " of 3");
  }
  std::vector<int32_t> order(10000);  // more than are read at once
  order[9000] = 2;
  refused(Parts()
              .set("a.qweight", "I32", {1250, 8})
              .set("a.qzeros", "I32", {2, 1})
              .set("a.scales", "F16", {2, 8})
              .set("a.g_idx", "I32", {10000}, raw(order)),
          "{}", Code::bad_file, "a.g_idx", "puts input 9000 into group 2 of 2");
  refused(gptq().remove("a.qweight"), kGptq, Code::missing_part, "a.qzeros", "no codes of 'a'");
}

TEST_CASE("broken files of packed integers") {
  const auto shape = [](int64_t out, int64_t in) {
    return packed().set("a.weight_shape", "I64", {2}, raw<int64_t>({out, in}));
  };
  refused(packed().remove("a.weight_scale"), "{}", Code::missing_part, "a.weight_packed", "'a.weight_scale', which is");
  refused(packed().remove("a.weight_packed"), "{}", Code::missing_part, "a.weight_scale", "no codes of 'a'");
  refused(packed().remove("a.weight_shape"), "{}", Code::missing_part, "a.weight_packed", "tells its bits");
  refused(packed().set("a.weight_packed", "F32", {3, 16}), "{}", Code::bad_file, "a.weight_packed", "I32 or U8");
  refused(shape(4, 128), "{}", Code::bad_file, "a.weight_shape", "holds [4, 128]");
  refused(shape(3, 0), "{}", Code::bad_file, "a.weight_shape", "holds [3, 0]");
  refused(shape(3, -128), "{}", Code::bad_file, "a.weight_shape", "holds [3, -128]");
  refused(shape(3, INT64_MAX), "{}", Code::bad_file, "a.weight_shape", "holds [3, 9223372036854775807]");
  refused(shape(3, 1000), "{}", Code::bad_file, "a.weight_packed", "no number of bits");
  refused(shape(3, 8), "{}", Code::bad_file, "a.weight_packed", "no number of bits");
  refused(packed().set("a.weight_shape", "I64", {3}), "{}", Code::bad_file, "a.weight_shape", "I64 or I32 [2]");
  refused(packed().set("a.weight_scale", "BF16", {3, 3}), "{}", Code::bad_file, "a.weight_scale", "a matrix [3, 128]");
  refused(packed().set("a.weight_scale", "BF16", {2, 2}), "{}", Code::bad_file, "a.weight_scale", "a matrix [3, 128]");
  refused(packed().set("a.weight_scale", "I8", {3, 2}), "{}", Code::bad_file, "a.weight_scale", "F32 or F16 or BF16");
  refused(packed().set("a.weight_zero_point", "I32", {3, 2}), "{}", Code::bad_file, "a.weight_zero_point",
          "I32 [1, 2]");
  refused(packed().set("a.weight_zero_point", "I8", {3, 1}), "{}", Code::bad_file, "a.weight_zero_point", "I8 [3, 2]");
  refused(packed().set("a.weight_g_idx", "I32", {128}, raw(std::vector<int32_t>(128, 2))), "{}", Code::bad_file,
          "a.weight_g_idx", "puts input 0 into group 2 of 2");
  refused(packed(),
          R"({"quantization_config":{"quant_method":"compressed-tensors",)"
          R"("config_groups":{"g":{"weights":{"num_bits":8}}}}})",
          Code::bad_file, "a.weight_packed", "means 4 bits, but config.json says 8");

  const Parts bytes = Parts().set("a.weight", "I8", {3, 4}).set("a.weight_scale", "F32", {3, 1});
  CHECK(joins(bytes, "{}"));
  refused(Parts(bytes).remove("a.weight_scale"), R"({"quantization_config":{"quant_method":"compressed-tensors"}})",
          Code::missing_part, "a.weight", "'a.weight_scale'");
  refused(Parts(bytes).set("a.weight_zero_point", "I32", {3, 1}), "{}", Code::bad_file, "a.weight_zero_point",
          "I8 [3, 1]");
}

TEST_CASE("broken FP8 and FP4 files") {
  refused(fp8().remove("a.weight_scale_inv"), kFp8, Code::missing_part, "a.weight", "'a.weight_scale', which is");
  refused(fp8().remove("a.weight"), kFp8, Code::missing_part, "a.weight_scale_inv", "no codes of 'a'");
  refused(fp8().set("a.weight", "BF16", {200, 130}), kFp8, Code::missing_part, "a.weight_scale_inv", "no codes of 'a'");
  refused(fp8().set("a.weight_scale", "F32", {1}), kFp8, Code::bad_file, "a.weight", "has both");
  refused(fp8().set("a.weight", "F8_E4M3", {200, 130, 1}), kFp8, Code::bad_file, "a.weight", "which is no shape");
  refused(fp8().set("a.weight_scale_inv", "F32", {2, 1}), kFp8, Code::bad_file, "a.weight_scale_inv", "a matrix");
  refused(fp8().set("a.weight_scale_inv", "I32", {2, 2}), kFp8, Code::bad_file, "a.weight_scale_inv", "F32 or F16");
  refused(fp8().set("a.weight_scale_inv", "U8", {200, 4}), kFp8, Code::bad_file, "a.weight_scale_inv", "[200, 5]");
  refused(fp8().set("a.weight_scale_inv", "F32", {200, 1}), kFp8, Code::bad_file, "a.weight_scale_inv",
          "means scales per row, but config.json says blocks of 128x128");
  for (const char* sizes : {"3", "[128]", "[128,0]", "[128,-1]", "[128,9223372036854775807]", "[1,\"1\"]"})
    refused(fp8(), R"({"quantization_config":{"quant_method":"fp8","weight_block_size":)" + std::string(sizes) + "}}",
            Code::bad_file, "", "a block size that is not two sizes");

  refused(nvfp4().remove("a.weight_scale"), "{}", Code::missing_part, "a.weight_packed", "'a.weight_scale'");
  refused(nvfp4().remove("a.weight_global_scale"), "{}", Code::missing_part, "a.weight_packed",
          "'a.weight_global_scale'");
  refused(nvfp4().set("a.weight_packed", "U8", {3, 30}), "{}", Code::bad_file, "a.weight_packed", "groups of 16");
  refused(nvfp4().set("a.weight_scale", "F8_E4M3", {3, 3}), "{}", Code::bad_file, "a.weight_scale", "[3, 4]");
  refused(nvfp4().set("a.weight_scale", "F32", {3, 2}), "{}", Code::bad_file, "a.weight_scale", "F8_E4M3 or U8");
  refused(nvfp4().set("a.weight_scale_2", "F32", {1}), "{}", Code::bad_file, "a.weight_packed", "has both");
  refused(nvfp4().set("a.weight_global_scale", "F32", {2}), "{}", Code::bad_file, "a.weight_global_scale", "F32 []");
  refused(nvfp4().set("a.weight_global_scale", "BF16", {1}), "{}", Code::bad_file, "a.weight_global_scale", "F32 []");
  for (const float value : {0.0f, HUGE_VALF, -HUGE_VALF, NAN})
    refused(nvfp4().set("a.weight_global_scale", "F32", {1}, raw<float>({value})), "{}", Code::non_finite,
            "a.weight_global_scale", "no usable scale");
  refused(nvfp4().set("a.pre_quant_scale", "F32", {64}), "{}", Code::unsupported, "a.weight_packed", "pre_quant_scale");
}

TEST_CASE("broken tensors of Ollama's store") {
  const auto bad = [](const Parts& parts, const std::map<std::string, std::string>& metadata, Code code,
                      const std::string& tensor, std::string_view words) {
    INFO("expected: " << words);
    auto file = read_safetensors(memory_source(parts.file()));
    REQUIRE(file.ok());
    Tensors tensors = std::move(file).value().tensors;
    const clef::base::Status status = join_ollama(metadata, tensors);
    REQUIRE_FALSE(status.ok());
    INFO("message: " << status.message());
    CHECK(status.code() == code);
    CHECK(status.detail().tensor == tensor);
    CHECK(status.message().find(words) != std::string::npos);
  };
  Parts parts;
  parts.set("a", "U32", {3, 16}).set("a.scale", "BF16", {3, 2}).set("a.bias", "BF16", {3, 2});
  bad(parts, {}, Code::bad_file, "a", "'quant_type'");
  bad(parts, {{"quant_type", "int3"}}, Code::unsupported, "a", "'int3'");
  bad(parts, {{"quant_type", "int8"}}, Code::bad_file, "a", "do not fit 8 bits in groups of 64");
  for (const char* size : {"0", "-64", "x", "64.0", "99999999999999999999", "[64]"})
    bad(parts, {{"quant_type", "int4"}, {"group_size", size}}, Code::bad_file, "a", "unusable 'group_size'");
  bad(parts, {{"quant_type", "int4"}, {"group_size", "999999999"}}, Code::bad_file, "a", "do not fit");
  bad(parts, {{"quant_type", "nvfp4"}, {"group_size", "32"}}, Code::bad_file, "a", "unusable 'group_size'");
  bad(parts, {{"quant_type", "mxfp4"}}, Code::bad_file, "a.scale", "U8 [3, 4]");
  Parts half = parts;
  bad(half.remove("a.bias"), {{"quant_type", "int4"}}, Code::missing_part, "a", "'a.bias'");
  bad(half.remove("a.scale"), {{"quant_type", "int4"}}, Code::missing_part, "a", "'a.scale'");
  Parts orphan = parts;
  bad(orphan.remove("a"), {{"quant_type", "int4"}}, Code::missing_part, "a.scale", "is missing");
}
