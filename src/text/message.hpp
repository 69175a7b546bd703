// Error messages of this folder.
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::text {

// "FILE: WHAT", with the file in the detail.
base::Status file_error(base::Code code, std::string_view file, std::string_view what);
// The text in quotes, at most its first 60 bytes and no control characters.
std::string quoted(std::string_view text);

}  // namespace clef::text
