// A file that is being written: positional writes, and the steps that put it in place once it is whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::io {

// Errors name the file (never its directory), say what failed and why: io, not_found, busy.
class FileWriter {
 public:
  virtual ~FileWriter() = default;  // closes; what was not flushed may be lost with the system
  virtual const std::string& name() const noexcept = 0;
  virtual base::Result<uint64_t> size() const = 0;
  virtual base::Status read(uint64_t offset, std::span<std::byte> out) const = 0;
  virtual base::Status write(uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual base::Status resize(uint64_t size) = 0;
  virtual base::Status flush() = 0;  // to the disk
};

enum class Existing : uint8_t { refuse, keep, clear };

// Opens for writing by UTF-8 path; `existing` says what happens to a file that is there (refuse: an error). One writer
// at a time (busy). Symbolic links are not followed.
base::Result<std::unique_ptr<FileWriter>> open_writer(std::string_view path, Existing existing);

// Renames a file within its folder, in place of one that may be there.
base::Status replace_file(std::string_view from, std::string_view to);
base::Status remove_file(std::string_view path);
// Whether both paths lead to one file that exists.
bool same_file(std::string_view a, std::string_view b);

}  // namespace clef::io
