#include "support/data.hpp"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace clef::test {

std::string data_path(const std::string& name) {
  return std::string(CLEF_TEST_DATA_DIR) + "/" + name;
}
std::string source_path(const std::string& name) {
  return std::string(CLEF_SOURCE_DIR) + "/" + name;
}
std::string golden_path(const std::string& name) {
  const std::string root = CLEF_GOLDEN_DIR;
  return root.empty() ? std::string() : root + "/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::istringstream in(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

namespace {
struct Directories {
  std::vector<std::string> paths;
  ~Directories() {
    std::error_code ignored;
    for (const std::string& path : paths) std::filesystem::remove_all(path, ignored);
  }
};
}  // namespace

std::string temporary_directory() {
  static Directories directories;
  std::random_device random;
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto path = std::filesystem::temp_directory_path() / ("clef-test-" + std::to_string(random()));
    if (!std::filesystem::create_directory(path)) continue;
    directories.paths.push_back(path.string());
    return path.string();
  }
  throw std::runtime_error("cannot make a temporary directory");
}

}  // namespace clef::test
