// Byte-level BPE as the Qwen2/Qwen3.5 tokenizers define it: added tokens on the raw text, NFC, pre-tokenizer rule,
// merges.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace clef::text {

// The two pre-tokenizer rules: qwen2 keeps combining marks out of a run of letters, qwen35 puts them into it.
enum class PreTokenizer : uint8_t { automatic, qwen2, qwen35 };
std::string_view pre_tokenizer_name(PreTokenizer rule) noexcept;  // "auto", "qwen2", "qwen35"
base::Result<PreTokenizer> parse_pre_tokenizer(std::string_view name);

// literal: added tokens inside the text are ordinary text. control: they become their ids (what the reference does).
enum class SpecialText : uint8_t { literal, control };

struct AddedToken {
  std::string text;
  int32_t id = 0;
  bool special = false;
};

// The content of a tokenizer, whichever file it came from. Token strings are in the byte-level alphabet ("\u0120the"
// for " the").
struct Vocabulary {
  std::vector<std::string_view> tokens;  // by id; empty view = unused id. May view into `storage`.
  std::vector<std::pair<std::string_view, std::string_view>> merges;  // in rank order
  std::vector<AddedToken> added;
  bool nfc = true;
  PreTokenizer rule = PreTokenizer::qwen2;  // what the file states
  std::shared_ptr<const void> storage;
};

class Tokenizer {
 public:
  // Reads a tokenizer.json. `file` is the name used in messages. Refuses other models than byte-level BPE, unknown
  // pre-tokenizer patterns, unknown normalizers, ignore_merges, dropout, prefix spaces.
  static base::Result<Tokenizer> from_json(std::string_view json, std::string_view file, PreTokenizer rule);
  // Builds from a vocabulary (GGUF metadata). With automatic, `vocabulary.rule` decides.
  static base::Result<Tokenizer> from_vocabulary(const Vocabulary& vocabulary, std::string_view file,
                                                 PreTokenizer rule);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Appends the ids of `text` (valid UTF-8; invalid_unicode with the offset otherwise). Linear in the length of the
  // text for any input. Thread-safety: const, any number of threads.
  base::Status encode(std::string_view text, SpecialText special, std::vector<int32_t>& ids) const;

  // The bytes of a token (an added token gives its text); empty for an unused or unknown id.
  std::string decode(std::span<const int32_t> ids) const;
  // Id of an added token by its text, or -1.
  int32_t added_token(std::string_view text) const noexcept;
  std::span<const AddedToken> added_tokens() const noexcept;

  int32_t size() const noexcept;              // largest id + 1
  PreTokenizer rule() const noexcept;         // the rule in use
  PreTokenizer stated_rule() const noexcept;  // what the file states
  size_t memory_bytes() const noexcept;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace clef::text
