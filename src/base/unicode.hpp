// UTF-8, general categories and NFC. The tables are generated from the Unicode data by unicode_generate.py, so that
// token ids never depend on a distribution's library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace clef::base {

// The Unicode version of the tables, for example "15.0.0".
std::string_view unicode_version() noexcept;

// The classes that the pre-tokenizer patterns use.
enum class CharClass : uint8_t { other = 0, letter = 1, mark = 2, number = 3, space = 4 };  // \p{L} \p{M} \p{N} \s
CharClass char_class(uint32_t code_point) noexcept;

// Decodes the code point at text[i] and advances i. The text must be valid UTF-8 and i < size.
uint32_t decode_utf8(std::string_view text, size_t& i) noexcept;
void append_utf8(uint32_t code_point, std::string& out);
// Offset of the first byte that is not part of valid UTF-8 (no surrogates, no overlong forms, at most U+10FFFF), or
// npos.
size_t find_invalid_utf8(std::string_view text) noexcept;

// Normalization form C of valid UTF-8. Characters newer than Unicode 9.0 stay where they are, as in the reference
// tokenizer (unicode_generate.py says more). Returns `text` itself when it is already normalized, else fills `scratch`
// and returns a view of it.
std::string_view nfc(std::string_view text, std::string& scratch);

}  // namespace clef::base
