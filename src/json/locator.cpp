#include "json/locator.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "base/unicode.hpp"
#include "json/number.hpp"

namespace clef::json {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool ends_token(char c) {
  return is_space(c) || c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' || c == '"';
}

// The four hexadecimal digits of \uXXXX, or -1.
int32_t hex4(std::string_view text, size_t i) {
  if (i > text.size() || text.size() - i < 4) return -1;
  int32_t value = 0;
  for (const char c : text.substr(i, 4)) {
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}
bool is_high_surrogate(int32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_surrogate(int32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}
// At text[i] == 'u': the second half of a pair whose first half was just read.
bool low_surrogate_follows(std::string_view text, size_t i) {
  return i + 1 < text.size() && text[i] == '\\' && text[i + 1] == 'u' && is_low_surrogate(hex4(text, i + 2));
}

// The characters of a string that was scanned without an error.
std::string decode(std::string_view raw) {
  std::string out;
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] != '\\') {
      out += raw[i++];
      continue;
    }
    const char escape = raw[i + 1];
    i += 2;
    if (escape == 'u') {
      uint32_t code_point = static_cast<uint32_t>(hex4(raw, i));
      i += 4;
      if (is_high_surrogate(static_cast<int32_t>(code_point))) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + static_cast<uint32_t>(hex4(raw, i + 2) - 0xDC00);
        i += 6;
      }
      base::append_utf8(code_point, out);
    } else {
      constexpr std::string_view kLetters = "bfnrt";
      constexpr std::string_view kControls = "\b\f\n\r\t";
      const size_t letter = kLetters.find(escape);
      out += letter == std::string_view::npos ? escape : kControls[letter];
    }
  }
  return out;
}

class Locator {
 public:
  Locator(std::string_view text, const ParseOptions& options)
      : text_(text), options_(options), bad_utf8_(base::find_invalid_utf8(text)) {}

  base::Status run() {
    if (text_.starts_with("\xEF\xBB\xBF")) return broken("it starts with a byte order mark; remove it", false);
    bool go_on = true;
    while (go_on && error_.ok()) {
      skip_space();
      go_on = step();
    }
    return std::move(error_);
  }

 private:
  enum class Expect { value, value_or_end, key, key_or_end, colon, comma_or_end };
  struct Frame {
    bool is_object;
    size_t index = 0;      // of the current element
    std::string_view key;  // of the current member, still escaped
  };

  bool at_end() const { return at_ == text_.size(); }
  char current() const { return text_[at_]; }
  void skip_space() {
    while (!at_end() && is_space(current())) ++at_;
  }

  // One token. False at the end of the text; an error ends the run as well.
  bool step() {
    if (frames_.empty() && root_done_) {
      if (!at_end()) error_ = broken("there is text after the value", false);
      return false;
    }
    if (at_end()) {
      error_ = broken(text_.empty() || (frames_.empty() && !root_done_) ? "it is empty" : "it ends early", false);
      return false;
    }
    if (at_ >= bad_utf8_) {
      error_ = broken("", false);
      return false;
    }
    switch (expect_) {
      case Expect::value_or_end:
        if (current() == ']') return close();
        return value();
      case Expect::value:
        return value();
      case Expect::key_or_end:
        if (current() == '}') return close();
        return key();
      case Expect::key:
        return key();
      case Expect::colon:
        if (current() != ':') {
          error_ = broken("':' is missing after a name", false);
          return false;
        }
        ++at_;
        expect_ = Expect::value;
        return true;
      case Expect::comma_or_end:
        return comma_or_end();
    }
    return false;
  }

  bool comma_or_end() {
    Frame& frame = frames_.back();
    if (current() == (frame.is_object ? '}' : ']')) return close();
    if (current() != ',') {
      error_ = broken(frame.is_object ? "',' or '}' is missing" : "',' or ']' is missing", false);
      return false;
    }
    ++at_;
    ++frame.index;
    expect_ = frame.is_object ? Expect::key : Expect::value;
    return true;
  }

  bool close() {
    ++at_;
    frames_.pop_back();
    return finish_value();
  }

  bool finish_value() {
    root_done_ = frames_.empty();
    expect_ = Expect::comma_or_end;
    return true;
  }

  bool key() {
    if (current() != '"') {
      error_ = broken("a name in double quotes is missing", false);
      return false;
    }
    const size_t begin = at_ + 1;
    if (!string(false)) return false;
    frames_.back().key = text_.substr(begin, at_ - 1 - begin);
    expect_ = Expect::colon;
    return true;
  }

