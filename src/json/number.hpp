// The number tokens of JSON: their grammar and their value as a double.
#pragma once
#include <cstddef>
#include <string_view>

namespace clef::json {

struct NumberScan {
  size_t error = std::string_view::npos;  // where the token stops being a JSON number
  bool is_integer = true;                 // no fraction and no exponent
  size_t integer_digits = 0;
};

NumberScan scan_number(std::string_view token) noexcept;

// The nearest double of a JSON number; infinity and zero beyond the range.
double parse_double(std::string_view token) noexcept;

}  // namespace clef::json
