// Output: tables, numbers, pictures.
#pragma once
#include <string>
#include <vector>

namespace bench {

// Columns as wide as their widest cell, numbers to the right.
void print_table(const std::vector<std::vector<std::string>>& rows);
// In the format of printf for one double: "%.1f".
std::string number(const char* format, double value);
// Every number of a list "1,2,8"; throws std::runtime_error for anything else.
std::vector<unsigned> parse_list(const std::string& text, const char* what);
// "1,N" for the N processors of this machine.
std::string default_threads();
void complain(const std::string& what);

struct Series {
  std::string name;
  std::vector<double> x, y;
};
// Lines through points; x is spaced by powers of two.
std::string line_chart(const std::string& title, const std::string& x_title, const std::string& y_title,
                       const std::vector<Series>& series);
struct Bar {
  std::string name;
  double value = 0;
  std::string text;  // beside it
};
std::string bar_chart(const std::string& title, const std::vector<Bar>& bars);
// False after a complaint.
bool write_file(const std::string& path, const std::string& text);

}  // namespace bench
