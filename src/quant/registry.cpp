#include "quant/registry.hpp"

namespace clef::quant {
namespace {

// In the order of Type.
constexpr const Format* kFormats[] = {
    &kF32,    &kF16,  &kBf16,      &kQ8_0,      &kQ4_0,       &kQ4_1,  &kQ5_0,   &kQ5_1,      &kQ2_K,
    &kQ3_K,   &kQ4_K, &kQ5_K,      &kQ6_K,      &kIq1S,       &kIq1M,  &kIq2Xxs, &kIq2Xs,     &kIq2S,
    &kIq3Xxs, &kIq3S, &kIq4Nl,     &kIq4Xs,     &kTq1_0,      &kTq2_0, &kMxfp4,  &kNvfp4,     &kF8E4m3,
    &kF8E8m0, &kI8,   &kMlxAffine, &kPackedInt, &kScaledInt8, &kAwq,   &kGptq,   &kScaledFp8, &kScaledFp4};

// Every type number that GGUF files use, so that messages can name a type and readers can check its size even where
// clef cannot decode it. Block types with withdrawn numbers (4, 5, 31-33, 36-38) are left out.
struct GgmlType {
  int32_t id;
  const char* name;
  uint32_t block_values;
  uint32_t block_bytes;
};
constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
};

const GgmlType* find_type(int32_t ggml_id) noexcept {
  for (const GgmlType& type : kGgmlTypes)
    if (type.id == ggml_id) return &type;
  return nullptr;
}

}  // namespace

std::span<const Format* const> formats() noexcept {
  return kFormats;
}

const Format& format(Type type) noexcept {
  return *kFormats[static_cast<size_t>(type)];
}

const Format* find_ggml(int32_t ggml_id) noexcept {
  if (ggml_id < 0) return nullptr;
  for (const Format* candidate : kFormats)
    if (candidate->ggml_id == ggml_id) return candidate;
  return nullptr;
}

const Format* find_safetensors(std::string_view dtype) noexcept {
  for (const Format* candidate : kFormats)
    if (candidate->safetensors != nullptr && dtype == candidate->safetensors) return candidate;
  return nullptr;
}

const char* ggml_type_name(int32_t ggml_id) noexcept {
  const GgmlType* type = find_type(ggml_id);
  return type != nullptr ? type->name : nullptr;
}

bool ggml_block(int32_t ggml_id, uint32_t& block_values, uint32_t& block_bytes) noexcept {
  const GgmlType* type = find_type(ggml_id);
  if (type == nullptr) return false;
  block_values = type->block_values;
  block_bytes = type->block_bytes;
  return true;
}

uint64_t row_bytes(const Format& format, uint64_t values) noexcept {
  if (values % format.block_values != 0) return 0;
  const uint64_t blocks = values / format.block_values;
  return blocks > UINT64_MAX / format.block_bytes ? 0 : blocks * format.block_bytes;
}

Matrix Matrix::rows(int64_t first, int64_t count) const noexcept {
  Matrix part = *this;
  part.out = count;
  if (format->decode_row != nullptr) {
    part.first_row += first;
  } else {
    part.data += static_cast<uint64_t>(first) * row_bytes(*format, static_cast<uint64_t>(in));
  }
  return part;
}

void decode_row(const Matrix& matrix, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Format& format = *matrix.format;
  if (format.decode_row != nullptr) {
    format.decode_row(matrix, matrix.first_row + row, first, count, dst);
    return;
  }
  const uint64_t bytes = row_bytes(format, static_cast<uint64_t>(matrix.in));
  const uint64_t offset = static_cast<uint64_t>(first) / format.block_values * format.block_bytes;
  format.decode(matrix.data + static_cast<uint64_t>(row) * bytes + offset, dst, static_cast<size_t>(count));
}

}  // namespace clef::quant
