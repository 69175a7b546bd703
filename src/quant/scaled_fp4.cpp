// FP4 (E2M1) codes, low nibble first, with a scale per group of inputs: NVFP4 (groups of 16, scales F8_E4M3, often one
// more scale for the matrix) and MXFP4 (groups of 32, scales F8_E8M0); x = code * (scale * global / divisor).
#include <array>

#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr std::array<float, 16> kValues = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                                           -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

void decode_part(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  const std::byte* codes = whole.data + row * ((whole.in + 1) / 2);
  const int64_t at = first_scale(scaling, whole.in, row);
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    const float scale = scale_at(scaling, at + group) * scaling.global / scaling.divisor;
    int64_t i = begin;
    if (i % 2 != 0) dst[i - first] = kValues[std::to_integer<size_t>(codes[i / 2]) >> 4] * scale, ++i;
    for (; i + 2 <= end; i += 2) {
      const auto byte = std::to_integer<size_t>(codes[i / 2]);
      dst[i - first] = kValues[byte & 15] * scale;
      dst[i - first + 1] = kValues[byte >> 4] * scale;
    }
    if (i < end) dst[i - first] = kValues[std::to_integer<size_t>(codes[i / 2]) & 15] * scale;
  });
}

}  // namespace

constinit const Format kScaledFp4 = {Type::scaled_fp4, "scaled FP4", -1, nullptr, 1, 1, nullptr, nullptr, decode_part};

}  // namespace clef::quant
