#include "quant/packed.hpp"

namespace clef::quant {
namespace {

void unpack_nibbles(const std::byte* from, int64_t count, float* dst) noexcept {
  for (int64_t i = 0; i + 1 < count; i += 2, ++from) {
    const auto byte = std::to_integer<int32_t>(*from);
    dst[i] = static_cast<float>(byte & 15);
    dst[i + 1] = static_cast<float>(byte >> 4);
  }
  if (count % 2 != 0) dst[count - 1] = static_cast<float>(std::to_integer<int32_t>(*from) & 15);
}

// Eight codes fill kBits bytes; gives how many codes were whole eights.
template <int kBits>
int64_t unpack_eights(const std::byte* from, int64_t count, float* dst) noexcept {
  int64_t i = 0;
  for (; i + 8 <= count; i += 8, from += kBits) {
    uint64_t word = 0;
    if ((count - i) / 8 * kBits >= 8) {
      word = load<uint64_t>(from);  // within the codes that are left, and quicker than so few bytes
    } else {
      std::memcpy(&word, from, kBits);
    }
    for (int k = 0; k < 8; ++k)
      dst[i + k] = static_cast<float>(static_cast<int32_t>(word >> (k * kBits)) & ((1 << kBits) - 1));
  }
  return i;
}

int64_t unpack_eights(const std::byte* from, int64_t count, int32_t bits, float* dst) noexcept {
  switch (bits) {
    case 2:
      return unpack_eights<2>(from, count, dst);
    case 3:
      return unpack_eights<3>(from, count, dst);
    case 5:
      return unpack_eights<5>(from, count, dst);
    case 6:
      return unpack_eights<6>(from, count, dst);
    case 7:
      return unpack_eights<7>(from, count, dst);
    default:
      return 0;
  }
}

}  // namespace

void unpack_codes(const std::byte* stream, int64_t first, int64_t count, int32_t bits, float* dst) noexcept {
  int64_t i = 0;
  if (bits == 8) {
    for (; i < count; ++i) dst[i] = static_cast<float>(std::to_integer<int32_t>(stream[first + i]));
  } else if (first % 8 == 0) {
    const std::byte* from = stream + first / 8 * bits;
    if (bits == 4) return unpack_nibbles(from, count, dst);
    i = unpack_eights(from, count, bits, dst);
  }
  for (; i < count; ++i) dst[i] = static_cast<float>(code_at(stream, first + i, bits));
}

}  // namespace clef::quant
