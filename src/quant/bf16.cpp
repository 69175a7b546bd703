// BF16: the upper 16 bits of an f32.
#include "quant/half.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) dst[i] = widen_bf16(load<uint16_t>(src + 2 * i));
}

void encode(const float* src, const float* /*importance*/, std::byte* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) store(dst + 2 * i, narrow_bf16(src[i]));
}

}  // namespace

constinit const Format kBf16 = {Type::bf16, "BF16", 30, "BF16", 1, 2, decode, encode};

}  // namespace clef::quant
