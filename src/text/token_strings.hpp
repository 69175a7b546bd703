// The strings of a vocabulary: the search by string that loading needs, and the bytes of each token.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace clef::text {

// No vocabulary comes near it; bounds what a file with one large id can make us allocate.
inline constexpr size_t kMaxIds = size_t{1} << 22;

// GPT-2's alphabet: every byte has a printable character of one or two bytes in UTF-8.
std::string byte_symbol(unsigned char byte);
// The bytes that a string of that alphabet stands for; strings with other characters stand for themselves.
void append_token_bytes(std::string_view token, std::string& out);

// Ids by string, over strings that live elsewhere. Only while loading.
class TokenIndex {
 public:
  // Empty strings are left out. Refuses a string with two ids.
  static base::Result<TokenIndex> create(std::span<const std::string_view> tokens, uint64_t seed,
                                         std::string_view file);
  int32_t find(std::string_view token) const noexcept;  // or -1

 private:
  struct Entry {
    uint32_t hash = 0;
    int32_t id = -1;
  };
  size_t place(std::string_view token, uint64_t hash) const noexcept;

  std::span<const std::string_view> tokens_;
  std::vector<Entry> entries_;
  uint64_t seed_ = 0;
};

// The bytes of each id in one arena.
class TokenBytes {
 public:
  void reserve(size_t ids, size_t bytes);
  void add_token(std::string_view token);  // the next id's, in the byte alphabet; empty for an unused id
  void add_raw(std::string_view bytes);    // the next id's, as they are
  void shrink();
  size_t size() const noexcept { return ends_.size(); }
  std::string_view bytes(int32_t id) const noexcept;  // empty for unknown ids
  size_t memory_bytes() const noexcept { return arena_.capacity() + ends_.capacity() * sizeof(uint32_t); }

 private:
  std::string arena_;
  std::vector<uint32_t> ends_;
};

}  // namespace clef::text
