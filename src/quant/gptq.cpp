// GPTQ: codes in bit streams down the inputs of a table of 32-bit words [in * bits / 32, out], zero points in bit streams
// along the outputs [groups, out * bits / 32], scales [groups, out]; x = (code - zero) * scale. The first version of the
// layout stores the zero points minus one (offset_shift).
#include "quant/packed.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode_part(const Matrix& whole, int64_t row, int64_t first, int64_t count, float* dst) noexcept {
  const Scaling& scaling = *whole.scaling;
  const int64_t zeros = word_row_bytes(scaling.rows, scaling.bits);
  for_groups(scaling, first, count, [&](int64_t group, int64_t begin, int64_t end) {
    const int32_t zero =
        static_cast<int32_t>(code_at(scaling.offsets + group * zeros, row, scaling.bits)) + scaling.offset_shift;
    const float scale = scale_at(scaling, group * scaling.rows + row);
    int64_t i = begin;
    if (scaling.bits == 4 && begin % 8 == 0)  // eight codes of one word
      for (; i + 8 <= end; i += 8) {
        const auto word = load<uint32_t>(whole.data + (i / 8 * scaling.rows + row) * 4);
        for (int32_t k = 0; k < 8; ++k)
          dst[i - first + k] = static_cast<float>(static_cast<int32_t>(word >> (4 * k) & 15u) - zero) * scale;
      }
    for (; i < end; ++i) {
      const auto code = static_cast<int32_t>(code_in_column(whole.data, scaling.rows, row, i, scaling.bits));
      dst[i - first] = static_cast<float>(code - zero) * scale;
    }
  });
}

}  // namespace

constinit const Format kGptq = {Type::gptq, "GPTQ", -1, nullptr, 1, 1, nullptr, nullptr, decode_part};

}  // namespace clef::quant
