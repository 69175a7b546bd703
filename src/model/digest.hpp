// SHA-256, and the digest of a model's files. Inside src/model only.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/package.hpp"

namespace clef::model {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes) noexcept;
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }
  std::array<uint8_t, 32> finish() noexcept;

 private:
  void block(const std::byte* data) noexcept;
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_{};
  uint64_t size_ = 0;
};

std::string to_hex(std::span<const uint8_t> bytes);

// Of names, sizes and headers (JSON files: all of them), so weights are not read.
base::Result<std::string> digest_of(const Package& package);

}  // namespace clef::model
