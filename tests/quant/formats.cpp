#include "quant/format.hpp"

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace quant = clef::quant;

namespace {

constexpr size_t kBlock = 34;

std::vector<float> decode_q8(const std::vector<std::byte>& bytes, size_t count) {
  std::vector<float> values(count);
  quant::format(quant::Type::q8_0).decode(bytes.data(), values.data(), count);
  return values;
}

// One block from the bits of its scale and a rule for its codes; `lead` bytes in front make the address odd.
template <class Code>
std::vector<float> decode_block(uint16_t scale, Code code, size_t lead) {
  std::vector<std::byte> bytes(lead + kBlock);
  bytes[lead] = static_cast<std::byte>(scale & 255);
  bytes[lead + 1] = static_cast<std::byte>(scale >> 8);
  for (int i = 0; i < 32; ++i) bytes[lead + 2 + static_cast<size_t>(i)] = static_cast<std::byte>(code(i));
  std::vector<float> values(32);
  quant::format(quant::Type::q8_0).decode(bytes.data() + lead, values.data(), 32);
  return values;
}

std::vector<std::byte> encode_q8(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() / 32 * kBlock);
  quant::format(quant::Type::q8_0).encode(values.data(), nullptr, bytes.data(), values.size());
  return bytes;
}

int code_at(const std::vector<std::byte>& bytes, size_t i) {
  return static_cast<int8_t>(bytes[2 + i]);
}
int scale_bits(const std::vector<std::byte>& bytes) {
  return std::to_integer<int>(bytes[0]) | std::to_integer<int>(bytes[1]) << 8;
}

}  // namespace

TEST_CASE("the registry is consistent") {
  std::set<std::string> names;
  size_t place = 0;
  for (const quant::Format* format : quant::formats()) {
    INFO(format->name);
    CHECK(names.insert(format->name).second);
    CHECK(static_cast<size_t>(format->type) == place++);
    CHECK(&quant::format(format->type) == format);
    REQUIRE((format->decode != nullptr) != (format->decode_row != nullptr));
    if (format->safetensors != nullptr) CHECK(quant::find_safetensors(format->safetensors) == format);
    if (format->ggml_id < 0) continue;
    CHECK(quant::find_ggml(format->ggml_id) == format);
    CHECK(std::string(quant::ggml_type_name(format->ggml_id)) == format->name);
    uint32_t values = 0;
    uint32_t bytes = 0;
    REQUIRE(quant::ggml_block(format->ggml_id, values, bytes));
    CHECK(values == format->block_values);
    CHECK(bytes == format->block_bytes);
  }
  CHECK(quant::find_ggml(-1) == nullptr);
  CHECK(quant::find_ggml(12) == &quant::format(quant::Type::q4_k));
  CHECK(quant::find_ggml(9) == nullptr);  // Q8_1, never in files
  CHECK(quant::find_ggml(57) == nullptr);
  CHECK(quant::find_safetensors("U32") == nullptr);
  CHECK(quant::find_safetensors("f32") == nullptr);
  CHECK(quant::find_safetensors("") == nullptr);
  CHECK(std::string(quant::ggml_type_name(12)) == "Q4_K");
  CHECK(std::string(quant::ggml_type_name(40)) == "NVFP4");
  CHECK(quant::ggml_type_name(4) == nullptr);
  CHECK(quant::ggml_type_name(-1) == nullptr);
  uint32_t values = 0;
  uint32_t bytes = 0;
  CHECK_FALSE(quant::ggml_block(31, values, bytes));
}

TEST_CASE("bytes of rows") {
  const quant::Format& q8 = quant::format(quant::Type::q8_0);
  CHECK(quant::row_bytes(q8, 4096) == 4352);
  CHECK(quant::row_bytes(q8, 33) == 0);
  CHECK(quant::row_bytes(q8, 0) == 0);
  CHECK(quant::row_bytes(q8, UINT64_MAX / 32 * 32) == 0);
  const quant::Format& f32 = quant::format(quant::Type::f32);
  CHECK(quant::row_bytes(f32, 5) == 20);
  CHECK(quant::row_bytes(f32, UINT64_MAX / 4) == UINT64_MAX / 4 * 4);
  CHECK(quant::row_bytes(f32, UINT64_MAX / 4 + 1) == 0);
}

