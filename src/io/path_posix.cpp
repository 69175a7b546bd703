// Files on POSIX systems: mapped read-only, or read with pread where mapping is refused.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "io/posix.hpp"
#include "io/range.hpp"
#include "io/source.hpp"

namespace clef::io {
namespace {

static_assert(sizeof(off_t) == 8, "build with _FILE_OFFSET_BITS=64");

// strerror speaks the host's language and is not safe between threads everywhere.
std::string error_text(int error) {
  switch (error) {
    case ENOENT:
      return "no such file or directory";
    case ENOTDIR:
      return "a part of the path is not a directory";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EROFS:
      return "the file system is read-only";
    case ENOSPC:
      return "no space left on the device";
    case EDQUOT:
      return "the disk quota is used up";
    case EFBIG:
      return "larger files are not allowed here";
    case EISDIR:
      return "it is a directory";
    case EEXIST:
      return "it exists already";
    case ETXTBSY:
      return "it is in use";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ELOOP:
      return "it is a symbolic link, or there are too many symbolic links";
    case ENAMETOOLONG:
      return "the name is too long";
    case ENOMEM:
      return "out of memory";
    case EIO:
      return "input/output error";
    case EBADF:
      return "the descriptor is not open for reading";
    default:
      return "system error " + std::to_string(error);
  }
}

}  // namespace

base::Status posix_error(std::string_view name, std::string_view action, int error, int64_t offset) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return file_error(missing ? base::Code::not_found : base::Code::io, name,
                    std::string(action) + ": " + error_text(error), offset);
}

namespace {

base::Status check_regular(const struct stat& info, std::string_view name) {
  if (S_ISREG(info.st_mode)) return {};
  std::string_view what = "is not a regular file";
  if (S_ISDIR(info.st_mode)) what = "is a directory, not a file";
  if (S_ISFIFO(info.st_mode)) what = "is a pipe; only regular files can be read";
  if (S_ISSOCK(info.st_mode)) what = "is a socket; only regular files can be read";
  if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) what = "is a device; only regular files can be read";
  return file_error(base::Code::io, name, what);
}

struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  explicit Descriptor(int value) : fd(value) {}
  Descriptor(Descriptor&& other) noexcept : fd(other.fd) { other.fd = -1; }
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
};

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, Descriptor descriptor, uint64_t offset, uint64_t size)
      : name_(std::move(name)), descriptor_(std::move(descriptor)), offset_(offset), size_(size) {
    map();
  }
  ~FileSource() override {
    if (mapping_ != nullptr) munmap(mapping_, mapped_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return size_; }
  const std::byte* data() const noexcept override { return data_; }

  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    CLEF_RETURN_IF_ERROR(check_range(name_, size_, offset, out.size()));
    if (data_ != nullptr) {
      if (!out.empty()) std::memcpy(out.data(), data_ + offset, out.size());
      return {};
    }
    while (!out.empty()) {
      const size_t step = std::min(out.size(), kLargestRead);
      const ssize_t got = pread(descriptor_.fd, out.data(), step, static_cast<off_t>(offset_ + offset));
      const int error = got < 0 ? errno : 0;
      const auto place = static_cast<int64_t>(offset);
      if (error == EINTR) continue;
      if (error != 0) return posix_error(name_, "cannot read at offset " + std::to_string(offset), error, place);
      if (got == 0)
        return file_error(base::Code::io, name_,
                          "ends at offset " + std::to_string(offset) + "; it was cut while it was in use", place);
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return {};
  }

 private:
  static constexpr size_t kLargestRead = size_t{1} << 30;  // some systems refuse 2 GiB and more

  // On success the descriptor is closed: a model of many parts should not use up the host's descriptors.
  void map() noexcept {
    if (size_ == 0) return;
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t lead = offset_ % page;
    if (size_ > SIZE_MAX - lead) return;
    const auto bytes = static_cast<size_t>(size_ + lead);
    void* start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor_.fd, static_cast<off_t>(offset_ - lead));
    if (start == MAP_FAILED) return;
    mapping_ = start;
    mapped_ = bytes;
    data_ = static_cast<const std::byte*>(start) + lead;
    close(descriptor_.fd);
    descriptor_.fd = -1;
  }

  std::string name_;
  Descriptor descriptor_;
  uint64_t offset_;
  uint64_t size_;
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  const std::byte* data_ = nullptr;
};

