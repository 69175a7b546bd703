#include "text/pre_tokenizer.hpp"

#include <array>
#include <string>

#include "base/unicode.hpp"

namespace clef::text {

using base::CharClass;

namespace {

constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr std::array<CharClass, 128> make_ascii_classes() {
  std::array<CharClass, 128> classes{};
  for (int c = 'a'; c <= 'z'; c++) classes[c] = classes[c - 'a' + 'A'] = CharClass::letter;
  for (int c = '0'; c <= '9'; c++) classes[c] = CharClass::number;
  for (int c = '\t'; c <= '\r'; c++) classes[c] = CharClass::space;
  classes[' '] = CharClass::space;
  return classes;
}
constexpr std::array<CharClass, 128> kAsciiClasses = make_ascii_classes();

bool is_line_break(char c) noexcept {
  return c == '\r' || c == '\n';
}

struct Char {
  CharClass kind;
  size_t next;
};

class Scanner {
 public:
  Scanner(std::string_view text, PreTokenizer rule) noexcept
      : text_(text), mark_kind_(rule == PreTokenizer::qwen35 ? CharClass::letter : CharClass::other) {}

  size_t piece_end(size_t begin) const noexcept {
    if (text_[begin] == '\'') {
      const size_t end = contraction_end(begin);
      if (end != begin) return end;
    }
    const Char first = at(begin);
    if (first.kind == CharClass::letter) return run_end(CharClass::letter, first.next);
    if (first.kind == CharClass::number) return first.next;
    if (!is_line_break(text_[begin]) && first.next < text_.size()) {
      const Char second = at(first.next);
      if (second.kind == CharClass::letter) return run_end(CharClass::letter, second.next);
      if (text_[begin] == ' ' && second.kind == CharClass::other) return punctuation_end(second.next);
    }
    return first.kind == CharClass::other ? punctuation_end(first.next) : blank_end(begin);
  }

 private:
  // Marks count as letters or as punctuation, so there are four kinds.
  Char at(size_t i) const noexcept {
    const auto byte = static_cast<unsigned char>(text_[i]);
    if (byte < 0x80) return {kAsciiClasses[byte], i + 1};
    const CharClass kind = base::char_class(base::decode_utf8(text_, i));
    return {kind == CharClass::mark ? mark_kind_ : kind, i};
  }

  size_t run_end(CharClass kind, size_t i) const noexcept {
    while (i < text_.size()) {
      const Char c = at(i);
      if (c.kind != kind) break;
      i = c.next;
    }
    return i;
  }

  size_t punctuation_end(size_t i) const noexcept {
    i = run_end(CharClass::other, i);
    while (i < text_.size() && is_line_break(text_[i])) i++;
    return i;
  }

  size_t blank_end(size_t begin) const noexcept {
    size_t last = begin, break_end = begin, end = begin;
    while (end < text_.size()) {
      const Char c = at(end);
      if (c.kind != CharClass::space) break;
      if (is_line_break(text_[end])) break_end = c.next;
      last = end;
      end = c.next;
    }
    if (break_end != begin) return break_end;
    // The last blank before something else begins the next piece, unless it is the only one.
    return end == text_.size() || last == begin ? end : last;
  }

  // The end of 's, 't, 're, 've, 'm, 'll or 'd in any case, or `begin`. U+017F is a form of s.
  size_t contraction_end(size_t begin) const noexcept {
    const auto lower = [&](size_t i) -> char {
      const char c = i < text_.size() ? text_[i] : '\0';
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    const char a = lower(begin + 1), b = lower(begin + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return begin + 2;
    if (((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l')) return begin + 3;
    return text_.substr(begin + 1, 2) == "\u017F" ? begin + 3 : begin;
  }

  std::string_view text_;
  CharClass mark_kind_;
};

}  // namespace

std::string_view pre_tokenizer_name(PreTokenizer rule) noexcept {
  switch (rule) {
    case PreTokenizer::qwen2:
      return "qwen2";
    case PreTokenizer::qwen35:
      return "qwen35";
    case PreTokenizer::automatic:
      break;
  }
  return "auto";
}

base::Result<PreTokenizer> parse_pre_tokenizer(std::string_view name) {
  for (const PreTokenizer rule : {PreTokenizer::automatic, PreTokenizer::qwen2, PreTokenizer::qwen35})
    if (name == pre_tokenizer_name(rule)) return rule;
  return base::Status(base::Code::invalid_value, "pre-tokenizer rule \"" + std::string(name.substr(0, 40)) +
                                                     "\" is unknown; use auto, qwen2 or qwen35");
}

PreTokenizer rule_of_pattern(std::string_view regex) noexcept {
  if (regex == kQwen2Pattern) return PreTokenizer::qwen2;
  if (regex == kQwen35Pattern) return PreTokenizer::qwen35;
  return PreTokenizer::automatic;
}

size_t piece_end(std::string_view text, size_t begin, PreTokenizer rule) noexcept {
  return Scanner(text, rule).piece_end(begin);
}

}  // namespace clef::text