  bool value() {
    const char c = current();
    if (c == '"') return string(true) && finish_value();
    if (c == '{' || c == '[') {
      if (frames_.size() >= options_.max_depth) {
        error_ =
            error(base::Code::too_deep,
                  "Arrays and objects may be nested " + std::to_string(options_.max_depth) + " deep at most", true);
        return false;
      }
      ++at_;
      frames_.push_back({c == '{', 0, {}});
      expect_ = c == '{' ? Expect::key_or_end : Expect::value_or_end;
      return true;
    }
    if (ends_token(c)) {
      error_ = broken("a value is missing", false);
      return false;
    }
    return scalar() && finish_value();
  }

  bool scalar() {
    size_t end = at_;
    while (end < text_.size() && !ends_token(text_[end])) ++end;
    const std::string_view token = text_.substr(at_, end - at_);
    if (token == "true" || token == "false" || token == "null") {
      at_ = end;
      return true;
    }
    if (token == "NaN" || token == "Infinity" || token == "-Infinity") {
      error_ = broken("NaN and Infinity are not JSON", true);
      return false;
    }
    const bool is_number = token[0] == '-' || (token[0] >= '0' && token[0] <= '9');
    if (!is_number) {
      error_ = broken(token[0] == '\'' ? "strings are written in double quotes" : "this is not a JSON value", true);
      return false;
    }
    const NumberScan scan = scan_number(token);
    if (scan.error != std::string_view::npos) {
      at_ += scan.error;
      error_ = broken("this is not a JSON number", true);
      return false;
    }
    if (scan.is_integer && scan.integer_digits > options_.max_integer_digits) {
      error_ = error(base::Code::out_of_range,
                     "An integer has " + std::to_string(scan.integer_digits) + " digits; at most " +
                         std::to_string(options_.max_integer_digits) + " are allowed",
                     true);
      return false;
    }
    at_ = end;
    return true;
  }

  // From the opening quote to behind the closing one.
  bool string(bool in_value) {
    ++at_;
    while (!at_end()) {
      if (at_ >= bad_utf8_) {
        error_ = broken("", in_value);
        return false;
      }
      const char c = current();
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!escape(in_value)) return false;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        error_ = broken("a control character in a string must be escaped (a line break is \\n)", in_value);
        return false;
      } else {
        ++at_;
      }
    }
    error_ = broken("it ends inside a string", in_value);
    return false;
  }

  bool escape(bool in_value) {
    const size_t letter = at_ + 1;
    if (letter == text_.size()) {
      at_ = letter;
      error_ = broken("it ends inside a string", in_value);
      return false;
    }
    if (text_[letter] != 'u') {
      if (std::string_view("\"\\/bfnrt").find(text_[letter]) == std::string_view::npos) {
        error_ = broken("this escape does not exist in JSON", in_value);
        return false;
      }
      at_ += 2;
      return true;
    }
    const int32_t unit = hex4(text_, letter + 1);
    if (unit < 0) {
      error_ = broken("\\u needs four hexadecimal digits", in_value);
      return false;
    }
    if (is_high_surrogate(unit) && low_surrogate_follows(text_, at_ + 6)) {
      at_ += 12;
      return true;
    }
    if (is_high_surrogate(unit) || is_low_surrogate(unit)) {
      error_ = error(
          base::Code::invalid_unicode,
          "A string has half of a surrogate pair at byte " + std::to_string(at_) + ": write both halves or remove it",
          in_value);
      return false;
    }
    at_ += 6;
    return true;
  }

  // Bad UTF-8 goes before every other reason at the same byte.
  base::Status broken(std::string_view reason, bool in_value) const {
    if (at_ == bad_utf8_) {
      return error(base::Code::invalid_unicode, "The text is not UTF-8 at byte " + std::to_string(at_), in_value);
    }
    std::string message = "The text is not JSON at byte " + std::to_string(at_) + ": ";
    message += reason;
    return error(base::Code::invalid_json, std::move(message), in_value);
  }

  base::Status error(base::Code code, std::string message, bool in_value) const {
    return base::Status(code, std::move(message)).at(pointer(in_value)).at_offset(static_cast<int64_t>(at_));
  }

  // Of the innermost container, or of its current value.
  std::string pointer(bool in_value) const {
    std::string out;
    for (size_t i = 0; i < frames_.size(); ++i) {
      if (i + 1 == frames_.size() && !in_value) break;
      append_pointer(out, frames_[i].is_object ? decode(frames_[i].key) : std::to_string(frames_[i].index));
    }
    return out;
  }

  std::string_view text_;
  const ParseOptions& options_;
  size_t bad_utf8_;
  size_t at_ = 0;
  Expect expect_ = Expect::value;
  bool root_done_ = false;
  std::vector<Frame> frames_;
  base::Status error_;
};

}  // namespace

base::Status locate_error(std::string_view text, const ParseOptions& options) {
  return Locator(text, options).run();
}

}  // namespace clef::json
