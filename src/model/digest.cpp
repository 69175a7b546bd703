#include "model/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace clef::model {
namespace {

// The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4).
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// A number as 8 bytes, least significant first, so that the digest is the same on every machine.
void add_number(Sha256& hash, uint64_t number) noexcept {
  std::byte bytes[8];
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(number & 0xff), number >>= 8;
  hash.add(bytes);
}

}  // namespace

void Sha256::block(const std::byte* data) noexcept {
  uint32_t w[64];
  for (size_t i = 0; i < 16; ++i)
    w[i] = static_cast<uint32_t>(data[4 * i]) << 24 | static_cast<uint32_t>(data[4 * i + 1]) << 16 |
           static_cast<uint32_t>(data[4 * i + 2]) << 8 | static_cast<uint32_t>(data[4 * i + 3]);
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + low + w[i - 7] + high;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::add(std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const size_t held = static_cast<size_t>(size_ % 64);
  size_ += bytes.size();
  if (held > 0) {
    const size_t taken = std::min(bytes.size(), 64 - held);
    std::memcpy(rest_.data() + held, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < 64) return;
    block(rest_.data());
  }
  for (; bytes.size() >= 64; bytes = bytes.subspan(64)) block(bytes.data());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
}

std::array<uint8_t, 32> Sha256::finish() noexcept {
  const uint64_t bits = size_ * 8;
  std::byte padding[72] = {std::byte{0x80}};
  const size_t zeros = (119 - size_ % 64) % 64;
  for (size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i) & 0xff);
  add(std::span<const std::byte>(padding, 1 + zeros + 8));
  std::array<uint8_t, 32> out{};
  for (size_t i = 0; i < 32; ++i) out[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
  return out;
}

std::string to_hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) text += kDigits[byte >> 4], text += kDigits[byte & 15];
  return text;
}

base::Result<std::string> digest_of(const Package& package) {
  constexpr uint64_t kPiece = uint64_t{1} << 16;
  Sha256 hash;
  std::vector<std::byte> storage;
  for (const FileEntry& file : package.files) {
    add_number(hash, file.name.size());
    hash.add(file.name);
    add_number(hash, file.bytes);
    add_number(hash, file.header_bytes);
    if (const std::byte* data = file.source->data()) {
      hash.add(std::span(data, static_cast<size_t>(file.header_bytes)));
      continue;
    }
    for (uint64_t at = 0; at < file.header_bytes; at += kPiece) {
      storage.resize(static_cast<size_t>(std::min(kPiece, file.header_bytes - at)));
      CLEF_RETURN_IF_ERROR(file.source->read(at, storage));
      hash.add(storage);
    }
  }
  return to_hex(hash.finish());
}

}  // namespace clef::model
