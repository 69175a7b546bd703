// Errors about a model's files. Inside src/model and src/convert only.
#pragma once
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/unicode.hpp"
#include "container/sizes.hpp"

namespace clef::model {

// A name or value from a file in quotes; messages are UTF-8 whatever the file holds.
inline std::string quoted(std::string_view text) {
  return base::find_invalid_utf8(text) == text.npos ? container::quoted(text) : "(not UTF-8)";
}

// "[file]: [what]"
inline base::Status file_error(base::Code code, std::string_view file, std::string_view what) {
  std::string message(file);
  message += ": ";
  message += what;
  return base::Status(code, std::move(message)).in_file(file);
}

// "[file]: tensor '[name]' [what]"
inline base::Status tensor_error(base::Code code, std::string_view file, std::string_view name, std::string_view what) {
  return file_error(code, file, "tensor " + quoted(name) + " " + std::string(what)).in_tensor(name);
}

}  // namespace clef::model
