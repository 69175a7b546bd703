#include "schema/prompt.hpp"

#include <limits>

#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Result;
using base::Status;
using text::SpecialText;

std::string_view role_name(Role role) noexcept {
  switch (role) {
    case Role::prefix:
      return "prefix";
    case Role::media:
      return "media";
    case Role::state:
      return "state";
    case Role::schema_header:
      return "schema_header";
    case Role::question_header:
      return "question_header";
    case Role::instruction:
      return "instruction";
    case Role::options_header:
      return "options_header";
    case Role::option_header:
      return "option_header";
    case Role::option:
      return "option";
    case Role::option_end:
      return "option_end";
    case Role::question_end:
      return "question_end";
    case Role::suffix:
      return "suffix";
  }
  return "";
}

namespace {

constexpr std::string_view kPrefix =
    "<|im_start|>system\n"
    "Read the complete state and schema. Decide every field jointly. "
    "Each answer must be exactly one of that field's allowed options."
    "<|im_end|>\n<|im_start|>user\nSTATE:\n";
constexpr std::string_view kSchemaHeader = "\n\nSCHEMA FIELDS:\n";
constexpr std::string_view kOptionsHeader = "\nALLOWED OPTIONS:\n";
constexpr std::string_view kOptionEnd = "\n";
constexpr std::string_view kQuestionEnd = "END FIELD\n";
constexpr std::string_view kSuffix =
    "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:";

Status check_control_tokens(const text::Tokenizer& tokenizer) {
  for (const std::string_view token : {"<|im_start|>", "<|im_end|>", "<think>", "</think>"}) {
    if (tokenizer.added_token(token) >= 0) continue;
    return Status(Code::missing_part, "the tokenizer has no added token " + std::string(token) +
                                          ", which the prompt needs; it does not belong to a Clef model");
  }
  return {};
}

// Encodes pieces one after the other into one list of ids.
class Encoder {
 public:
  Encoder(const text::Tokenizer& tokenizer, SpecialText user_text, std::vector<Piece>* pieces)
      : tokenizer_(tokenizer), user_text_(user_text), pieces_(pieces) {}

  Status scaffold(Role role, std::string_view text, std::vector<int32_t>& ids) {
    const bool control = role == Role::prefix || role == Role::suffix;
    return piece(role, text, control ? SpecialText::control : SpecialText::literal, true, ids);
  }
  // Scaffold in which control tokens count.
  Status control(Role role, std::string_view text, std::vector<int32_t>& ids) {
    return piece(role, text, SpecialText::control, true, ids);
  }
  // `at` names the text in errors.
  Status user(Role role, std::string_view text, std::string_view at, std::vector<int32_t>& ids) {
    Status status = piece(role, text, user_text_, false, ids);
    return status.ok() ? Status() : std::move(status).at(at);
  }

 private:
  Status piece(Role role, std::string_view text, SpecialText special, bool is_scaffold, std::vector<int32_t>& ids) {
    const size_t begin = ids.size();
    CLEF_RETURN_IF_ERROR(tokenizer_.encode(text, special, ids));
    if (ids.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
      return Status(Code::too_long, "the prompt has " + std::to_string(ids.size()) + " tokens; at most " +
                                        std::to_string(std::numeric_limits<int32_t>::max()) + " can be counted");
    }
    if (pieces_ != nullptr) {
      pieces_->push_back(
          {role, std::string(text), {ids.begin() + static_cast<ptrdiff_t>(begin), ids.end()}, is_scaffold});
    }
    return {};
  }

