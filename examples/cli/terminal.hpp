// What a terminal needs: widths, bars, a progress line, pretty JSON.
#pragma once
#include <chrono>
#include <clef/clef.hpp>
#include <cstdio>
#include <string>
#include <string_view>

namespace cli {

bool is_terminal(std::FILE* stream);
// Columns of the terminal behind stdout; 80 when there is none.
std::size_t terminal_width();
// Characters of a UTF-8 text (wide ones count as one).
std::size_t columns(std::string_view text);
// `text` with control characters replaced, so that no file or question can steer a terminal.
std::string printable(std::string_view text);
// `text` filled up with spaces, or cut with "..." when it is wider.
std::string fitted(std::string_view text, std::size_t width);
// A bar of `width` columns of which `fraction` (0 to 1) is filled.
std::string bar(double fraction, std::size_t width);
// JSON indented by two spaces; arrays of plain values stay on one line. Numbers and strings are kept as they are.
std::string pretty_json(std::string_view json);

// One line on stderr that tells how far a long call is: only on a terminal, only after a moment, erased at the end.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // For Options::on_progress; empty without a terminal. Refers to this object.
  clef::ProgressFunction function();
  void erase();

 private:
  void show(const clef::Progress& progress);

  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace cli
