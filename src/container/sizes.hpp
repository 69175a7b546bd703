// Shared by the readers: sizes that come from files, and errors about them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::container {

// a * b; false when it does not fit.
inline bool multiply(uint64_t a, uint64_t b, uint64_t& product) noexcept {
  if (b != 0 && a > UINT64_MAX / b) return false;
  product = a * b;
  return true;
}

// The number of elements of a shape; false when it is beyond 2^63 - 1, also where a dimension of 0 would hide that.
bool count_elements(std::span<const int64_t> shape, uint64_t& elements) noexcept;

// A name from a file in quotes for a message: control characters replaced, long names cut. The name must be valid
// UTF-8.
std::string quoted(std::string_view name);

// "[file]: [what]".
base::Status bad_file(std::string_view file, std::string_view what, uint64_t offset,
                      base::Code code = base::Code::bad_file);
// "[file]: tensor '[tensor]' [what]".
base::Status bad_tensor(std::string_view file, std::string_view tensor, std::string_view what, uint64_t offset,
                        base::Code code = base::Code::bad_file);

// What a file is, judged by its first bytes (512 are enough), so that a wrong file gets its own message.
enum class FileKind : uint8_t { unknown, empty, gguf, safetensors, old_ggml, json, html, xml, zip, lfs_pointer };
FileKind guess_kind(std::string_view start) noexcept;

// "[file]: is not a [wanted]", followed by what it is and what to do when that is known.
base::Status wrong_kind(std::string_view file, std::string_view wanted, FileKind kind);

}  // namespace clef::container
