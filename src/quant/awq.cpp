// AWQ, gemm layout: a table of 32-bit words [in, out / 8], zero points alike [groups, out / 8], scales [groups, out];
// x = (code - zero) * scale.
#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode_part(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  const int64_t words = scaling.rows / 8, word = row / 8;
  // The eight columns of a word lie in the order 0, 2, 4, 6, 1, 3, 5, 7, lowest nibble first.
  const auto column = static_cast<int32_t>(row % 8);
  const int32_t shift = 4 * (column % 2 * 4 + column / 2);
  const auto code = [&](const std::byte* table, int64_t line) {
    return static_cast<int32_t>(load<uint32_t>(table + (line * words + word) * 4) >> shift & 15u);
  };
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    const int32_t zero = scaling.offsets != nullptr ? code(scaling.offsets, group) : 8;
    const float scale = scale_at(scaling, group * scaling.rows + row);
    for (int64_t i = begin; i < end; ++i) dst[i - first] = static_cast<float>(code(whole.data, i) - zero) * scale;
  });
}

}  // namespace

constinit const Format kAwq = {Type::awq, "AWQ", -1, nullptr, 1, 1, nullptr, nullptr, decode_part};

}  // namespace clef::quant
