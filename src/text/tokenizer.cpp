#include "text/tokenizer.hpp"

#include <algorithm>
#include <array>

#include "base/unicode.hpp"
#include "text/added_tokens.hpp"
#include "text/bpe.hpp"
#include "text/hash.hpp"
#include "text/message.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/token_strings.hpp"

namespace clef::text {

using base::Code;
using base::Status;

namespace {

constexpr size_t kMaxTextBytes = size_t{1} << 30;  // places in a piece are 32-bit, and NFC can triple a text

// A byte that valid UTF-8 never contains.
bool never_in_utf8(size_t byte) noexcept {
  return byte == 0xC0 || byte == 0xC1 || byte > 0xF4;
}

// Remembers where the ids of frequent pieces stand in the output. Lives for one segment of one call.
class PieceCache {
 public:
  static constexpr size_t kMinSegment = 8192;  // below this, clearing the cache costs more than it saves
  static constexpr size_t kMaxPiece = 32;

  PieceCache(std::string_view segment, bool enabled) : segment_(segment), entries_(enabled ? kEntries : 0) {}

  // Appends the ids of an earlier equal piece, if known.
  bool append(std::string_view piece, std::vector<int32_t>& ids) {
    if (entries_.empty() || piece.size() > kMaxPiece) return false;
    current_ = &entries_[hash(piece, 0) % kEntries];
    const Entry entry = *current_;
    if (segment_.substr(entry.text_begin, entry.text_size) != piece) return false;
    for (size_t i = 0; i < entry.id_count; i++) ids.push_back(ids[entry.first_id + i]);
    return true;
  }
  // After append() returned false: the piece's ids stand at ids[first_id] and beyond.
  void remember(std::string_view piece, size_t first_id, const std::vector<int32_t>& ids) noexcept {
    if (entries_.empty() || piece.size() > kMaxPiece) return;
    *current_ = {first_id, static_cast<uint32_t>(piece.data() - segment_.data()), static_cast<uint16_t>(piece.size()),
                 static_cast<uint16_t>(ids.size() - first_id)};
  }

 private:
  static constexpr size_t kEntries = 2048;
  struct Entry {
    size_t first_id = 0;
    uint32_t text_begin = 0;
    uint16_t text_size = 0;  // 0: free
    uint16_t id_count = 0;
  };
  std::string_view segment_;
  std::vector<Entry> entries_;
  Entry* current_ = nullptr;
};

}  // namespace

struct Tokenizer::Impl {
  AddedTokens added;
  MergeTable merges;
  TokenBytes bytes;
  std::array<uint32_t, 256> byte_ids{};
  PreTokenizer rule = PreTokenizer::qwen2;
  PreTokenizer stated_rule = PreTokenizer::qwen2;
  bool nfc = true;

  // Working memory of one encode() call.
  struct Call {
    std::string normalized;
    std::vector<uint32_t> symbols;
    MergeScratch merge;
  };

