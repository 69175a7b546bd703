// Tables for people.
#pragma once
#include <string>
#include <vector>

namespace cli {

// Columns as wide as their widest cell, two spaces apart.
void print_rows(const std::vector<std::vector<std::string>>& rows, const std::string& indent);
// "17.00 GiB"
std::string bytes_text(double bytes);
// In the format of printf for one double: "%.4g".
std::string number_text(const char* format, double value);

}  // namespace cli