base::Result<SourcePtr> make_source(std::string name, Descriptor descriptor, uint64_t offset, uint64_t size) {
  auto source = std::make_shared<FileSource>(std::move(name), std::move(descriptor), offset, size);
  // Without a mapping nothing has touched the file yet; find out now whether it can be read at all.
  std::byte first;
  if (size > 0 && source->data() == nullptr) CLEF_RETURN_IF_ERROR(source->read(0, std::span(&first, 1)));
  return SourcePtr(std::move(source));
}

}  // namespace

base::Result<SourcePtr> open_path(std::string_view path) {
  CLEF_RETURN_IF_ERROR(check_path(path));
  const std::string terminated(path);
  std::string name = display_name(path);
  struct stat info = {};
  // Asked before opening: opening a device may have effects, and opening a pipe may wait for ever.
  if (stat(terminated.c_str(), &info) != 0) return posix_error(name, "cannot open", errno);
  CLEF_RETURN_IF_ERROR(check_regular(info, name));
  int fd = -1;
  do {
    fd = open(terminated.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return posix_error(name, "cannot open", errno);
  Descriptor descriptor(fd);
  if (fstat(fd, &info) != 0) return posix_error(name, "cannot look at the file", errno);
  CLEF_RETURN_IF_ERROR(check_regular(info, name));
  return make_source(std::move(name), std::move(descriptor), 0, static_cast<uint64_t>(info.st_size));
}

base::Result<SourcePtr> open_fd(int fd, uint64_t offset, uint64_t length, std::string_view name) {
  std::string shown = display_name(name);
  struct stat info = {};
  if (fd < 0 || fstat(fd, &info) != 0)
    return file_error(base::Code::invalid_argument, shown, "descriptor " + std::to_string(fd) + " is not open");
  CLEF_RETURN_IF_ERROR(check_regular(info, shown));
  const auto size = static_cast<uint64_t>(info.st_size);
  CLEF_RETURN_IF_ERROR(check_part(shown, size, offset, length));
  Descriptor descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (descriptor.fd < 0) return posix_error(shown, "cannot duplicate the descriptor", errno);
  return make_source(std::move(shown), std::move(descriptor), offset, length == 0 ? size - offset : length);
}

base::Result<SourcePtr> open_handle(void*, uint64_t, uint64_t, std::string_view name) {
  return file_error(base::Code::unsupported, display_name(name),
                    "Windows handles are not supported on this system; give a descriptor");
}

PathKind path_kind(std::string_view path) {
  if (!check_path(path).ok()) return PathKind::missing;
  struct stat info = {};
  if (stat(std::string(path).c_str(), &info) != 0) return PathKind::missing;
  if (S_ISREG(info.st_mode)) return PathKind::file;
  return S_ISDIR(info.st_mode) ? PathKind::directory : PathKind::other;
}

base::Result<std::vector<std::string>> list_directory(std::string_view path) {
  CLEF_RETURN_IF_ERROR(check_path(path));
  const std::string shown = display_name(path);
  std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(std::string(path).c_str()), [](DIR* d) { return closedir(d); });
  if (directory == nullptr) return posix_error(shown, "cannot open the folder", errno);
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // the only way to tell the end from an error
    const dirent* entry = readdir(directory.get());
    if (entry == nullptr) {
      if (errno != 0) return posix_error(shown, "cannot list the folder", errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace clef::io
