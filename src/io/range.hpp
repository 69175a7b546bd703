// Shared by the sources: range checks with one wording.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::io {

// Ok when `bytes` bytes at `offset` lie inside a source of `size` bytes.
base::Status check_range(const std::string& name, uint64_t size, uint64_t offset, uint64_t bytes);

// Ok when the part of a file that a caller asks for lies inside it.
base::Status check_part(const std::string& name, uint64_t size, uint64_t offset, uint64_t length);

// "[name]: [what]", with file and, when it is not negative, offset filled in.
base::Status file_error(base::Code code, std::string_view name, std::string_view what, int64_t offset = -1);

// What messages call a source: the last component, or "unnamed" when there is none.
std::string display_name(std::string_view name);

// An error when a path is empty or holds a NUL byte, which the system would take for its end.
base::Status check_path(std::string_view path);

}  // namespace clef::io
