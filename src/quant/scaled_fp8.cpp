// F8_E4M3 codes with a scale per matrix, row, group of inputs (MXFP8) or block of rows and inputs; x = code * scale.
#include "quant/f8_e4m3.hpp"
#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode_part(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  const std::byte* codes = whole.data + row * whole.in;
  const int64_t at = first_scale(scaling, whole.in, row);
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    const float scale = scale_at(scaling, at + group);
    for (int64_t i = begin; i < end; ++i) dst[i - first] = kE4m3Values[std::to_integer<size_t>(codes[i])] * scale;
  });
}

}  // namespace

constinit const Format kScaledFp8 = {Type::scaled_fp8, "scaled F8_E4M3", -1,         nullptr, 1, 1,
                                     nullptr,          nullptr,          decode_part};

}  // namespace clef::quant
