#include "text/message.hpp"

namespace clef::text {

base::Status file_error(base::Code code, std::string_view file, std::string_view what) {
  std::string message(file);
  message += ": ";
  message += what;
  return base::Status(code, std::move(message)).in_file(file);
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  size_t end = text.size();
  if (end > kShown) {
    end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
  }
  std::string result = "\"";
  for (const char c : text.substr(0, end)) result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  if (end < text.size()) result += "...";
  return result + "\"";
}

}  // namespace clef::text
