// Integers with a scale per group, as compressed-tensors stores them: x = (code - zero) * scale.
// Packed: codes of 2 to 8 bits, shifted by half their range, in a bit stream per row. Their zero points are either packed
// alike, but down the rows, or I8 and not shifted. Scaled I8: codes and zero points are plain I8.
#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void apply(const Scaling& scaling, int64_t in, int64_t row, int64_t first, int64_t count, float middle,
           float* dst) noexcept {
  const int64_t groups = group_count(scaling, in), at = first_scale(scaling, in, row);
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    float zero = middle;
    if (scaling.offsets != nullptr && scaling.offset_format == nullptr) {
      zero = static_cast<float>(code_in_column(scaling.offsets, groups, group, row, scaling.bits));
    } else if (scaling.offsets != nullptr) {
      zero += value_at(scaling.offset_format, scaling.offsets, at + group);
    }
    const float scale = scale_at(scaling, at + group);
    for (int64_t i = begin; i < end; ++i) dst[i - first] = (dst[i - first] - zero) * scale;
  });
}

void decode_packed(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  unpack_codes(whole.data + row * word_row_bytes(whole.in, scaling.bits), first, count, scaling.bits, dst);
  apply(scaling, whole.in, row, first, count, static_cast<float>(1 << (scaling.bits - 1)), dst);
}

void decode_bytes(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  kI8.decode(whole.data + row * whole.in + first, dst, static_cast<size_t>(count));
  apply(*whole.scaling, whole.in, row, first, count, 0.0f, dst);
}

}  // namespace

constinit const Format kPackedInt = {Type::packed_int, "packed int", -1,           nullptr, 1, 1,
                                     nullptr,          nullptr,      decode_packed};
constinit const Format kScaledInt8 = {Type::scaled_int8, "scaled I8", -1,          nullptr, 1, 1,
                                      nullptr,           nullptr,     decode_bytes};

}  // namespace clef::quant
