// Disk formats of tensor values. One format = one file, which defines layout, exact decode and (where clef writes it)
// encode. Adding a format: one file with a `const Format k...`, one line each in registry.hpp and registry.cpp, one
// golden vector.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace clef::quant {

enum class Type : uint8_t {
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq1_s,
  iq1_m,
  iq2_xxs,
  iq2_xs,
  iq2_s,
  iq3_xxs,
  iq3_s,
  iq4_nl,
  iq4_xs,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  f8_e4m3,
  f8_e8m0,
  i8,
  mlx_affine,
  packed_int,
  scaled_int8,
  awq,
  gptq,
  scaled_fp8,
  scaled_fp4,
};

struct Format;

// What a format keeps in arrays of its own beside the codes of a matrix. Arrays may lie at any address.
struct Scaling {
  int32_t bits = 0;        // per code, where the format leaves it open
  int64_t group = 0;       // inputs that share a scale; 0: all of a row
  int64_t group_rows = 1;  // rows that share it; 0: all rows
  const Format* scale_format = nullptr;
  const std::byte* scales = nullptr;
  const Format* offset_format = nullptr;
  const std::byte* offsets = nullptr;   // biases, or packed zero points; nullptr: none
  const std::byte* group_of = nullptr;  // i32 group of each input; nullptr: input / group
  float global = 1.0f, divisor = 1.0f;  // one more scale, of the whole matrix, and one to divide by
  int64_t rows = 0;                     // of the whole matrix
  int32_t offset_shift = 0;             // added to packed zero points
};

// A matrix as it lies in files: `out` rows of `in` values, decoded row by row.
struct Matrix {
  const Format* format = nullptr;
  const std::byte* data = nullptr;
  int64_t out = 0, in = 0;
  const Scaling* scaling = nullptr;  // formats with scales in arrays of their own
  int64_t first_row = 0;             // of a part of such a matrix, in the whole

  // Rows [first, first + count) of this matrix.
  Matrix rows(int64_t first, int64_t count) const noexcept;
};

struct Format {
  Type type;
  const char* name;         // "F32", "Q8_0"
  int32_t ggml_id;          // type number in GGUF files, -1 when it never occurs there
  const char* safetensors;  // dtype string in safetensors headers, nullptr when it never occurs there
  uint32_t block_values;    // values per block along the input dimension
  uint32_t block_bytes;
  // Decodes `count` values (a multiple of block_values) exactly. src may be unaligned.
  void (*decode)(const std::byte* src, float* dst, size_t count) noexcept;
  // Encodes `count` values (a multiple of block_values); nullptr when clef does not write the format. `importance` holds
  // the weight of each value's squared error (those of the columns, when one row is encoded), or is nullptr.
  void (*encode)(const float* src, const float* importance, std::byte* dst, size_t count) noexcept;
  // Formats with scales in arrays of their own: values [first, first + count) of a row of the whole matrix; `decode` is
  // nullptr then. nullptr for all others, whose rows lie one after another.
  void (*decode_row)(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept = nullptr;
};

// Decodes values [first, first + count) of a row exactly; `first` is a multiple of 256, and so is `count` unless it
// reaches the end of the row.
void decode_row(const Matrix& matrix, int64_t row, int64_t first, int64_t count, float* dst) noexcept;

std::span<const Format* const> formats() noexcept;
const Format& format(Type type) noexcept;
const Format* find_ggml(int32_t ggml_id) noexcept;
const Format* find_safetensors(std::string_view dtype) noexcept;
// Name of a ggml type number that exists even if clef cannot read it, or nullptr.
const char* ggml_type_name(int32_t ggml_id) noexcept;
// Block layout of a ggml type number that exists even if clef cannot read it; false for unknown numbers.
bool ggml_block(int32_t ggml_id, uint32_t& block_values, uint32_t& block_bytes) noexcept;

// Bytes of a row of `values`; 0 when values is not a multiple of the block or the bytes overflow.
uint64_t row_bytes(const Format& format, uint64_t values) noexcept;

float f16_to_f32(uint16_t bits) noexcept;   // exact
uint16_t f32_to_f16(float value) noexcept;  // round to nearest even
float bf16_to_f32(uint16_t bits) noexcept;
uint16_t f32_to_bf16(float value) noexcept;  // round to nearest even, NaN kept quiet

}  // namespace clef::quant
