#include "text/added_tokens.hpp"

#include <algorithm>

#include "base/unicode.hpp"
#include "text/message.hpp"

namespace clef::text {

base::Result<AddedTokens> AddedTokens::create(std::span<const AddedToken> tokens, std::string_view file) {
  AddedTokens result;
  result.tokens_.assign(tokens.begin(), tokens.end());
  const auto& all = result.tokens_;
  auto& sorted = result.sorted_;
  for (const AddedToken& token : all) {
    const auto refuse = [&](std::string_view why) {
      return file_error(
          base::Code::bad_file, file,
          "added token " + std::to_string(token.id) + " (" + quoted(token.text) + ") " + std::string(why));
    };
    if (token.text.empty()) return refuse("has no text");
    if (token.text.size() > kMaxLength) return refuse("is longer than " + std::to_string(kMaxLength) + " bytes");
    if (base::find_invalid_utf8(token.text) != std::string_view::npos) return refuse("is not valid UTF-8");
    sorted.push_back(static_cast<uint32_t>(sorted.size()));
  }
  std::sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) { return all[a].text < all[b].text; });
  const auto repeated = std::adjacent_find(sorted.begin(), sorted.end(),
                                           [&](uint32_t a, uint32_t b) { return all[a].text == all[b].text; });
  if (repeated != sorted.end())
    return file_error(base::Code::bad_file, file, "added token " + quoted(all[*repeated].text) + " appears twice");
  for (const uint32_t index : sorted) result.first_[static_cast<unsigned char>(all[index].text[0]) + 1]++;
  for (size_t b = 0; b < 256; b++) result.first_[b + 1] += result.first_[b];
  return result;
}

AddedTokens::Match AddedTokens::find(std::string_view text, size_t from) const noexcept {
  if (sorted_.empty()) return {text.size(), text.size(), -1};
  for (size_t begin = from; begin < text.size(); begin++) {
    const auto byte = static_cast<unsigned char>(text[begin]);
    auto low = sorted_.begin() + first_[byte], high = sorted_.begin() + first_[byte + size_t{1}];
    if (low == high) continue;
    // The tokens in [low, high) agree with the text in `depth` bytes; the shortest of them comes first.
    Match match{begin, begin, -1};
    for (size_t depth = 1;; depth++) {
      const AddedToken& shortest = tokens_[*low];
      if (shortest.text.size() == depth) {
        match.end = begin + depth;
        match.id = shortest.id;
        ++low;
      }
      if (low == high || begin + depth == text.size()) break;
      const auto wanted = static_cast<unsigned char>(text[begin + depth]);
      const auto next_byte = [&](uint32_t index) { return static_cast<unsigned char>(tokens_[index].text[depth]); };
      low = std::lower_bound(low, high, wanted, [&](uint32_t index, unsigned char b) { return next_byte(index) < b; });
      high = std::upper_bound(low, high, wanted, [&](unsigned char b, uint32_t index) { return b < next_byte(index); });
      if (low == high) break;
    }
    if (match.id >= 0) return match;
  }
  return {text.size(), text.size(), -1};
}

int32_t AddedTokens::id(std::string_view text) const noexcept {
  const auto found =
      std::lower_bound(sorted_.begin(), sorted_.end(), text,
                       [&](uint32_t index, std::string_view value) { return tokens_[index].text < value; });
  return found != sorted_.end() && tokens_[*found].text == text ? tokens_[*found].id : -1;
}

size_t AddedTokens::memory_bytes() const noexcept {
  size_t bytes = tokens_.capacity() * sizeof(AddedToken) + sorted_.capacity() * sizeof(uint32_t);
  for (const AddedToken& token : tokens_) bytes += token.text.capacity();
  return bytes;
}

}  // namespace clef::text
