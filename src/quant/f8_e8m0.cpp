// F8_E8M0: a power of two, 2^(code - 127); 255 is NaN. Scales of the microscaling formats.
#include <bit>

#include "quant/registry.hpp"

namespace clef::quant {
namespace {

void decode(const std::byte* src, float* dst, size_t count) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const auto code = std::to_integer<uint32_t>(src[i]);
    const uint32_t special = code == 0 ? 0x00400000u : 0x7fc00000u;  // 2^-127 is subnormal
    dst[i] = std::bit_cast<float>(code == 0 || code == 255 ? special : code << 23);
  }
}

}  // namespace

constinit const Format kF8E8m0 = {Type::f8_e8m0, "F8_E8M0", -1, "F8_E8M0", 1, 1, decode, nullptr};

}  // namespace clef::quant
