#include <charconv>
#include <cmath>
#include <iterator>

#include "json/json.hpp"

namespace clef::json {
namespace {

template <class Integer>
void append_integer(Integer value, std::string& out) {
  char buffer[24];
  const auto written = std::to_chars(buffer, std::end(buffer), value);
  out.append(buffer, static_cast<size_t>(written.ptr - buffer));
}

}  // namespace

void append_pointer(std::string& pointer, std::string_view token) {
  pointer += '/';
  for (const char c : token) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

void Writer::newline() {
  if (indent_ < 0) return;
  out_ += '\n';
  out_.append(static_cast<size_t>(indent_) * static_cast<size_t>(depth_), ' ');
}

void Writer::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) out_ += ',';
  first_ = false;
  if (depth_ > 0) newline();
}

void Writer::begin_object() {
  before_value();
  out_ += '{';
  ++depth_;
  first_ = true;
}

void Writer::end_object() {
  --depth_;
  if (!first_) newline();
  out_ += '}';
  first_ = false;
}

void Writer::begin_array() {
  before_value();
  out_ += '[';
  ++depth_;
  first_ = true;
}

void Writer::end_array() {
  --depth_;
  if (!first_) newline();
  out_ += ']';
  first_ = false;
}

void Writer::key(std::string_view key) {
  before_value();
  append_python_string(key, out_);
  out_ += indent_ < 0 ? ":" : ": ";
  after_key_ = true;
}

void Writer::string(std::string_view utf8) {
  before_value();
  append_python_string(utf8, out_);
}

void Writer::integer(int64_t value) {
  before_value();
  append_integer(value, out_);
}

void Writer::unsigned_integer(uint64_t value) {
  before_value();
  append_integer(value, out_);
}

void Writer::number(double value) {
  if (!std::isfinite(value)) return null();
  before_value();
  append_python_double(value, out_);
}

void Writer::rounded4(double value) {
  if (!std::isfinite(value)) return null();
  before_value();
  append_rounded4(value, out_);
}

void Writer::boolean(bool value) {
  before_value();
  out_ += value ? "true" : "false";
}

void Writer::null() {
  before_value();
  out_ += "null";
}

void Writer::raw(std::string_view json) {
  before_value();
  out_ += json;
}

}  // namespace clef::json