  const text::Tokenizer& tokenizer_;
  SpecialText user_text_;
  std::vector<Piece>* pieces_;
};

// The placeholders of pictures and videos.
struct MediaTokens {
  int32_t image = -1, video = -1;
};

Result<MediaTokens> media_tokens(const text::Tokenizer& tokenizer) {
  for (const std::string_view token : {"<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"}) {
    if (tokenizer.added_token(token) >= 0) continue;
    return Status(Code::missing_part, "the tokenizer has no added token " + std::string(token) +
                                          ", which pictures need; it does not belong to a Clef model");
  }
  return MediaTokens{tokenizer.added_token("<|image_pad|>"), tokenizer.added_token("<|video_pad|>")};
}

// One text with one placeholder for each block, which is then repeated: added tokens cut the text, so what stands around
// them is tokenized alike.
Status encode_media(Encoder& encoder, const MediaTokens& tokens, std::span<const MediaItem> media, Prompt& prompt,
                    std::vector<Piece>* pieces) {
  if (media.empty()) return {};
  std::string text;
  std::vector<int64_t> counts;
  for (const MediaItem& item : media) {
    if (item.video) text += "<|vision_start|>";
    for (const MediaItem::Block& block : item.blocks) {
      text += block.caption;
      text +=
          item.video ? "<|vision_start|><|video_pad|><|vision_end|>" : "<|vision_start|><|image_pad|><|vision_end|>";
      counts.push_back(block.tokens);
    }
    if (item.video) text += "<|vision_end|>";
  }
  text += "\n";
  std::vector<int32_t> ids;
  CLEF_RETURN_IF_ERROR(encoder.control(Role::media, text, ids));
  const size_t begin = prompt.ids.size();
  for (const int32_t id : ids) {
    if (id != tokens.image && id != tokens.video) {
      prompt.ids.push_back(id);
      continue;
    }
    const int64_t count = counts[prompt.media.size()];
    prompt.media.push_back({static_cast<int64_t>(prompt.ids.size()), count});
    prompt.ids.insert(prompt.ids.end(), static_cast<size_t>(count), id);
  }
  if (pieces != nullptr)
    pieces->back().ids.assign(prompt.ids.begin() + static_cast<ptrdiff_t>(begin), prompt.ids.end());
  return {};
}

Status refuse_placeholders(std::span<const int32_t> ids, const MediaTokens& tokens, std::string_view at) {
  for (const int32_t id : ids)
    if (id == tokens.image || id == tokens.video)
      return fault(Code::invalid_value, at,
                   "a text holds the placeholder of a picture as a control token; in a request with pictures that is "
                   "refused, let text be literal");
  return {};
}

// A user's piece with its span in `ids`; a span without tokens has no mean and is refused.
Result<Span> encode_span(Encoder& encoder, Role role, std::string_view text, const Question& question,
                         std::vector<int32_t>& ids) {
  const std::string at =
      place(place("/questions", question.id), role == Role::instruction ? "instructions" : "criteria");
  Span span;
  span.begin = static_cast<int32_t>(ids.size());
  CLEF_RETURN_IF_ERROR(encoder.user(role, text, at, ids));
  span.end = static_cast<int32_t>(ids.size());
  if (span.begin != span.end) return span;
  return fault(Code::empty, at,
               std::string(role == Role::instruction ? "the instructions" : "an option") + " of question " +
                   quoted(question.id) + " have no tokens; give a text");
}

Result<QuestionSpans> encode_question(Encoder& encoder, const Question& question, size_t number,
                                      std::vector<int32_t>& ids) {
  std::string header = "\nFIELD " + std::to_string(number) + "\nID: ";
  header.append(question.id).append("\nTYPE: ").append(question_type_name(question.type)).append("\nINSTRUCTION: ");
  QuestionSpans spans;
  spans.options.reserve(question.options.size());
  CLEF_RETURN_IF_ERROR(encoder.user(Role::question_header, header, "/questions", ids));
  CLEF_ASSIGN_OR_RETURN(spans.instruction,
                        encode_span(encoder, Role::instruction, question.instruction, question, ids));
  CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::options_header, kOptionsHeader, ids));
  for (const Option& option : question.options) {
    const std::string option_header = "OPTION " + std::to_string(spans.options.size() + 1) + ": ";
    CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::option_header, option_header, ids));
    CLEF_ASSIGN_OR_RETURN(const Span span, encode_span(encoder, Role::option, option.rendered, question, ids));
    spans.options.push_back(span);
    CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::option_end, kOptionEnd, ids));
  }
  CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::question_end, kQuestionEnd, ids));
  return spans;
}

// Everything after the state.
Result<std::vector<QuestionSpans>> encode_schema(Encoder& encoder, const Schema& schema, std::vector<int32_t>& ids) {
  std::vector<QuestionSpans> questions;
  questions.reserve(schema.questions.size());
  CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::schema_header, kSchemaHeader, ids));
  for (const Question& question : schema.questions) {
    CLEF_ASSIGN_OR_RETURN(QuestionSpans spans, encode_question(encoder, question, questions.size() + 1, ids));
    questions.push_back(std::move(spans));
  }
  CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::suffix, kSuffix, ids));
  return questions;
}

void shift(Span& span, int32_t by) {
  span.begin += by;
  span.end += by;
}

Status media_too_long(std::span<const MediaItem> media, int64_t tokens, int64_t fixed, int64_t max_tokens) {
  const bool videos = media.front().video;
  return fault(Code::too_long, videos ? "/videos" : "/images",
               std::string(videos ? "the videos" : "the pictures") + " need " + std::to_string(tokens) +
                   " tokens, the questions and the frame around them " + std::to_string(fixed - tokens) +
                   ", but at most " + std::to_string(max_tokens) +
                   " are allowed; give smaller or fewer ones, lower max_image_tokens, or raise max_tokens");
}

Status schema_too_long(int64_t fixed, int64_t max_tokens) {
  return fault(Code::too_long, "/questions",
               "the questions and the frame around them need " + std::to_string(fixed) +
                   " tokens before any state, but at most " + std::to_string(max_tokens) +
                   " are allowed; ask fewer questions, shorten them, or raise max_tokens");
}

Status state_too_long(int64_t fixed, int64_t state, int64_t max_tokens) {
  return fault(Code::too_long, "/state",
               "the prompt needs " + std::to_string(fixed + state) + " tokens (state " + std::to_string(state) +
                   ", questions and frame " + std::to_string(fixed) + "), but at most " + std::to_string(max_tokens) +
                   " are allowed; shorten the state, raise max_tokens, or set truncate to state_tail to cut the "
                   "state's end");
}

}  // namespace

