// The pre-tokenizer rules, scanned by hand. With W = letters (qwen2) or letters and marks (qwen35) and N = numbers both
// are
//   (?i:'s|'t|'re|'ve|'m|'ll|'d) | [^\r\n L N]?W+ | N | ?[^\s W N]+[\r\n]* | \s*[\r\n]+ | \s+(?!\S) | \s+
// with ordered alternatives; where the pattern's second part says L for qwen35 a mark gives the same piece.
#pragma once
#include <cstddef>
#include <string_view>

#include "text/tokenizer.hpp"

namespace clef::text {

// The rule whose regular expression this is, or automatic when it is neither.
PreTokenizer rule_of_pattern(std::string_view regex) noexcept;

// The end of the piece that begins at text[begin]. The text is valid UTF-8 and begin < size. `rule` is not automatic.
size_t piece_end(std::string_view text, size_t begin, PreTokenizer rule) noexcept;

}  // namespace clef::text
