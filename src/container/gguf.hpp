// GGUF v3, little-endian: keys, tensor directory, aligned data; split files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "container/tensor_view.hpp"

namespace clef::container {

// A metadata value. Arrays keep their elements in one vector of the right kind; strings view into the file's bytes or
// into storage that lives as long as the Gguf.
struct GgufValue {
  std::variant<uint64_t, int64_t, double, bool, std::string_view, std::vector<int64_t>, std::vector<double>,
               std::vector<std::string_view>>
      value;  // unsigned scalars, signed scalars, floats, bools; arrays of integers and bools, of floats, of strings
};

struct Gguf {
  std::vector<std::pair<std::string, GgufValue>> keys;  // in file order
  std::vector<TensorView> tensors;                      // of all parts
  std::vector<std::string> files;                       // display names of the parts
  std::shared_ptr<const void> storage;

  const GgufValue* find(std::string_view key) const noexcept;
  // Typed look-ups; false when absent or of another kind. get_int takes any integer that fits (and bools as 0/1).
  bool get_int(std::string_view key, int64_t& out) const noexcept;
  bool get_double(std::string_view key, double& out) const noexcept;
  bool get_string(std::string_view key, std::string_view& out) const noexcept;
};

// True when the bytes start with the GGUF magic (of either byte order).
bool is_gguf(const io::ByteSource& source);

// Reads one file. Errors (bad_file or unsupported, with file, tensor or key, and offset): big-endian, versions other
// than 3 (2 is accepted), counts and lengths beyond the file, unknown value types, duplicate keys or tensor names, more
// than 4 dimensions, sizes that overflow, offsets off general.alignment or outside the file, overlapping tensors. A
// tensor of a type that clef does not read yet is kept with format == nullptr.
base::Result<Gguf> read_gguf(const io::SourcePtr& source);

// Merges the parts of a split file (split.no, split.count, split.tensors.count are checked; metadata of part 1 counts).
base::Result<Gguf> merge_gguf(std::vector<Gguf> parts);

// "x-00001-of-00003.gguf" -> all three names; empty when `file_name` is not of that form.
std::vector<std::string> split_names(std::string_view file_name);

}  // namespace clef::container
