#include "text/token_strings.hpp"

#include <array>
#include <bit>

#include "base/unicode.hpp"
#include "text/hash.hpp"
#include "text/message.hpp"

namespace clef::text {

namespace {

constexpr uint32_t kNoByte = 256;
constexpr uint32_t kAlphabetEnd = 0x144;  // the printable bytes, then 68 characters from U+0100 on

constexpr bool is_printable(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The byte of each character of the alphabet.
constexpr std::array<uint16_t, kAlphabetEnd> make_bytes() {
  std::array<uint16_t, kAlphabetEnd> bytes{};
  for (auto& byte : bytes) byte = kNoByte;
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; byte++) bytes[is_printable(byte) ? byte : next++] = static_cast<uint16_t>(byte);
  return bytes;
}
constexpr auto kBytes = make_bytes();

}  // namespace

std::string byte_symbol(unsigned char byte) {
  std::string symbol;
  for (uint32_t c = 0; c < kAlphabetEnd; c++)
    if (kBytes[c] == byte) base::append_utf8(c, symbol);
  return symbol;
}

void append_token_bytes(std::string_view token, std::string& out) {
  const size_t start = out.size();
  const auto raw = [&] {
    out.resize(start);
    out += token;
  };
  if (base::find_invalid_utf8(token) != std::string_view::npos) return raw();
  for (size_t i = 0; i < token.size();) {
    const uint32_t c = base::decode_utf8(token, i);
    if (c >= kAlphabetEnd || kBytes[c] == kNoByte) return raw();
    out += static_cast<char>(kBytes[c]);
  }
}

base::Result<TokenIndex> TokenIndex::create(std::span<const std::string_view> tokens, uint64_t seed,
                                            std::string_view file) {
  TokenIndex index;
  index.tokens_ = tokens;
  index.seed_ = seed;
  size_t used = 0;
  for (const std::string_view token : tokens) used += !token.empty();
  index.entries_.resize(std::bit_ceil(used + used / 2 + 1));
  for (size_t id = 0; id < tokens.size(); id++) {
    if (tokens[id].empty()) continue;
    const uint64_t h = hash(tokens[id], seed);
    Entry& entry = index.entries_[index.place(tokens[id], h)];
    if (entry.id >= 0)
      return file_error(
          base::Code::bad_file, file,
          "token " + quoted(tokens[id]) + " has two ids, " + std::to_string(entry.id) + " and " + std::to_string(id));
    entry = {static_cast<uint32_t>(h >> 32), static_cast<int32_t>(id)};
  }
  return index;
}

size_t TokenIndex::place(std::string_view token, uint64_t h) const noexcept {
  const size_t mask = entries_.size() - 1;
  size_t i = h & mask;
  for (; entries_[i].id >= 0; i = (i + 1) & mask)
    if (entries_[i].hash == h >> 32 && tokens_[static_cast<size_t>(entries_[i].id)] == token) break;
  return i;
}

int32_t TokenIndex::find(std::string_view token) const noexcept {
  return entries_[place(token, hash(token, seed_))].id;
}

void TokenBytes::reserve(size_t ids, size_t bytes) {
  ends_.reserve(ids);
  arena_.reserve(bytes);
}

void TokenBytes::add_token(std::string_view token) {
  append_token_bytes(token, arena_);
  ends_.push_back(static_cast<uint32_t>(arena_.size()));
}

void TokenBytes::add_raw(std::string_view bytes) {
  arena_ += bytes;
  ends_.push_back(static_cast<uint32_t>(arena_.size()));
}

void TokenBytes::shrink() {
  arena_.shrink_to_fit();
  ends_.shrink_to_fit();
}

std::string_view TokenBytes::bytes(int32_t id) const noexcept {
  if (id < 0 || static_cast<size_t>(id) >= ends_.size()) return {};
  const size_t i = static_cast<size_t>(id);
  const size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(arena_).substr(begin, ends_[i] - begin);
}

}  // namespace clef::text
