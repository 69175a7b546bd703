#include <cstdint>

#include "io/range.hpp"
#include "io/source.hpp"

namespace clef::io {
namespace {

#ifdef _WIN32
constexpr std::string_view kSeparators = "/\\";
#else
constexpr std::string_view kSeparators = "/";
#endif

std::string_view without_trailing_separators(std::string_view path) {
  while (path.size() > 1 && kSeparators.find(path.back()) != path.npos) path.remove_suffix(1);
  return path;
}

}  // namespace

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && kSeparators.find(path.back()) == kSeparators.npos) path += '/';
  path += name;
  return path;
}

std::string file_name(std::string_view path) {
  path = without_trailing_separators(path);
  const size_t cut = path.find_last_of(kSeparators);
  if (cut == path.npos || path.size() == 1) return std::string(path);
  return std::string(path.substr(cut + 1));
}

std::string parent_path(std::string_view path) {
  path = without_trailing_separators(path);
  const size_t cut = path.find_last_of(kSeparators);
  if (cut == path.npos) return ".";
  return std::string(cut == 0 ? path.substr(0, 1) : without_trailing_separators(path.substr(0, cut)));
}

base::Status check_path(std::string_view path) {
  if (path.empty()) return base::Status(base::Code::invalid_argument, "the path is empty; give the path of a file");
  if (path.find('\0') != path.npos)
    return base::Status(base::Code::invalid_argument, "the path holds a NUL byte; give plain UTF-8 text");
  return {};
}

std::string display_name(std::string_view name) {
  std::string shown = file_name(name);
  return shown.empty() ? "unnamed" : shown;
}

base::Status file_error(base::Code code, std::string_view name, std::string_view what, int64_t offset) {
  std::string message(name);
  message += ": ";
  message += what;
  return base::Status(code, std::move(message)).in_file(name).at_offset(offset);
}

base::Status check_range(const std::string& name, uint64_t size, uint64_t offset, uint64_t bytes) {
  if (offset <= size && bytes <= size - offset) return {};
  const int64_t place = offset <= INT64_MAX ? static_cast<int64_t>(offset) : -1;
  return file_error(base::Code::io, name,
                    "cannot read " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                        ": the file has " + std::to_string(size) + " bytes",
                    place);
}

base::Status check_part(const std::string& name, uint64_t size, uint64_t offset, uint64_t length) {
  if (offset <= size && length <= size - offset) return {};
  return file_error(base::Code::out_of_range, name,
                    "the range of " + std::to_string(length) + " bytes at offset " + std::to_string(offset) +
                        " is outside the file of " + std::to_string(size) + " bytes");
}

}  // namespace clef::io
