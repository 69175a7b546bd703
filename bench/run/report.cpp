#include "report.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace bench {

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i > 0 ? "  " : "") + (i == 0 ? row[i] + space : space + row[i]);
    }
    std::puts(line.c_str());
  }
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::vector<unsigned> parse_list(const std::string& text, const char* what) {
  std::vector<unsigned> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    unsigned value = 0;
    const auto [stop, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || stop != text.data() + end || value == 0)
      throw std::runtime_error(std::string(what) + ": '" + text + "' is no list of numbers such as 1,2");
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

std::string default_threads() {
  const unsigned all = std::thread::hardware_concurrency();
  return all > 1 ? "1," + std::to_string(all) : "1";
}

void complain(const std::string& what) {
  std::fprintf(stderr, "clef-bench: %s\n", what.c_str());
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (out.flush()) return true;
  complain("cannot write '" + path + "'");
  return false;
}

}  // namespace bench
