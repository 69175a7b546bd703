#include "json/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <system_error>

#include "json/json.hpp"

namespace clef::json {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Decimal exponent of the first significant digit: positive or negative far beyond any double decides between infinity
// and zero, where std::from_chars only says "out of range".
int64_t decimal_exponent(std::string_view token) {
  const size_t mark = std::min(token.find_first_of("eE"), token.size());
  const std::string_view mantissa = token.substr(0, mark);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  const size_t leading = mantissa.find_first_of("123456789");
  if (leading == std::string_view::npos) return std::numeric_limits<int64_t>::min() / 2;
  int64_t exponent = static_cast<int64_t>(point) - static_cast<int64_t>(leading);

  constexpr int64_t kHuge = int64_t{1} << 59;  // larger than any length of text, and ten times it still fits
  int64_t stated = 0;
  bool negative = false;
  for (const char c : token.substr(std::min(mark + 1, token.size()))) {
    if (c == '-') negative = true;
    if (is_digit(c)) stated = std::min(stated * 10 + (c - '0'), kHuge);
  }
  return exponent + (negative ? -stated : stated);
}

}  // namespace

NumberScan scan_number(std::string_view token) noexcept {
  NumberScan scan;
  size_t i = 0;
  const auto at_digit = [&] { return i < token.size() && is_digit(token[i]); };
  // At least one digit, else the token breaks here.
  const auto digits = [&] {
    if (!at_digit()) return false;
    while (at_digit()) ++i;
    return true;
  };
  const auto broken = [&] {
    scan.error = i;
    return scan;
  };

  if (i < token.size() && token[i] == '-') ++i;
  const size_t first = i;
  if (i < token.size() && token[i] == '0') {
    ++i;
  } else if (!digits()) {
    return broken();
  }
  scan.integer_digits = i - first;
  if (i < token.size() && token[i] == '.') {
    scan.is_integer = false;
    ++i;
    if (!digits()) return broken();
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    scan.is_integer = false;
    ++i;
    if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
    if (!digits()) return broken();
  }
  return i == token.size() ? scan : broken();
}

double parse_double(std::string_view token) noexcept {
  double value = 0.0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  static_cast<void>(end);  // the token was scanned before
  if (error == std::errc()) return value;
  const double magnitude = decimal_exponent(token) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  return token.starts_with('-') ? -magnitude : magnitude;
}

void append_python_double(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  // Shortest digits as "d.ddde+XX"; Python only places the point differently.
  char buffer[32];
  const auto written = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<size_t>(written.ptr - buffer));
  const size_t mark = text.find('e');
  const char* exponent_begin = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
  int exponent = 0;
  std::from_chars(exponent_begin, written.ptr, exponent);

  if (exponent < -4 || exponent > 15) {
    out += text;  // the spelling of to_chars has a sign and at least two digits as well
    return;
  }
  std::string digits;
  for (const char c : text.substr(0, mark)) {
    if (is_digit(c)) digits += c;
  }
  if (text.front() == '-') out += '-';
  const int count = static_cast<int>(digits.size());
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<size_t>(-exponent - 1), '0');
    out += digits;
  } else if (count <= exponent + 1) {
    out += digits;
    out.append(static_cast<size_t>(exponent + 1 - count), '0');
    out += ".0";
  } else {
    out.append(digits, 0, static_cast<size_t>(exponent + 1));
    out += '.';
    out.append(digits, static_cast<size_t>(exponent + 1));
  }
}

void append_rounded4(double value, std::string& out) {
  if (std::isfinite(value)) {
    // Python rounds the exact decimal value and reads the digits back.
    char buffer[352];  // 309 digits, sign, point and 4 decimals
    const auto written = std::to_chars(buffer, std::end(buffer), value, std::chars_format::fixed, 4);
    value = parse_double({buffer, static_cast<size_t>(written.ptr - buffer)});
  }
  append_python_double(value, out);
}

}  // namespace clef::json
