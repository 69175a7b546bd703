// MLX affine: codes of 2 to 8 bits in a bit stream per row, a scale and a bias per group; x = code * scale + bias.
#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode_part(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  unpack_codes(whole.data + row * word_row_bytes(whole.in, scaling.bits), first, count, scaling.bits, dst);
  const int64_t at = first_scale(scaling, whole.in, row);
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    const float scale = scale_at(scaling, at + group);
    const float bias = value_at(scaling.offset_format, scaling.offsets, at + group);
    for (int64_t i = begin; i < end; ++i) dst[i - first] = dst[i - first] * scale + bias;
  });
}

}  // namespace

constinit const Format kMlxAffine = {Type::mlx_affine, "MLX affine", -1, nullptr, 1, 1, nullptr, nullptr, decode_part};

}  // namespace clef::quant
