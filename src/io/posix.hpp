// Errors of POSIX systems, shared by reading and writing. Inside src/io only.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace clef::io {

// "[name]: [action]: [why]"; not_found when there is no such file.
base::Status posix_error(std::string_view name, std::string_view action, int error, int64_t offset = -1);

}  // namespace clef::io
