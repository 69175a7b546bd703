// Writing files on POSIX systems.
#include "io/file_writer.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "io/posix.hpp"
#include "io/range.hpp"
#include "io/source.hpp"

namespace clef::io {
namespace {

constexpr size_t kLargestStep = size_t{1} << 30;  // some systems refuse 2 GiB and more

class PosixWriter final : public FileWriter {
 public:
  PosixWriter(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}
  ~PosixWriter() override { close(fd_); }
  PosixWriter(const PosixWriter&) = delete;
  PosixWriter& operator=(const PosixWriter&) = delete;

  const std::string& name() const noexcept override { return name_; }

  base::Result<uint64_t> size() const override {
    struct stat info = {};
    if (fstat(fd_, &info) != 0) return posix_error(name_, "cannot look at the file", errno);
    return static_cast<uint64_t>(info.st_size);
  }

  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t got = pread(fd_, out.data(), std::min(out.size(), kLargestStep), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      const auto place = static_cast<int64_t>(offset);
      if (got < 0) return posix_error(name_, "cannot read at offset " + std::to_string(offset), errno, place);
      if (got == 0) return file_error(base::Code::io, name_, "ends at offset " + std::to_string(offset), place);
      out = out.subspan(static_cast<size_t>(got));
      offset += static_cast<uint64_t>(got);
    }
    return {};
  }

  base::Status write(uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_, bytes.data(), std::min(bytes.size(), kLargestStep), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0)
        return posix_error(name_, "cannot write at offset " + std::to_string(offset), put < 0 ? errno : EIO,
                           static_cast<int64_t>(offset));
      bytes = bytes.subspan(static_cast<size_t>(put));
      offset += static_cast<uint64_t>(put);
    }
    return {};
  }

  base::Status resize(uint64_t size) override {
    int result = 0;
    do {
      result = ftruncate(fd_, static_cast<off_t>(size));
    } while (result != 0 && errno == EINTR);
    return result == 0 ? base::Status() : posix_error(name_, "cannot change the size", errno);
  }

  base::Status flush() override {
    int result = 0;
    do {
      result = fsync(fd_);
    } while (result != 0 && errno == EINTR);
    // Some file systems cannot; their data are as safe as they will be.
    if (result == 0 || errno == EINVAL || errno == ENOSYS) return {};
    return posix_error(name_, "cannot write to the disk", errno);
  }

 private:
  std::string name_;
  int fd_;
};

}  // namespace

base::Result<std::unique_ptr<FileWriter>> open_writer(std::string_view path, Existing existing) {
  CLEF_RETURN_IF_ERROR(check_path(path));
  const std::string terminated(path);
  std::string name = display_name(path);
  // Not O_TRUNC: the file may belong to another writer.
  const int flags =
      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (existing == Existing::refuse ? O_EXCL : 0);
  int fd = -1;
  do {
    fd = open(terminated.c_str(), flags, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return posix_error(name, "cannot be written", errno);
  auto writer = std::make_unique<PosixWriter>(name, fd);
  struct stat info = {};
  if (fstat(fd, &info) != 0) return posix_error(name, "cannot look at the file", errno);
  if (!S_ISREG(info.st_mode)) return file_error(base::Code::io, name, "is not a regular file");
  // Where locks do not exist, writing goes on without.
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return file_error(base::Code::busy, name, "is being written by another program; wait for it, or stop it");
  if (existing == Existing::clear) CLEF_RETURN_IF_ERROR(writer->resize(0));
  return std::unique_ptr<FileWriter>(std::move(writer));
}

base::Status replace_file(std::string_view from, std::string_view to) {
  CLEF_RETURN_IF_ERROR(check_path(from));
  CLEF_RETURN_IF_ERROR(check_path(to));
  if (rename(std::string(from).c_str(), std::string(to).c_str()) != 0)
    return posix_error(display_name(to), "cannot be put in place of " + display_name(from), errno);
  // The name, too, should survive the system; not every file system can promise it.
  const int directory = open(parent_path(to).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (directory >= 0) {
    fsync(directory);
    close(directory);
  }
  return {};
}

base::Status remove_file(std::string_view path) {
  CLEF_RETURN_IF_ERROR(check_path(path));
  if (unlink(std::string(path).c_str()) == 0 || errno == ENOENT) return {};
  return posix_error(display_name(path), "cannot be deleted", errno);
}

bool same_file(std::string_view a, std::string_view b) {
  if (!check_path(a).ok() || !check_path(b).ok()) return false;
  struct stat first = {}, second = {};
  return stat(std::string(a).c_str(), &first) == 0 && stat(std::string(b).c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace clef::io
