// Finds where and why a text is not JSON. Runs only after the parser has failed.
#pragma once
#include <string_view>

#include "base/status.hpp"
#include "json/json.hpp"

namespace clef::json {

// The first error of the text in reading order, with code, place and offset; ok when there is none.
base::Status locate_error(std::string_view text, const ParseOptions& options);

}  // namespace clef::json
