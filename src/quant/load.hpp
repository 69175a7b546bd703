// Reading fields of blocks from bytes that may lie at any address.
#pragma once
#include <bit>
#include <cstddef>
#include <cstring>

namespace clef::quant {

static_assert(std::endian::native == std::endian::little, "weight files are little-endian and are used as they lie");

template <class T>
T load(const std::byte* bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
void store(std::byte* bytes, T value) noexcept {
  std::memcpy(bytes, &value, sizeof(T));
}

}  // namespace clef::quant