Result<Prompt> encode_prompt(const text::Tokenizer& tokenizer, std::string_view state, const Schema& schema,
                             const PromptOptions& options) {
  CLEF_RETURN_IF_ERROR(check_control_tokens(tokenizer));
  Prompt prompt;
  // The schema comes first, so that a schema that does not fit is known before a long state is read.
  std::vector<Piece> schema_pieces;
  std::vector<int32_t> schema_ids;
  Encoder front(tokenizer, options.user_text, options.keep_pieces ? &prompt.pieces : nullptr);
  Encoder back(tokenizer, options.user_text, options.keep_pieces ? &schema_pieces : nullptr);
  CLEF_RETURN_IF_ERROR(front.scaffold(Role::prefix, kPrefix, prompt.ids));
  CLEF_ASSIGN_OR_RETURN(prompt.questions, encode_schema(back, schema, schema_ids));
  const int64_t before_media = static_cast<int64_t>(prompt.ids.size() + schema_ids.size());
  if (before_media > options.max_tokens) return schema_too_long(before_media, options.max_tokens);
  MediaTokens media;
  if (!options.media.empty()) {
    CLEF_ASSIGN_OR_RETURN(media, media_tokens(tokenizer));
    CLEF_RETURN_IF_ERROR(refuse_placeholders(schema_ids, media, "/questions"));
    CLEF_RETURN_IF_ERROR(
        encode_media(front, media, options.media, prompt, options.keep_pieces ? &prompt.pieces : nullptr));
  }
  const int64_t fixed = static_cast<int64_t>(prompt.ids.size() + schema_ids.size());
  if (fixed > options.max_tokens) return media_too_long(options.media, fixed - before_media, fixed, options.max_tokens);

  prompt.state_begin = static_cast<int64_t>(prompt.ids.size());
  CLEF_RETURN_IF_ERROR(front.user(Role::state, state, "/state", prompt.ids));
  const int64_t state_tokens = static_cast<int64_t>(prompt.ids.size()) - prompt.state_begin;
  if (!options.media.empty())
    CLEF_RETURN_IF_ERROR(refuse_placeholders(
        std::span<const int32_t>(prompt.ids).subspan(static_cast<size_t>(prompt.state_begin)), media, "/state"));
  const int64_t allowed = options.max_tokens - fixed;
  if (state_tokens > allowed) {
    if (options.truncation == Truncation::refuse) return state_too_long(fixed, state_tokens, options.max_tokens);
    prompt.tokens_dropped = state_tokens - allowed;
    prompt.ids.resize(static_cast<size_t>(prompt.state_begin + allowed));
    if (options.keep_pieces) prompt.pieces.back().ids.resize(static_cast<size_t>(allowed));
  }
  prompt.state_end = static_cast<int64_t>(prompt.ids.size());
  if (prompt.state_end + static_cast<int64_t>(schema_ids.size()) > std::numeric_limits<int32_t>::max()) {
    return state_too_long(fixed, state_tokens, std::numeric_limits<int32_t>::max());
  }
  prompt.ids.insert(prompt.ids.end(), schema_ids.begin(), schema_ids.end());
  const int32_t by = static_cast<int32_t>(prompt.state_end);
  for (QuestionSpans& question : prompt.questions) {
    shift(question.instruction, by);
    for (Span& span : question.options) shift(span, by);
  }
  for (Piece& piece : schema_pieces) prompt.pieces.push_back(std::move(piece));
  return prompt;
}

Result<TokenCounts> count_tokens(const text::Tokenizer& tokenizer, std::string_view state, const Schema& schema,
                                 SpecialText user_text, std::span<const MediaItem> media) {
  CLEF_RETURN_IF_ERROR(check_control_tokens(tokenizer));
  Encoder encoder(tokenizer, user_text, nullptr);
  std::vector<int32_t> ids;
  TokenCounts counts;
  if (!media.empty()) {
    Prompt prompt;
    CLEF_ASSIGN_OR_RETURN(const MediaTokens tokens, media_tokens(tokenizer));
    CLEF_RETURN_IF_ERROR(encode_media(encoder, tokens, media, prompt, nullptr));
    counts.fixed = static_cast<int64_t>(prompt.ids.size());
  }
  CLEF_RETURN_IF_ERROR(encoder.scaffold(Role::prefix, kPrefix, ids));
  CLEF_ASSIGN_OR_RETURN(const std::vector<QuestionSpans> questions, encode_schema(encoder, schema, ids));
  counts.fixed += static_cast<int64_t>(ids.size());
  ids.clear();
  CLEF_RETURN_IF_ERROR(encoder.user(Role::state, state, "/state", ids));
  counts.state = static_cast<int64_t>(ids.size());
  return counts;
}

}  // namespace clef::schema
