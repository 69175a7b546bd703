// Where the tests find their data, and small readers for it.
#pragma once
#include <string>
#include <vector>

namespace clef::test {

std::string data_path(const std::string& name);    // tests/data/NAME
std::string source_path(const std::string& name);  // NAME below the repository's root
// CLEF_GOLDEN_DIR/NAME, or "" when the variable is empty (the test then skips that set and says so).
std::string golden_path(const std::string& name);
std::string read_file(const std::string& path);                // fails the test when it cannot be read
std::vector<std::string> read_lines(const std::string& path);  // without empty lines
std::string temporary_directory();                             // a new one, removed at exit

}  // namespace clef::test
