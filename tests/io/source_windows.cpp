// Files and handles on Windows.
#include <windows.h>

#include <fstream>

#include "io/source.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace io = clef::io;
using clef::base::Code;

namespace {

std::string read_text(const io::ByteSource& source, uint64_t offset, size_t bytes) {
  std::string out(bytes, '?');
  REQUIRE(source.read(offset, std::as_writable_bytes(std::span(out.data(), out.size()))).ok());
  return out;
}

}  // namespace

TEST_CASE("a file by path and by handle") {
  const std::string path = io::join_path(clef::test::temporary_directory(), "pack");
  std::string content(10000, ' ');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 26);
  std::ofstream(path, std::ios::binary) << content;

  const auto whole = io::open_path(path);
  REQUIRE(whole.ok());
  CHECK(whole.value()->name() == "pack");
  CHECK(read_text(*whole.value(), 0, content.size()) == content);
  CHECK(io::open_path(path + "x").status().code() == Code::not_found);
  CHECK(io::open_path(io::parent_path(path)).status().code() == Code::io);

  const HANDLE handle = CreateFileA(path.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr);
  REQUIRE(handle != INVALID_HANDLE_VALUE);
  for (const auto& [offset, length] :
       {std::pair<uint64_t, uint64_t>{0, 0}, {1, 0}, {4095, 2}, {4096, 100}, {5001, 4999}, {10000, 0}}) {
    INFO(offset << " " << length);
    const auto source = io::open_handle(handle, offset, length, "assets/part.bin");
    REQUIRE(source.ok());
    const size_t bytes = length == 0 ? content.size() - offset : length;
    CHECK(source.value()->name() == "part.bin");
    REQUIRE(source.value()->size() == bytes);
    CHECK(read_text(*source.value(), 0, bytes) == content.substr(offset, bytes));
    if (source.value()->data() && bytes != 0)
      CHECK(*source.value()->data() == static_cast<std::byte>(content[static_cast<size_t>(offset)]));
    std::byte after[1];
    CHECK(source.value()->read(bytes, after).code() == Code::io);
  }
  for (const auto& [offset, length] :
       {std::pair<uint64_t, uint64_t>{10001, 0}, {9999, 2}, {UINT64_MAX, 1}, {1, UINT64_MAX}})
    CHECK(io::open_handle(handle, offset, length, "out").status().code() == Code::out_of_range);
  const auto kept = io::open_handle(handle, 10, 5, "kept");
  CHECK(CloseHandle(handle));
  REQUIRE(kept.ok());
  CHECK(read_text(*kept.value(), 0, 5) == content.substr(10, 5));
  CHECK(io::open_handle(nullptr, 0, 0, "x").status().code() == Code::invalid_argument);
  CHECK(io::open_fd(0, 0, 0, "x").status().code() == Code::unsupported);
}
