// TQ1_0: 256 values of -1, 0 or 1 times d (f16, last). A byte holds five of them (48 bytes) or four (4 bytes more) as the
// digits of a fraction to base 3: the first digit is the byte times 3 over 256, and so on with what is left.
#include "quant/blocks.hpp"
#include "quant/half.hpp"
#include "quant/load.hpp"
#include "quant/registry.hpp"

namespace clef::quant {
namespace {

constexpr size_t kBytes = 54;

// kDigits digits of kCount bytes: the first digits of all bytes, then the second ones, and so on.
template <size_t kCount, size_t kDigits>
void decode_digits(const std::byte* src, float scale, float* dst) noexcept {
  uint8_t rest[kCount];
  for (size_t i = 0; i < kCount; ++i) rest[i] = load<uint8_t>(src + i);
  for (size_t digit = 0; digit < kDigits; ++digit, dst += kCount) {
    for (size_t i = 0; i < kCount; ++i) {
      const int product = rest[i] * 3;
      dst[i] = scale * static_cast<float>((product >> 8) - 1);
      rest[i] = static_cast<uint8_t>(product);
    }
  }
}

void decode_block(const std::byte* src, float* dst) noexcept {
  const float scale = widen_f16(load<uint16_t>(src + 52));
  decode_digits<32, 5>(src, scale, dst);
  decode_digits<16, 5>(src + 32, scale, dst + 160);
  decode_digits<4, 4>(src + 48, scale, dst + 240);
}

}  // namespace

constinit const Format kTq1_0 = {
    Type::tq1_0, "TQ1_0", 34, nullptr, kSuperBlock, kBytes, decode_blocks<kSuperBlock, kBytes, decode_block>, nullptr};

}  // namespace clef::quant
