// Disk formats of tensor values. One format = one file, which defines layout, exact decode and (where clef writes it)
// encode. Adding a format: one file with a `const Format k...`, one line each in registry.hpp and registry.cpp, one
// golden vector.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace clef::quant {

enum class Type : uint8_t { f32, f16, bf16, q8_0 };

struct Format {
  Type type;
  const char* name;         // "F32", "Q8_0"
  int32_t ggml_id;          // type number in GGUF files, -1 when it never occurs there
  const char* safetensors;  // dtype string in safetensors headers, nullptr when it never occurs there
  uint32_t block_values;    // values per block along the input dimension
  uint32_t block_bytes;
  // Decodes `count` values (a multiple of block_values) exactly. src may be unaligned.
  void (*decode)(const std::byte* src, float* dst, size_t count) noexcept;
  // Encodes `count` values; nullptr when clef does not write the format.
  void (*encode)(const float* src, std::byte* dst, size_t count) noexcept;
};

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