TEST_CASE("F32 keeps every bit at any address") {
  const uint32_t patterns[] = {0, 0x80000000u, 1, 0x7f800001u, 0xffffffffu, 0x3f800000u};
  std::byte bytes[sizeof(patterns) + 1];
  std::memcpy(bytes + 1, patterns, sizeof(patterns));
  float values[6];
  quant::format(quant::Type::f32).decode(bytes + 1, values, 6);
  CHECK(std::memcmp(values, patterns, sizeof(patterns)) == 0);
  std::byte back[sizeof(patterns) + 1];
  quant::format(quant::Type::f32).encode(values, nullptr, back + 1, 6);
  CHECK(std::memcmp(back + 1, patterns, sizeof(patterns)) == 0);
  quant::format(quant::Type::f32).decode(nullptr, nullptr, 0);
}

TEST_CASE("Q8_0 blocks made by hand") {
  for (const size_t lead : {size_t{0}, size_t{1}}) {
    const auto quarter = decode_block(
        0x3400, [](int i) { return i - 16; }, lead);  // 0.25
    for (int i = 0; i < 32; ++i) CHECK(quarter[static_cast<size_t>(i)] == 0.25f * static_cast<float>(i - 16));
    const auto extremes = decode_block(
        0xc000, [](int i) { return i % 2 != 0 ? 127 : -128; }, lead);  // -2
    for (size_t i = 0; i < 32; ++i) CHECK(extremes[i] == (i % 2 != 0 ? -254.0f : 256.0f));
    const auto tiny = decode_block(
        0x0001, [](int i) { return i; }, lead);  // the smallest subnormal
    for (int i = 0; i < 32; ++i) CHECK(tiny[static_cast<size_t>(i)] == std::ldexp(static_cast<float>(i), -24));
    const auto infinite = decode_block(
        0x7c00, [](int i) { return i == 0 ? 0 : 1; }, lead);
    CHECK(std::isnan(infinite[0]));
    CHECK(std::isinf(infinite[1]));
  }
  // Two blocks in a row, each with its scale.
  std::vector<std::byte> two(2 * kBlock, std::byte{1});
  two[0] = std::byte{0x00}, two[1] = std::byte{0x3c};                // 1
  two[kBlock] = std::byte{0x00}, two[kBlock + 1] = std::byte{0x40};  // 2
  const auto values = decode_q8(two, 64);
  CHECK(values[31] == 1.0f);
  CHECK(values[32] == 2.0f);
}

TEST_CASE("Q8_0 encodes with the unrounded scale and rounds halves away from zero") {
  std::vector<float> values(32, 0.0f);
  values[0] = 127.0f, values[1] = -127.0f, values[2] = 0.5f, values[3] = -0.5f, values[4] = 1.5f, values[5] = 2.5f,
  values[6] = 0.49f;
  const auto bytes = encode_q8(values);
  CHECK(scale_bits(bytes) == 0x3c00);
  const int expected[] = {127, -127, 1, -1, 2, 3, 0, 0};
  for (size_t i = 0; i < 8; ++i) CHECK(code_at(bytes, i) == expected[i]);
  CHECK(decode_q8(bytes, 32)[1] == -127.0f);

  // A scale that f16 cannot hold: 1/127 = 0x1.020408p-7 becomes 0x1.02p-7, but the codes come from the float.
  std::vector<float> ones(32, 1.0f);
  ones[1] = -1.0f, ones[2] = 64.4f / 127.0f, ones[3] = 64.6f / 127.0f;
  const auto coded = encode_q8(ones);
  CHECK(scale_bits(coded) == 0x2008);
  CHECK(code_at(coded, 0) == 127);
  CHECK(code_at(coded, 1) == -127);
  CHECK(code_at(coded, 2) == 64);
  CHECK(code_at(coded, 3) == 65);
}

TEST_CASE("Q8_0 encodes zeros, the smallest numbers and what is not finite without harm") {
  const auto zeros = encode_q8(std::vector<float>(32, -0.0f));
  CHECK(zeros == std::vector<std::byte>(kBlock));
  std::vector<float> tiny(32, 1e-45f);
  CHECK(scale_bits(encode_q8(tiny)) == 0);
  std::vector<float> wild(32, 1.0f);
  wild[3] = INFINITY, wild[4] = NAN;
  const auto bytes = encode_q8(wild);
  CHECK(scale_bits(bytes) == 0x7c00);
  for (size_t i = 0; i < 32; ++i) CHECK(code_at(bytes, i) == 0);
  std::vector<float> hole(32, 127.0f);
  hole[4] = NAN;
  CHECK(code_at(encode_q8(hole), 3) == 127);
  CHECK(code_at(encode_q8(hole), 4) == 0);
}
