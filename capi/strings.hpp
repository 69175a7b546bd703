// Strings in and out: UTF-8 as pointer and size.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "guard.hpp"

namespace clef::capi {

// A string of the host by the rules of clef.h; `what` names the argument. NULL is the empty string when the size is 0.
Result<std::string_view> raw_text(const char* data, size_t size, std::string_view what);
// The same, checked as UTF-8.
Result<std::string_view> utf8_text(const char* data, size_t size, std::string_view what);
// NULL means absent.
Result<std::optional<std::string_view>> optional_text(const char* data, size_t size, std::string_view what);

// For texts of messages: names of files may hold anything.
void replace_invalid_utf8(std::string& text);

// Values of options given as text.
Result<uint64_t> parse_number(std::string_view name, std::string_view value);
Result<int32_t> parse_switch(std::string_view name, std::string_view value);
// `allowed` lists the possible values in words.
Status bad_value(std::string_view name, std::string_view value, std::string_view allowed);
Status check_switch(std::string_view name, int32_t value);

// A returned string; the view ends in a NUL.
template <class Function>
const char* guard_string(size_t* size, Function&& function) noexcept {
  clear(size);
  return guard_value("", [&]() -> const char* {
    const std::string_view text = function();
    if (size) *size = text.size();
    return text.data();
  });
}

}  // namespace clef::capi
