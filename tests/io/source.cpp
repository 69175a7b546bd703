#include "io/source.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "support/catch.hpp"
#include "support/data.hpp"

namespace io = clef::io;
using clef::base::Code;
using clef::test::temporary_directory;

namespace {

std::string make_file(const std::string& directory, const std::string& name, std::string_view content) {
  const std::string path = directory + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string read_text(const io::ByteSource& source, uint64_t offset, size_t bytes) {
  std::string out(bytes, '?');
  const auto status = source.read(offset, std::as_writable_bytes(std::span(out.data(), out.size())));
  INFO(status.message());
  REQUIRE(status.ok());
  return out;
}

// Reading past the end is an error that names file and offset, and never overflows.
void check_outside(const io::ByteSource& source) {
  std::byte out[4];
  const std::pair<uint64_t, size_t> outside[] = {
      {source.size(), 1}, {source.size() - 3, 4}, {UINT64_MAX, 1}, {UINT64_MAX - 1, 4}, {UINT64_MAX, 0}};
  for (const auto& [offset, bytes] : outside) {
    INFO(offset << " " << bytes);
    const auto status = source.read(offset, std::span(out, bytes));
    REQUIRE(!status.ok());
    CHECK(status.code() == Code::io);
    CHECK(status.detail().file == source.name());
    if (offset <= INT64_MAX) CHECK(status.detail().offset == static_cast<int64_t>(offset));
  }
  CHECK(source.read(source.size(), std::span(out, 0)).ok());
}

int open_read(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

TEST_CASE("a file is mapped") {
  const std::string path = make_file(temporary_directory(), "weights.bin", "0123456789");
  const auto source = io::open_path(path);
  REQUIRE(source.ok());
  const io::ByteSource& file = *source.value();
  CHECK(file.name() == "weights.bin");
  CHECK(file.size() == 10);
  REQUIRE(file.data() != nullptr);
  CHECK(std::memcmp(file.data(), "0123456789", 10) == 0);
  CHECK(read_text(file, 3, 4) == "3456");
  CHECK(read_text(file, 0, 10) == "0123456789");
  check_outside(file);
  // The mapping outlives the name.
  CHECK(unlink(path.c_str()) == 0);
  CHECK(read_text(file, 9, 1) == "9");
}

TEST_CASE("an empty file is a source of no bytes") {
  const auto source = io::open_path(make_file(temporary_directory(), "empty", ""));
  REQUIRE(source.ok());
  CHECK(source.value()->size() == 0);
  std::string storage;
  const auto all = io::read_all(*source.value(), storage, 0);
  REQUIRE(all.ok());
  CHECK(all.value().empty());
}

TEST_CASE("symbolic links are followed and keep their own name") {
  const std::string directory = temporary_directory();
  make_file(directory, "blob", "abc");
  REQUIRE(symlink("blob", (directory + "/model.safetensors").c_str()) == 0);
  REQUIRE(symlink("nothing", (directory + "/dangling").c_str()) == 0);
  const auto source = io::open_path(directory + "/model.safetensors");
  REQUIRE(source.ok());
  CHECK(source.value()->name() == "model.safetensors");
  CHECK(read_text(*source.value(), 0, 3) == "abc");
  CHECK(io::open_path(directory + "/dangling").status().code() == Code::not_found);
  CHECK(io::path_kind(directory + "/dangling") == io::PathKind::missing);
}

TEST_CASE("what is not a regular file is refused by name, without its directory") {
  const std::string directory = temporary_directory();
  const auto refused = [&](const std::string& path, Code code, std::string_view words) {
    INFO(path);
    const auto source = io::open_path(path);
    REQUIRE(!source.ok());
    INFO(source.status().message());
    CHECK(source.status().code() == code);
    CHECK(source.status().message().find(words) != std::string_view::npos);
    CHECK(source.status().message().find(directory) == std::string_view::npos);
    CHECK(source.status().detail().file == io::file_name(path));
  };
  REQUIRE(mkfifo((directory + "/fifo").c_str(), 0600) == 0);
  REQUIRE(mkdir((directory + "/folder").c_str(), 0700) == 0);
  make_file(directory, "file", "x");
  refused(directory + "/fifo", Code::io, "fifo: is a pipe");
  refused(directory + "/folder", Code::io, "folder: is a directory");
  refused("/dev/null", Code::io, "null: is a device");
  refused(directory + "/absent", Code::not_found, "absent: cannot open: no such file");
  refused(directory + "/file/below", Code::not_found, "below: cannot open: a part of the path is not a directory");
  refused(directory + "/" + std::string(300, 'n'), Code::io, "the name is too long");
  REQUIRE(symlink("loop", (directory + "/loop").c_str()) == 0);
  refused(directory + "/loop", Code::io, "too many symbolic links");
  if (geteuid() != 0) {
    REQUIRE(chmod((directory + "/file").c_str(), 0) == 0);
    refused(directory + "/file", Code::io, "permission denied");
  }
  CHECK(io::open_path("").status().code() == Code::invalid_argument);
  CHECK(io::open_path(std::string_view("a\0b", 3)).status().code() == Code::invalid_argument);
}

TEST_CASE("a file that cannot be mapped is read") {
  // More than the address space may hold under the limit set here; the file is a hole, so it takes no room.
  constexpr uint64_t kSize = uint64_t{64} << 30;
  const std::string path = make_file(temporary_directory(), "large", "begin");
  if (truncate(path.c_str(), static_cast<off_t>(kSize)) != 0) {
    WARN("skipped: the file system refuses a file of 64 GiB");
    return;
  }
  {
    std::ofstream out(path, std::ios::binary | std::ios::in);
    out.seekp(static_cast<std::streamoff>(kSize - 3));
    out << "end";
  }
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit limit = before;
  limit.rlim_cur = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + (uint64_t{4} << 30);
  if (pages == 0 || limit.rlim_cur > before.rlim_max || setrlimit(RLIMIT_AS, &limit) != 0) {
    WARN("skipped: the address space cannot be limited");
    return;
  }
  const auto source = io::open_path(path);
  const int fd = open_read(path);
  const auto range = io::open_fd(fd, kSize - 6, 6, "range");
  const auto rest = io::open_fd(fd, 1, 0, "rest");
  CHECK(close(fd) == 0);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  REQUIRE(source.ok());
  CHECK(source.value()->data() == nullptr);
  CHECK(source.value()->size() == kSize);
  CHECK(read_text(*source.value(), 0, 5) == "begin");
  CHECK(read_text(*source.value(), kSize - 3, 3) == "end");
  check_outside(*source.value());
  std::string storage;
  const auto all = io::read_all(*source.value(), storage, 1000);
  REQUIRE(!all.ok());
  CHECK(all.status().code() == Code::too_long);
  CHECK(storage.empty());
  REQUIRE(range.ok());
  CHECK(range.value()->data() != nullptr);
  CHECK(read_text(*range.value(), 0, 6) == std::string("\0\0\0end", 6));
  REQUIRE(rest.ok());
  CHECK(rest.value()->data() == nullptr);
  CHECK(read_text(*rest.value(), 0, 4) == "egin");
  CHECK(read_text(*rest.value(), kSize - 4, 3) == "end");
  // Cut while it is in use: an error instead of the signal that a mapping would give.
  REQUIRE(truncate(path.c_str(), 100) == 0);
  std::byte out[4];
  const auto cut = source.value()->read(98, out);
  REQUIRE(!cut.ok());
  CHECK(cut.code() == Code::io);
  CHECK(cut.detail().offset == 100);
}

TEST_CASE("a range of a descriptor") {
  const std::string directory = temporary_directory();
  std::string content(10000, ' ');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 26);
  const std::string path = make_file(directory, "pack", content);
  const int fd = open_read(path);
  REQUIRE(fd >= 0);
  // Offsets on both sides of a page boundary, lengths up to the very end.
  for (const auto& [offset, length] :
       {std::pair<uint64_t, uint64_t>{0, 0}, {1, 0}, {4095, 2}, {4096, 100}, {5001, 4999}}) {
    INFO(offset << " " << length);
    const auto source = io::open_fd(fd, offset, length, "assets/part.bin");
    REQUIRE(source.ok());
    const size_t bytes = length == 0 ? content.size() - offset : length;
    CHECK(source.value()->name() == "part.bin");
    REQUIRE(source.value()->size() == bytes);
    CHECK(read_text(*source.value(), 0, bytes) == content.substr(offset, bytes));
    if (bytes > 3) check_outside(*source.value());
  }
  const auto kept = io::open_fd(fd, 10, 5, "kept");
  const auto nothing = io::open_fd(fd, content.size(), 0, "nothing");
  for (const auto& [offset, length] :
       {std::pair<uint64_t, uint64_t>{10001, 0}, {9999, 2}, {UINT64_MAX, 1}, {1, UINT64_MAX}}) {
    INFO(offset << " " << length);
    const auto source = io::open_fd(fd, offset, length, "out");
    REQUIRE(!source.ok());
    CHECK(source.status().code() == Code::out_of_range);
    CHECK(source.status().detail().file == "out");
  }
  CHECK(close(fd) == 0);
  REQUIRE(kept.ok());
  CHECK(read_text(*kept.value(), 0, 5) == content.substr(10, 5));
  REQUIRE(nothing.ok());
  CHECK(nothing.value()->size() == 0);

  CHECK(io::open_handle(nullptr, 0, 0, "x").status().code() == Code::unsupported);
  CHECK(io::open_fd(-1, 0, 0, "x").status().code() == Code::invalid_argument);
  CHECK(io::open_fd(fd, 0, 0, "x").status().code() == Code::invalid_argument);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(io::open_fd(ends[0], 0, 0, "x").status().code() == Code::io);
  close(ends[0]);
  close(ends[1]);
  const int writer = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const auto unreadable = io::open_fd(writer, 0, 0, "w");
  REQUIRE(!unreadable.ok());
  CHECK(unreadable.status().code() == Code::io);
  CHECK(unreadable.status().message().find("not open for reading") != std::string_view::npos);
  close(writer);
}

TEST_CASE("memory, borrowed and copied") {
  std::string bytes = "memory";
  const std::span<const std::byte> view = std::as_bytes(std::span(bytes));
  int released = 0;
  {
    const auto borrowed = io::from_memory(view, false, "some/where", [&] { ++released; });
    const auto copied = io::from_memory(view, true, "");
    REQUIRE(borrowed.ok());
    REQUIRE(copied.ok());
    bytes[0] = 'M';
    CHECK(borrowed.value()->data() == view.data());
    CHECK(borrowed.value()->name() == "where");
    CHECK(copied.value()->name() == "unnamed");
    CHECK(read_text(*borrowed.value(), 0, 6) == "Memory");
    CHECK(read_text(*copied.value(), 0, 6) == "memory");
    check_outside(*borrowed.value());
    CHECK(released == 0);
  }
  CHECK(released == 1);
  const auto null = io::from_memory({static_cast<const std::byte*>(nullptr), 3}, false, "x", [&] { ++released; });
  CHECK(null.status().code() == Code::invalid_argument);
  CHECK(released == 1);
  CHECK(io::from_memory({}, true, "x").ok());
}

TEST_CASE("callbacks") {
  const std::string bytes = "callback";
  int released = 0;
  int answer = 0;
  const auto reader = [&](uint64_t offset, void* out, size_t count) {
    std::memcpy(out, bytes.data() + offset, count);
    return answer;
  };
  {
    const auto source = io::from_callbacks({bytes.size(), reader, [&] { ++released; }}, "archive");
    REQUIRE(source.ok());
    CHECK(source.value()->data() == nullptr);
    CHECK(read_text(*source.value(), 4, 4) == "back");
    check_outside(*source.value());
    std::string storage;
    const auto all = io::read_all(*source.value(), storage, bytes.size());
    REQUIRE(all.ok());
    CHECK(all.value() == bytes);
    CHECK(all.value().data() == storage.data());
    CHECK(io::read_all(*source.value(), storage, bytes.size() - 1).status().code() == Code::too_long);
    answer = 7;
    std::byte out[2];
    const auto failed = source.value()->read(5, out);
    REQUIRE(!failed.ok());
    CHECK(failed.code() == Code::io);
    CHECK(failed.detail().file == "archive");
    CHECK(failed.detail().offset == 5);
    CHECK(failed.message().find("answered 7") != std::string_view::npos);
    CHECK(io::read_all(*source.value(), storage, 100).status().code() == Code::io);
  }
  CHECK(released == 1);
  CHECK(io::from_callbacks({5, {}, [&] { ++released; }}, "x").status().code() == Code::invalid_argument);
  CHECK(io::from_callbacks({UINT64_MAX, reader, [&] { ++released; }}, "x").status().code() == Code::invalid_argument);
  CHECK(released == 1);
}

TEST_CASE("read_all gives a view of memory") {
  const std::string bytes = "view";
  const auto source = io::from_memory(std::as_bytes(std::span(bytes)), false, "m");
  std::string storage;
  const auto all = io::read_all(*source.value(), storage, 4);
  REQUIRE(all.ok());
  CHECK(static_cast<const void*>(all.value().data()) == bytes.data());
  CHECK(io::read_all(*source.value(), storage, 3).status().code() == Code::too_long);
}

TEST_CASE("directories are listed in order") {
  const std::string directory = temporary_directory();
  for (const char* name : {"b", "a", "\xc3\xa9", ".hidden"}) make_file(directory, name, "");
  REQUIRE(mkdir((directory + "/c").c_str(), 0700) == 0);
  const auto names = io::list_directory(directory);
  REQUIRE(names.ok());
  CHECK(names.value() == std::vector<std::string>{".hidden", "a", "b", "c", "\xc3\xa9"});
  CHECK(io::list_directory(directory + "/absent").status().code() == Code::not_found);
  CHECK(io::list_directory(directory + "/a").status().code() == Code::not_found);
  CHECK(io::list_directory("").status().code() == Code::invalid_argument);

  CHECK(io::path_kind(directory) == io::PathKind::directory);
  CHECK(io::path_kind(directory + "/a") == io::PathKind::file);
  CHECK(io::path_kind(directory + "/absent") == io::PathKind::missing);
  CHECK(io::path_kind("/dev/null") == io::PathKind::other);
  CHECK(io::path_kind("") == io::PathKind::missing);
}
