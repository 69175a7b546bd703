// F16: IEEE half, little-endian.
#include "quant/half.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) dst[i] = widen_f16(load<uint16_t>(src + 2 * i));
}

void encode(const float* src, const float* /*importance*/, std::byte* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) store(dst + 2 * i, narrow_f16(src[i]));
}

}  // namespace

constinit const Format kF16 = {Type::f16, "F16", 1, "F16", 1, 2, decode, encode};

}  // namespace clef::quant
