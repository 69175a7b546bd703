// I8 as numbers: zero points. Weights of this type always have scales (scaled_int8.cpp), so no file type maps to it.
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) dst[i] = static_cast<float>(load<int8_t>(src + i));
}

}  // namespace

constinit const Format kI8 = {Type::i8, "I8", -1, nullptr, 1, 1, decode, nullptr};

}  // namespace clef::quant
