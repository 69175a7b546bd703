// F32: the value itself.
#include <cstring>

#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  if (count != 0) std::memcpy(dst, src, count * sizeof(float));
}

void encode(const float* src, const float* /*importance*/, std::byte* dst, size_t count) noexcept {
  if (count != 0) std::memcpy(dst, src, count * sizeof(float));
}

}  // namespace

constinit const Format kF32 = {Type::f32, "F32", 0, "F32", 1, 4, decode, encode};

}  // namespace clef::quant
