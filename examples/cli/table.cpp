#include "table.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "command.hpp"
#include "terminal.hpp"

namespace cli {

void print_rows(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) line += i + 1 < row.size() ? fitted(row[i], widths[i]) + "  " : row[i];
    print(line + "\n");
  }
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return number_text(unit == 0 ? "%.0f " : "%.2f ", bytes) + kUnits[unit];
}

std::string number_text(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace cli
