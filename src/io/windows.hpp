// Paths and errors of Windows, shared by reading and writing. Inside src/io only.
#pragma once
#include <windows.h>

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::io {

// "[name]: [action]: [why]"; not_found when there is no such file.
base::Status windows_error(std::string_view name, std::string_view action, DWORD error, int64_t offset = -1);

// The absolute form of a UTF-8 path, with the prefix that lifts the limit of 260 characters when it is long.
base::Result<std::wstring> system_path(std::string_view path);

}  // namespace clef::io
