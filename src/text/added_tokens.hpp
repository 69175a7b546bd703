// The added tokens of a tokenizer and their search in raw text.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace clef::text {

class AddedTokens {
 public:
  static constexpr size_t kMaxLength = 512;  // bytes; bounds the work at one place of the text

  // Refuses empty, overlong and repeated texts and invalid UTF-8.
  static base::Result<AddedTokens> create(std::span<const AddedToken> tokens, std::string_view file);

  struct Match {
    size_t begin;
    size_t end;
    int32_t id;
  };
  // The leftmost match at or after `from`, the longest of those that begin there. {size, size, -1} when there is none.
  Match find(std::string_view text, size_t from) const noexcept;

  int32_t id(std::string_view text) const noexcept;  // or -1
  std::span<const AddedToken> tokens() const noexcept { return tokens_; }
  size_t memory_bytes() const noexcept;

 private:
  std::vector<AddedToken> tokens_;  // as given
  std::vector<uint32_t> sorted_;    // indices, by text
  // sorted_[first_[b]] to sorted_[first_[b + 1] - 1] begin with byte b.
  std::array<uint32_t, 257> first_{};
};

}  // namespace clef::text
