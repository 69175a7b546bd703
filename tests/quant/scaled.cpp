// Matrices whose scales lie in tensors of their own, against recorded values: equal bits, whole rows and slices, at any
// address.
#include <cstring>

#include "container/safetensors.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using clef::container::TensorView;
namespace quant = clef::quant;
using quant::Matrix;
using quant::Scaling;
using quant::Type;

namespace {

class File {
 public:
  explicit File(const std::string& name) {
    const auto source = clef::io::open_path(clef::test::data_path("quant/" + name));
    REQUIRE(source.ok());
    auto file = clef::container::read_safetensors(source.value());
    REQUIRE(file.ok());
    tensors_ = std::move(file).value().tensors;
  }
  const TensorView* find(const std::string& name) const {
    for (const TensorView& tensor : tensors_)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  const TensorView& get(const std::string& name) const {
    const TensorView* tensor = find(name);
    if (tensor == nullptr) FAIL("no tensor " << name);
    return *tensor;
  }

 private:
  std::vector<TensorView> tensors_;
};

// A copy of exactly a tensor's bytes at an odd address, so that reads beyond them and aligned ones are caught.
class Copy {
 public:
  explicit Copy(const TensorView& tensor) : bytes_(new std::byte[tensor.bytes + 1]) {
    std::memcpy(bytes_.get() + 1, tensor.data(), tensor.bytes);
  }
  const std::byte* data() const { return bytes_.get() + 1; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

const quant::Format* format_of(const TensorView& tensor) {
  return tensor.type_name == "U8" ? &quant::format(Type::f8_e8m0) : quant::find_safetensors(tensor.type_name);
}

void check_matrix(const TensorView& values, Matrix matrix, const Scaling& scaling) {
  INFO(values.name);
  REQUIRE(values.shape.size() == 2);
  matrix.out = values.shape[0], matrix.in = values.shape[1], matrix.scaling = &scaling;
  std::vector<float> expected(static_cast<size_t>(values.elements())), row(static_cast<size_t>(matrix.in));
  std::memcpy(expected.data(), values.data(), values.bytes);
  const auto same = [&](int64_t r, int64_t first, int64_t count) {
    return std::memcmp(row.data(), expected.data() + r * matrix.in + first,
                       static_cast<size_t>(count) * sizeof(float)) == 0;
  };
  for (int64_t r = 0; r < matrix.out; ++r) {
    quant::decode_row(matrix, r, 0, matrix.in, row.data());
    REQUIRE(same(r, 0, matrix.in));
    // Slices, also ones that begin inside a group.
    for (const auto& [first, count] : {std::pair<int64_t, int64_t>{64, 100}, {37, 3}, {matrix.in - 1, 1}}) {
      quant::decode_row(matrix, r, first, count, row.data());
      REQUIRE(same(r, first, count));
    }
  }
  const Matrix part = matrix.rows(matrix.out / 2, 2);
  quant::decode_row(part, 1, 0, matrix.in, row.data());
  CHECK(part.out == 2);
  CHECK(same(matrix.out / 2 + 1, 0, matrix.in));
}

}  // namespace

TEST_CASE("code tables of F8_E4M3 and F8_E8M0") {
  const File file("formula.safetensors");
  for (const auto& [name, type] : {std::pair{"e4m3", Type::f8_e4m3}, std::pair{"e8m0", Type::f8_e8m0}}) {
    INFO(name);
    const TensorView& codes = file.get(std::string(name) + ".codes");
    const TensorView& values = file.get(std::string(name) + ".values");
    std::vector<float> decoded(codes.bytes), expected(codes.bytes);
    quant::format(type).decode(codes.data(), decoded.data(), decoded.size());
    std::memcpy(expected.data(), values.data(), values.bytes);
    int different = 0;
    for (size_t i = 0; i < decoded.size(); ++i) {
      const bool both_nan = decoded[i] != decoded[i] && expected[i] != expected[i];
      different += !both_nan && std::memcmp(&decoded[i], &expected[i], sizeof(float)) != 0 ? 1 : 0;
    }
    CHECK(different == 0);
  }
  const std::byte last{255};
  float nan = 0;
  quant::format(Type::f8_e8m0).decode(&last, &nan, 1);
  CHECK(nan != nan);
}

TEST_CASE("MLX affine") {
  const File file("mlx.safetensors");
  for (const int bits : {2, 3, 4, 5, 6, 8})
    for (const int group : {32, 64, 128})
      for (const char* scale : {"bf16", "f16"}) {
        const std::string name =
            "affine." + std::to_string(bits) + "bit.g" + std::to_string(group) + "." + std::string(scale);
        const Copy codes(file.get(name + ".weight")), scales(file.get(name + ".scales")),
            biases(file.get(name + ".biases"));
        Scaling scaling;
        scaling.bits = bits, scaling.group = group, scaling.rows = 4;
        scaling.scale_format = format_of(file.get(name + ".scales")), scaling.scales = scales.data();
        scaling.offset_format = format_of(file.get(name + ".biases")), scaling.offsets = biases.data();
        check_matrix(file.get(name + ".values"), {&quant::format(Type::mlx_affine), codes.data()}, scaling);
      }
}

TEST_CASE("MLX with scales of 8 bits") {
  const File file("mlx.safetensors");
  const struct {
    const char* name;
    Type type, scale;
    int group;
  } cases[] = {{"mxfp4", Type::scaled_fp4, Type::f8_e8m0, 32},
               {"nvfp4", Type::scaled_fp4, Type::f8_e4m3, 16},
               {"mxfp8", Type::scaled_fp8, Type::f8_e8m0, 32}};
  for (const auto& c : cases) {
    const std::string name = c.name;
    const Copy codes(file.get(name + ".weight")), scales(file.get(name + ".scales"));
    Scaling scaling;
    scaling.group = c.group, scaling.rows = 4;
    scaling.scale_format = &quant::format(c.scale), scaling.scales = scales.data();
    check_matrix(file.get(name + ".values"), {&quant::format(c.type), codes.data()}, scaling);
  }
}

TEST_CASE("compressed-tensors: packed and plain integers") {
  const File file("compressed-tensors.safetensors");
  const struct {
    const char* name;
    int bits, group;
  } cases[] = {{"pack-quantized.4bit.g128.sym", 4, 128}, {"pack-quantized.4bit.g128.asym", 4, 128},
               {"pack-quantized.4bit.g32.sym", 4, 32},   {"pack-quantized.8bit.g128.sym", 8, 128},
               {"pack-quantized.3bit.g64.sym", 3, 64},   {"int-quantized.8bit.channel", 8, 0}};
  for (const auto& c : cases) {
    const std::string name = c.name;
    const bool packed = c.group != 0;
    const Copy codes(file.get(name + (packed ? ".weight_packed" : ".weight")));
    const Copy scales(file.get(name + ".weight_scale"));
    const TensorView* zeros = file.find(name + ".weight_zero_point");
    const Copy zero_points(zeros != nullptr ? *zeros : file.get(name + ".weight_scale"));
    Scaling scaling;
    scaling.bits = c.bits, scaling.group = c.group, scaling.rows = 16;
    scaling.scale_format = format_of(file.get(name + ".weight_scale")), scaling.scales = scales.data();
    if (zeros != nullptr) scaling.offsets = zero_points.data();
    check_matrix(file.get(name + ".values"),
                 {&quant::format(packed ? Type::packed_int : Type::scaled_int8), codes.data()}, scaling);
  }
}

TEST_CASE("zero points of plain I8") {
  // Two rows of four inputs, one group each: (code - zero) * scale, with the codes of the packed form shifted by 8.
  const int8_t codes[] = {-8, 0, 3, 7, 1, 2, -3, -4}, zeros[] = {2, -5};
  const float scales[] = {0.5f, 4.0f}, expected[] = {-5, -1, 0.5f, 2.5f, 24, 28, 8, 4};
  const uint16_t packed[] = {0xfb80, 0, 0x45a9, 0};  // each row fills whole words
  Scaling scaling;
  scaling.bits = 4, scaling.rows = 2;
  scaling.scale_format = &quant::format(Type::f32), scaling.scales = reinterpret_cast<const std::byte*>(scales);
  scaling.offset_format = &quant::format(Type::i8), scaling.offsets = reinterpret_cast<const std::byte*>(zeros);
  for (const auto& [type, data] :
       {std::pair<Type, const void*>{Type::scaled_int8, codes}, {Type::packed_int, packed}}) {
    const Matrix matrix{&quant::format(type), static_cast<const std::byte*>(data), 2, 4, &scaling};
    float values[8];
    quant::decode_row(matrix, 0, 0, 4, values);
    quant::decode_row(matrix, 1, 0, 4, values + 4);
    for (size_t i = 0; i < 8; ++i) CHECK(values[i] == expected[i]);
  }
}

TEST_CASE("FP8 with a scale per matrix, per row, per block") {
  const struct {
    const char *file, *name, *scale;
    int64_t group, group_rows;
  } cases[] = {{"compressed-tensors", "float-quantized.tensor", ".weight_scale", 0, 0},
               {"compressed-tensors", "float-quantized.channel", ".weight_scale", 0, 1},
               {"compressed-tensors", "float-quantized.block", ".weight_scale", 128, 128},
               {"formula", "fp8.block128.float32", ".weight_scale_inv", 128, 128},
               {"formula", "fp8.block128.bfloat16", ".weight_scale_inv", 128, 128}};
  for (const auto& c : cases) {
    const File file(std::string(c.file) + ".safetensors");
    const std::string name = c.name;
    const Copy codes(file.get(name + ".weight")), scales(file.get(name + c.scale));
    Scaling scaling;
    scaling.group = c.group, scaling.group_rows = c.group_rows;
    scaling.scale_format = format_of(file.get(name + c.scale)), scaling.scales = scales.data();
    check_matrix(file.get(name + ".values"), {&quant::format(Type::scaled_fp8), codes.data()}, scaling);
  }
}

TEST_CASE("FP4 with scales of groups and of the matrix") {
  const File file("compressed-tensors.safetensors");
  const struct {
    const char *name, *codes, *whole;
    int group;
  } cases[] = {{"nvfp4-pack-quantized", ".weight_packed", ".weight_global_scale", 16},
               {"nvfp4-modelopt", ".weight", ".weight_scale_2", 16},
               {"mxfp4-pack-quantized", ".weight_packed", nullptr, 32}};
  for (const auto& c : cases) {
    const std::string name = c.name;
    const Copy codes(file.get(name + c.codes)), scales(file.get(name + ".weight_scale"));
    Scaling scaling;
    scaling.group = c.group;
    scaling.scale_format = format_of(file.get(name + ".weight_scale")), scaling.scales = scales.data();
    if (c.whole != nullptr) {
      float whole = 0;
      std::memcpy(&whole, file.get(name + c.whole).data(), sizeof(whole));
      (std::string(c.whole) == ".weight_scale_2" ? scaling.global : scaling.divisor) = whole;
    }
    check_matrix(file.get(name + ".values"), {&quant::format(Type::scaled_fp4), codes.data()}, scaling);
  }
}

TEST_CASE("AWQ and GPTQ") {
  const File file("formula.safetensors");
  for (const bool gptq : {false, true}) {
    const std::string name = gptq ? "gptq.g128" : "awq.g128";
    const Copy codes(file.get(name + ".qweight")), zeros(file.get(name + ".qzeros")),
        scales(file.get(name + ".scales"));
    const Copy group_of(file.get(gptq ? "gptq.g128.g_idx" : name + ".scales"));
    Scaling scaling;
    scaling.bits = 4, scaling.group = 128, scaling.rows = 32;
    scaling.scale_format = &quant::format(Type::f16), scaling.scales = scales.data();
    scaling.offsets = zeros.data(), scaling.offset_shift = gptq ? 1 : 0;
    if (gptq) scaling.group_of = group_of.data();
    check_matrix(file.get(name + ".values"), {&quant::format(gptq ? Type::gptq : Type::awq), codes.data()}, scaling);
  }
}