  Status load(const Vocabulary& vocabulary, std::string_view file);
  Status check_added(const Vocabulary& vocabulary, const TokenIndex& index, std::string_view file) const;
  Status load_merges(const Vocabulary& vocabulary, const TokenIndex& index, std::string_view file);
  void load_bytes(const Vocabulary& vocabulary);
  void encode_segment(std::string_view segment, Call& call, std::vector<int32_t>& ids) const;
};

Status Tokenizer::Impl::load(const Vocabulary& vocabulary, std::string_view file) {
  if (vocabulary.tokens.size() > kMaxIds)
    return file_error(Code::bad_file, file, "has more than " + std::to_string(kMaxIds) + " tokens");
  nfc = vocabulary.nfc;
  stated_rule = vocabulary.rule;
  CLEF_ASSIGN_OR_RETURN(added, AddedTokens::create(vocabulary.added, file));
  // The address keeps the places of the table's entries unpredictable for whoever wrote the file.
  const uint64_t seed = mix(reinterpret_cast<uintptr_t>(this));
  CLEF_ASSIGN_OR_RETURN(const TokenIndex index, TokenIndex::create(vocabulary.tokens, seed, file));
  CLEF_RETURN_IF_ERROR(check_added(vocabulary, index, file));
  for (size_t byte = 0; byte < 256; byte++) {
    const std::string symbol = byte_symbol(static_cast<unsigned char>(byte));
    const int32_t id = index.find(symbol);
    if (id < 0 && !never_in_utf8(byte))
      return file_error(Code::bad_file, file,
                        "the vocabulary has no token " + quoted(symbol) + " for byte " + std::to_string(byte));
    byte_ids[byte] = static_cast<uint32_t>(id);
  }
  CLEF_RETURN_IF_ERROR(load_merges(vocabulary, index, file));
  load_bytes(vocabulary);
  return {};
}

Status Tokenizer::Impl::check_added(const Vocabulary& vocabulary, const TokenIndex& index,
                                    std::string_view file) const {
  std::vector<int32_t> ids;
  for (const AddedToken& token : added.tokens()) {
    const auto refuse = [&](const std::string& why) {
      return file_error(Code::bad_file, file,
                        "added token " + quoted(token.text) + " has id " + std::to_string(token.id) + ", " + why);
    };
    if (token.id < 0) return refuse("which is negative");
    const auto id = static_cast<size_t>(token.id);
    if (id >= kMaxIds) return refuse("which is larger than any vocabulary's");
    if (id < vocabulary.tokens.size() && !vocabulary.tokens[id].empty() && vocabulary.tokens[id] != token.text)
      return refuse("which the vocabulary gives to " + quoted(vocabulary.tokens[id]));
    const int32_t other = index.find(token.text);
    if (other >= 0 && other != token.id) return refuse("but " + std::to_string(other) + " in the vocabulary");
    ids.push_back(token.id);
  }
  std::sort(ids.begin(), ids.end());
  const auto repeated = std::adjacent_find(ids.begin(), ids.end());
  if (repeated != ids.end())
    return file_error(Code::bad_file, file, "two added tokens have the id " + std::to_string(*repeated));
  return {};
}

Status Tokenizer::Impl::load_merges(const Vocabulary& vocabulary, const TokenIndex& index, std::string_view file) {
  if (vocabulary.merges.size() >= MergeTable::kNoRank) return file_error(Code::bad_file, file, "has too many merges");
  merges = MergeTable(vocabulary.merges.size(), mix(reinterpret_cast<uintptr_t>(this)));
  std::string joined;
  for (size_t rank = 0; rank < vocabulary.merges.size(); rank++) {
    const auto& [left, right] = vocabulary.merges[rank];
    joined.assign(left);
    joined += right;
    const int32_t left_id = index.find(left), right_id = index.find(right), id = index.find(joined);
    if (left_id < 0 || right_id < 0 || id < 0) {
      const std::string_view missing = left_id < 0 ? left : right_id < 0 ? right : std::string_view(joined);
      return file_error(Code::bad_file, file,
                        "merge " + std::to_string(rank) + " (" + quoted(left) + " and " + quoted(right) +
                            ") names the token " + quoted(missing) + ", which the vocabulary does not have");
    }
    merges.insert(static_cast<uint32_t>(left_id), static_cast<uint32_t>(right_id),
                  {static_cast<uint32_t>(rank), static_cast<uint32_t>(id)});
  }
  return {};
}

void Tokenizer::Impl::load_bytes(const Vocabulary& vocabulary) {
  std::vector<const AddedToken*> by_id;
  for (const AddedToken& token : added.tokens()) by_id.push_back(&token);
  std::sort(by_id.begin(), by_id.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  const size_t last = by_id.empty() ? 0 : static_cast<size_t>(by_id.back()->id) + 1;
  const size_t size = std::max(vocabulary.tokens.size(), last);
  size_t text = 0;
  for (const std::string_view token : vocabulary.tokens) text += token.size();
  bytes.reserve(size, text);
  auto next = by_id.begin();
  for (size_t id = 0; id < size; id++) {
    if (next != by_id.end() && static_cast<size_t>((*next)->id) == id) {
      bytes.add_raw((*next)->text);
      ++next;
    } else {
      bytes.add_token(id < vocabulary.tokens.size() ? vocabulary.tokens[id] : std::string_view());
    }
  }
  bytes.shrink();
}

void Tokenizer::Impl::encode_segment(std::string_view segment, Call& call, std::vector<int32_t>& ids) const {
  const std::string_view text = nfc ? base::nfc(segment, call.normalized) : segment;
  PieceCache cache(text, text.size() >= PieceCache::kMinSegment);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = piece_end(text, begin, rule);
    const std::string_view piece = text.substr(begin, end - begin);
    begin = end;
    if (piece.size() == 1) {
      ids.push_back(static_cast<int32_t>(byte_ids[static_cast<unsigned char>(piece[0])]));
      continue;
    }
    if (cache.append(piece, ids)) continue;
    const size_t first_id = ids.size();
    call.symbols.clear();
    for (const char c : piece) call.symbols.push_back(byte_ids[static_cast<unsigned char>(c)]);
    merge_piece(call.symbols, merges, call.merge, ids);
    cache.remember(piece, first_id, ids);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

base::Result<Tokenizer> Tokenizer::from_vocabulary(const Vocabulary& vocabulary, std::string_view file,
                                                   PreTokenizer rule) {
  auto impl = std::make_unique<Impl>();
  impl->rule = rule == PreTokenizer::automatic ? vocabulary.rule : rule;
  if (impl->rule == PreTokenizer::automatic)
    return file_error(Code::invalid_argument, file, "states no pre-tokenizer rule; choose qwen2 or qwen35");
  CLEF_RETURN_IF_ERROR(impl->load(vocabulary, file));
  return Tokenizer(std::move(impl));
}

Status Tokenizer::encode(std::string_view text, SpecialText special, std::vector<int32_t>& ids) const {
  if (text.size() > kMaxTextBytes)
    return Status(Code::too_long, "the text has " + std::to_string(text.size()) +
                                      " bytes; the tokenizer takes at most " + std::to_string(kMaxTextBytes));
  const size_t invalid = base::find_invalid_utf8(text);
  if (invalid != std::string_view::npos)
    return Status(Code::invalid_unicode, "the text is not valid UTF-8 at byte " + std::to_string(invalid))
        .at_offset(static_cast<int64_t>(invalid));
  Impl::Call call;
  if (special == SpecialText::literal) {
    impl_->encode_segment(text, call, ids);
    return {};
  }
  for (size_t begin = 0; begin < text.size();) {
    const AddedTokens::Match match = impl_->added.find(text, begin);
    impl_->encode_segment(text.substr(begin, match.begin - begin), call, ids);
    if (match.id >= 0) ids.push_back(match.id);
    begin = match.end;
  }
  return {};
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) text += impl_->bytes.bytes(id);
  return text;
}

int32_t Tokenizer::added_token(std::string_view text) const noexcept {
  return impl_->added.id(text);
}
std::span<const AddedToken> Tokenizer::added_tokens() const noexcept {
  return impl_->added.tokens();
}
int32_t Tokenizer::size() const noexcept {
  return static_cast<int32_t>(impl_->bytes.size());
}
PreTokenizer Tokenizer::rule() const noexcept {
  return impl_->rule;
}
PreTokenizer Tokenizer::stated_rule() const noexcept {
  return impl_->stated_rule;
}

size_t Tokenizer::memory_bytes() const noexcept {
  return sizeof(Impl) + impl_->added.memory_bytes() + impl_->merges.memory_bytes() + impl_->bytes.memory_bytes();
}

}  // namespace clef::text
