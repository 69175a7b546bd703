#include "terminal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#if defined(_WIN32)
#include <io.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace cli {

namespace {

// Whether the terminal shows UTF-8, by the usual variables.
bool shows_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string text(value);
    std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    return text.find("utf-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// Byte length of the first `count` characters.
std::size_t prefix_bytes(std::string_view text, std::size_t count) {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (!starts_character(text[i])) continue;
    if (count == 0) break;
    --count;
  }
  return i;
}

std::string_view stage_name(clef::Stage stage) {
  switch (stage) {
    case clef::Stage::load:
      return "loading";
    case clef::Stage::prefill:
      return "reading";
    case clef::Stage::decode:
    case clef::Stage::scale:
    case clef::Stage::vision:
      return "looking";
    case clef::Stage::head:
      return "deciding";
    case clef::Stage::quantize:
      return "writing";
  }
  return "working";
}

// Offset behind the JSON string that starts at `i`.
std::size_t string_end(std::string_view json, std::size_t i) {
  for (++i; i < json.size() && json[i] != '"'; ++i) {
    if (json[i] == '\\') ++i;
  }
  return std::min(i + 1, json.size());
}

// Whether the array that starts at `i` holds no array or object and fits on a line of its own kind.
bool is_flat(std::string_view json, std::size_t i) {
  for (++i; i < json.size(); ++i) {
    if (json[i] == '"') {
      i = string_end(json, i) - 1;
    } else if (json[i] == '[' || json[i] == '{') {
      return false;
    } else if (json[i] == ']') {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
#if defined(_WIN32)
  return _isatty(_fileno(stream)) != 0;
#else
  return isatty(fileno(stream)) == 1;
#endif
}

std::size_t terminal_width() {
#if !defined(_WIN32)
  winsize size = {};
  if (ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
  return 80;
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too.
    const bool c1 = c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (c1) ++i;
    out += c == '\n' || c == '\t' ? ' ' : c < 0x20 || c == 0x7f || c1 ? '?' : text[i];
  }
  return out;
}

std::string fitted(std::string_view text, std::size_t width) {
  const std::size_t have = columns(text);
  std::string out(text);
  if (have <= width) return out.append(width - have, ' ');
  out.resize(prefix_bytes(text, width > 3 ? width - 3 : 0));
  return out.append(std::min<std::size_t>(width, 3), '.');
}

std::string bar(double fraction, std::size_t width) {
  static constexpr std::string_view kEighths[] = {"",
                                                  "\xe2\x96\x8f",
                                                  "\xe2\x96\x8e",
                                                  "\xe2\x96\x8d",
                                                  "\xe2\x96\x8c",
                                                  "\xe2\x96\x8b",
                                                  "\xe2\x96\x8a",
                                                  "\xe2\x96\x89"};
  const double filled = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width);
  std::string out;
  if (!shows_utf8()) {
    const auto full = static_cast<std::size_t>(std::lround(filled));
    return out.append(full, '#').append(width - full, ' ');
  }
  const auto eighths = static_cast<std::size_t>(std::lround(filled * 8));
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "\xe2\x96\x88";
  out += kEighths[eighths % 8];
  return out.append(width - columns(out), ' ');
}

std::string pretty_json(std::string_view json) {
  std::string out;
  std::size_t depth = 0;
  bool flat = false;
  const auto new_line = [&] { out.append("\n").append(2 * depth, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const std::size_t end = string_end(json, i);
      out.append(json.substr(i, end - i));
      i = end - 1;
    } else if (c == '{' || c == '[') {
      out += c;
      const bool empty = i + 1 < json.size() && (json[i + 1] == '}' || json[i + 1] == ']');
      if (empty) {
        out += json[++i];
        continue;
      }
      flat = c == '[' && is_flat(json, i);
      if (flat) continue;
      ++depth;
      new_line();
    } else if (c == '}' || c == ']') {
      if (!flat) {
        if (depth > 0) --depth;
        new_line();
      }
      flat = false;
      out += c;
    } else if (c == ',') {
      out += c;
      if (flat) {
        out += ' ';
      } else {
        new_line();
      }
    } else if (c == ':') {
      out += ": ";
    } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
      out += c;
    }
  }
  return out;
}

ProgressLine::ProgressLine() : enabled_(is_terminal(stderr)), start_(std::chrono::steady_clock::now()) {}

clef::ProgressFunction ProgressLine::function() {
  if (!enabled_) return {};
  return [this](const clef::Progress& progress) { show(progress); };
}

void ProgressLine::show(const clef::Progress& progress) {
  if (std::chrono::steady_clock::now() - start_ < std::chrono::milliseconds(300) || progress.total == 0) return;
  const double fraction = std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
  std::string line = "\r";
  line.append(fitted(stage_name(progress.stage), 9)).append(bar(fraction, 30)).append(" ");
  line.append(std::to_string(static_cast<int>(fraction * 100))).append(" %\x1b[K");
  std::fwrite(line.data(), 1, line.size(), stderr);
  shown_ = true;
}

void ProgressLine::erase() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
  start_ = std::chrono::steady_clock::now();
}

}  // namespace cli
