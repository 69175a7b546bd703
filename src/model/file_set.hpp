// The caller's files by the names they have in the release's directory, wherever they come from. Inside src/model only.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/source.hpp"
#include "model/package.hpp"

namespace clef::model {

// Files that were named one by one come first, then directories in the caller's order, then those around named files.
// Two names have a meaning of their own with paths: "head", the directory of the decision head or its
// joint_head.safetensors, which comes before all other heads, and "mmproj", a projector.
class FileSet {
 public:
  struct Item {
    std::string name;
    io::SourcePtr source;
    std::string directory;   // where a path was, for its siblings; empty for open sources
    bool projector = false;  // given as "mmproj"
  };

  // Opens every file that was named, and lists nothing yet. Errors: invalid_argument, not_found, io.
  static base::Result<FileSet> create(const Files& files);

  bool has(std::string_view name) const;
  // nullptr when there is no such file; errors are those of opening it.
  base::Result<io::SourcePtr> find(std::string_view name) const;
  // missing_part with `advice` when there is no such file.
  base::Result<io::SourcePtr> open(std::string_view name, std::string_view advice) const;
  // The same for a file of the decision head.
  base::Result<io::SourcePtr> open_head(std::string_view name, std::string_view advice) const;
  // Whether the caller said where the head is.
  bool head_given() const noexcept { return !head_directory_.empty(); }

  // The same with other files and no directories but the head's.
  FileSet with_items(std::vector<Item> items, std::string name) const;

  const std::vector<Item>& items() const noexcept { return items_; }
  // Directories that the caller named, without those around named files.
  std::span<const std::string> directories() const noexcept { return {directories_.data(), named_directories_}; }
  // What to call a model made of several files.
  std::string directory_name() const;

 private:
  std::string path_of(std::string_view name) const;  // empty when no directory has it

  std::vector<Item> items_;
  std::vector<std::string> directories_;
  std::string head_directory_, name_;
  size_t named_directories_ = 0;  // the first ones
};

// All of a small file. `storage` holds the bytes of a source that is not in memory.
base::Result<std::string_view> read_text(const io::ByteSource& source, std::string& storage, uint64_t limit);
// Parses a JSON file; errors are bad_file with its name.
base::Result<json::Document> read_json(const io::ByteSource& source);

// Names from files that lead out of their directory.
bool is_plain_name(std::string_view name) noexcept;

}  // namespace clef::model
