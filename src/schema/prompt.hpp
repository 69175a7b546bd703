// The prompt: pieces that are tokenized one by one, and the token spans of every instruction and option.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/request.hpp"
#include "text/tokenizer.hpp"

namespace clef::schema {

enum class Role : uint8_t {
  prefix,
  media,
  state,
  schema_header,
  question_header,
  instruction,
  options_header,
  option_header,
  option,
  option_end,
  question_end,
  suffix
};
std::string_view role_name(Role role) noexcept;  // "prefix", "state", ...

struct Piece {
  Role role = Role::prefix;
  std::string text;
  std::vector<int32_t> ids;
  // false: the user's text (state, instruction, option, and question_header, which holds the id), encoded as user_text
  // says.
  bool scaffold = true;
};

struct Span {
  int32_t begin = 0, end = 0;  // half-open, in tokens of the whole prompt
};

struct QuestionSpans {
  Span instruction;
  std::vector<Span> options;  // prompt order
};

// A picture or video of the prompt: what stands for it before the state.
struct MediaItem {
  struct Block {
    std::string caption;  // before the block: the time of a video's frames, "<1.5 seconds>"
    int64_t tokens = 0;
  };
  bool video = false;
  std::vector<Block> blocks;  // one for a picture, one for each pair of frames of a video
};

// The placeholders of one block, in tokens of the whole prompt.
struct MediaSpan {
  int64_t begin = 0, count = 0;
};

struct PromptOptions {
  int64_t max_tokens = 262144;
  Truncation truncation = Truncation::refuse;
  text::SpecialText user_text = text::SpecialText::literal;
  std::span<const MediaItem> media;  // pictures, then videos
  bool keep_pieces = false;          // fill Prompt::pieces
};

struct Prompt {
  std::vector<int32_t> ids;
  std::vector<QuestionSpans> questions;  // request order
  std::vector<MediaSpan> media;          // of all blocks, in order
  int64_t state_begin = 0, state_end = 0;
  int64_t tokens_dropped = 0;  // of the state's end, only with state_tail
  std::vector<Piece> pieces;   // a cut state keeps its whole text here, but only the ids that are used
};

// Encodes media, state and schema. Errors: too_long at /state (at /questions when the schema alone does not fit, at
// /images or /videos when the pictures do not) with both counts; empty at the instruction or option whose span has no
// tokens; invalid_unicode; invalid_value when, with media, a text of the user holds a placeholder as a control token.
base::Result<Prompt> encode_prompt(const text::Tokenizer& tokenizer, std::string_view state, const Schema& schema,
                                   const PromptOptions& options);

// Token counts without keeping ids: everything but the state, and the state alone.
struct TokenCounts {
  int64_t fixed = 0, state = 0;
};
base::Result<TokenCounts> count_tokens(const text::Tokenizer& tokenizer, std::string_view state, const Schema& schema,
                                       text::SpecialText user_text, std::span<const MediaItem> media = {});

}  // namespace clef::schema
