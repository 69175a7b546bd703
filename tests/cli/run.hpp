// Runs the real command.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace clef::test {

struct Outcome {
  int status = -1;  // exit status; 128 + signal when it was killed
  std::string out, err;
  double seconds = 0;
  uint64_t peak_bytes = 0;  // of memory in use at once; run() alone measures both
};

// The command with these arguments; `input` is its stdin.
Outcome run(const std::vector<std::string>& arguments, const std::string& input = {});
// With stdout and stderr on one terminal of 80 columns; both come back in `out`, with \r\n as line ends.
Outcome run_on_terminal(const std::vector<std::string>& arguments);
// What is left on the screen when a progress line, which a slow machine shows, has been erased.
std::string on_screen(const std::string& out);
// With stdout in a device file.
Outcome run_into(const std::string& device, const std::vector<std::string>& arguments);

// A file with this content in a temporary directory; its path.
std::string temporary_file(const std::string& name, const std::string& content);
std::string nano();  // the demonstration model
std::vector<std::string> lines_of(const std::string& text);

}  // namespace clef::test
