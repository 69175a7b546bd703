// Hash functions of the tables in this folder.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace clef::text {

inline uint64_t mix(uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93;
  return x ^ x >> 32;
}

inline uint64_t hash(std::string_view text, uint64_t seed) noexcept {
  uint64_t h = seed ^ text.size();
  const char* data = text.data();
  size_t left = text.size();
  for (uint64_t word; left >= sizeof word; data += sizeof word, left -= sizeof word) {
    std::memcpy(&word, data, sizeof word);
    h = mix(h ^ word) + seed;
  }
  uint64_t rest = 0;
  if (left > 0) std::memcpy(&rest, data, left);
  return mix(h ^ rest);
}

}  // namespace clef::text
