// Where bytes come from: a path, a file descriptor, memory, or callbacks. Reads are positional and may be concurrent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace clef::io {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Display name for messages: a file name without its directory ("unnamed" when none was given).
  virtual const std::string& name() const noexcept = 0;
  virtual uint64_t size() const noexcept = 0;
  // Fills `out` from `offset`; an error that names file and offset when fewer bytes are there.
  virtual base::Status read(uint64_t offset, std::span<std::byte> out) const = 0;
  // All bytes in memory (mapped or given), or nullptr when the source can only be read. Valid as long as the source.
  virtual const std::byte* data() const noexcept = 0;
};

using SourcePtr = std::shared_ptr<const ByteSource>;

// Opens a regular file by UTF-8 path and maps it read-only; a file on which mapping fails is read positionally instead.
// Follows symbolic links (the hub's cache is made of them). Errors name the file: not_found, io.
base::Result<SourcePtr> open_path(std::string_view path);
// A range of a descriptor that the caller keeps open until load returns; the descriptor is duplicated. length 0 = to
// the end.
base::Result<SourcePtr> open_fd(int fd, uint64_t offset, uint64_t length, std::string_view name);
// The same for a Windows HANDLE; each is unsupported on the other's system.
base::Result<SourcePtr> open_handle(void* handle, uint64_t offset, uint64_t length, std::string_view name);
// Memory. With copy the bytes are copied, otherwise they must outlive the source; `release` runs when the source goes.
// Here and below: when the call fails, `release` does not run and the caller keeps what it owns.
base::Result<SourcePtr> from_memory(std::span<const std::byte> bytes, bool copy, std::string_view name,
                                    std::function<void()> release = {});
// The host's own reader. read_at returns 0 on success. Calls may come from several threads.
struct ReadCallbacks {
  uint64_t size = 0;
  std::function<int(uint64_t offset, void* out, size_t bytes)> read_at;
  std::function<void()> release;
};
base::Result<SourcePtr> from_callbacks(ReadCallbacks callbacks, std::string_view name);

// All bytes of a source: a view of its memory, or read into `storage`. Refuses more than `limit` bytes (too_long).
base::Result<std::string_view> read_all(const ByteSource& source, std::string& storage, uint64_t limit);

// ---- paths (UTF-8) ----
enum class PathKind { missing, file, directory, other };
PathKind path_kind(std::string_view path);
base::Result<std::vector<std::string>> list_directory(std::string_view path);  // names, sorted, without . and ..
std::string join_path(std::string_view directory, std::string_view name);
std::string file_name(std::string_view path);    // last component
std::string parent_path(std::string_view path);  // directory part, "." when there is none

}  // namespace clef::io
