#include "model/file_set.hpp"

#include <algorithm>

#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

constexpr uint64_t kMaxJsonBytes = uint64_t{64} << 20;
constexpr std::string_view kHeadName = "head";
constexpr std::string_view kProjectorName = "mmproj";

std::string last_part(std::string_view path) {
  return io::file_name(path);
}

// A directory of the hub's cache is called after a revision: models--OWNER--NAME/snapshots/REVISION.
std::string name_of_directory(std::string_view path) {
  const std::string snapshots = io::parent_path(path);
  if (last_part(snapshots) == "snapshots") {
    const std::string repository = last_part(io::parent_path(snapshots));
    const size_t cut = repository.rfind("--");
    if (repository.starts_with("models--") && cut + 2 < repository.size()) return repository.substr(cut + 2);
  }
  const std::string name = last_part(path);
  return name.empty() || name == "." || name == ".." || name == "/" ? "model" : name;
}

}  // namespace

bool is_plain_name(std::string_view name) noexcept {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\\:\0", 4)) == name.npos;
}

base::Result<FileSet> FileSet::create(const Files& files) {
  FileSet set;
  std::vector<std::string> around;
  if (files.entries.empty())
    return Status(Code::invalid_argument, "no files were given; add a model's path or sources");
  for (const Files::Entry& entry : files.entries) {
    if (entry.source) {
      set.items_.push_back({entry.name.empty() ? entry.source->name() : entry.name, entry.source, {}});
      continue;
    }
    if (entry.path.empty())
      return Status(Code::invalid_argument, "a file was given with neither a path nor a source; give one of them");
    const std::string shown = last_part(entry.path);
    const bool is_head = entry.name == kHeadName, is_projector = entry.name == kProjectorName;
    switch (io::path_kind(entry.path)) {
      case io::PathKind::directory:
        if (is_projector)
          return file_error(Code::invalid_argument, shown, "is a directory; a projector is a GGUF file");
        if (is_head) {
          set.head_directory_ = entry.path;
          break;
        }
        set.directories_.push_back(entry.path);
        break;
      case io::PathKind::file: {
        CLEF_ASSIGN_OR_RETURN(io::SourcePtr source, io::open_path(entry.path));
        std::string directory = io::parent_path(entry.path);
        if (is_head) {
          set.head_directory_ = directory;
          set.items_.push_back({"joint_head.safetensors", std::move(source), std::move(directory)});
          break;
        }
        if (!is_projector) around.push_back(directory);
        set.items_.push_back({entry.name.empty() || is_projector ? shown : entry.name, std::move(source),
                              std::move(directory), is_projector});
        break;
      }
      case io::PathKind::missing:
        return file_error(Code::not_found, shown,
                          "there is no such file or directory; give the path of a model's directory or file");
      case io::PathKind::other:
        return file_error(Code::not_found, shown, "is neither a file nor a directory");
    }
  }
  for (size_t i = 0; i < set.items_.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (set.items_[i].name == set.items_[k].name)
        return file_error(Code::invalid_argument, set.items_[i].name, "was given twice; give each file once");
  set.named_directories_ = set.directories_.size();
  set.directories_.insert(set.directories_.end(), around.begin(), around.end());
  return set;
}

std::string FileSet::path_of(std::string_view name) const {
  for (const std::string& directory : directories_) {
    std::string path = io::join_path(directory, name);
    if (io::path_kind(path) == io::PathKind::file) return path;
  }
  return {};
}

bool FileSet::has(std::string_view name) const {
  for (const Item& item : items_)
    if (item.name == name) return true;
  return !path_of(name).empty();
}

base::Result<io::SourcePtr> FileSet::find(std::string_view name) const {
  for (const Item& item : items_)
    if (item.name == name) return item.source;
  const std::string path = path_of(name);
  if (path.empty()) return io::SourcePtr();
  return io::open_path(path);
}

base::Result<io::SourcePtr> FileSet::open(std::string_view name, std::string_view advice) const {
  CLEF_ASSIGN_OR_RETURN(io::SourcePtr source, find(name));
  if (source) return source;
  return file_error(Code::missing_part, name, "is missing; " + std::string(advice));
}

base::Result<io::SourcePtr> FileSet::open_head(std::string_view name, std::string_view advice) const {
  const bool is_item = std::any_of(items_.begin(), items_.end(), [&](const Item& item) { return item.name == name; });
  if (head_directory_.empty() || is_item) return open(name, advice);
  const std::string path = io::join_path(head_directory_, name);
  if (io::path_kind(path) == io::PathKind::file) return io::open_path(path);
  return file_error(Code::missing_part, name,
                    "is missing in the head's directory; it must hold joint_head_config.json and "
                    "joint_head.safetensors");
}

FileSet FileSet::with_items(std::vector<Item> items, std::string name) const {
  FileSet set;
  set.items_ = std::move(items);
  set.head_directory_ = head_directory_;
  set.name_ = std::move(name);
  return set;
}

std::string FileSet::directory_name() const {
  if (!name_.empty()) return name_;
  return directories_.empty() ? "model" : name_of_directory(directories_.front());
}

base::Result<std::string_view> read_text(const io::ByteSource& source, std::string& storage, uint64_t limit) {
  if (source.size() > limit)
    return file_error(Code::bad_file, source.name(),
                      "has " + std::to_string(source.size()) + " bytes; at most " + std::to_string(limit) +
                          " are sensible for such a file");
  return io::read_all(source, storage, limit);
}

base::Result<json::Document> read_json(const io::ByteSource& source) {
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, read_text(source, storage, kMaxJsonBytes));
  base::Result<json::Document> document = json::parse(text);
  if (document.ok()) return document;
  const container::FileKind kind = container::guess_kind(text.substr(0, 512));
  if (kind != container::FileKind::json && kind != container::FileKind::unknown)
    return container::wrong_kind(source.name(), "JSON file", kind);
  const base::ErrorDetail& detail = document.status().detail();
  return file_error(Code::bad_file, source.name(), "is not usable JSON: " + detail.message).at_offset(detail.offset);
}

}  // namespace clef::model
