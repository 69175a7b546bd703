// Writing files: positions, sizes, what exists already, renaming.
#include "io/file_writer.hpp"

#include <filesystem>

#include "io/source.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef;
using namespace clef::test;

namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

TEST_CASE("bytes are written where they belong") {
  const std::string path = temporary_directory() + "/file.bin";
  {
    auto writer = io::open_writer(path, io::Existing::refuse);
    REQUIRE(writer.ok());
    io::FileWriter& file = *writer.value();
    CHECK(file.name() == "file.bin");
    CHECK(file.write(4, bytes("four")).ok());
    CHECK(file.write(0, bytes("zero")).ok());
    CHECK(file.write(8, bytes("eight")).ok());
    CHECK(file.size().value() == 13);
    std::string back(4, '\0');
    CHECK(file.read(4, std::as_writable_bytes(std::span(back))).ok());
    CHECK(back == "four");
    const base::Status short_read = file.read(10, std::as_writable_bytes(std::span(back)));
    CHECK(short_read.code() == base::Code::io);
    CHECK(short_read.detail().file == "file.bin");
    CHECK(file.resize(10).ok());
    CHECK(file.flush().ok());
    // One writer at a time.
    const auto second = io::open_writer(path, io::Existing::keep);
    REQUIRE(!second.ok());
    CHECK(second.status().code() == base::Code::busy);
  }
  CHECK(read_file(path) == "zerofourei");
}

TEST_CASE("files that exist are refused, kept or cleared") {
  const std::string path = temporary_directory() + "/file.bin";
  const auto open = [&](io::Existing existing) { return io::open_writer(path, existing); };
  REQUIRE(open(io::Existing::keep).value()->write(0, bytes("abc")).ok());
  const auto refused = open(io::Existing::refuse);
  REQUIRE(!refused.ok());
  CHECK(refused.status().code() == base::Code::io);
  CHECK(refused.status().message() == "file.bin: cannot be written: it exists already");
  CHECK(open(io::Existing::keep).value()->size().value() == 3);
  CHECK(open(io::Existing::clear).value()->size().value() == 0);
}

TEST_CASE("renaming, deleting, comparing") {
  const std::string directory = temporary_directory();
  const std::string a = directory + "/a", b = directory + "/b";
  REQUIRE(io::open_writer(a, io::Existing::refuse).value()->write(0, bytes("new")).ok());
  REQUIRE(io::open_writer(b, io::Existing::refuse).value()->write(0, bytes("old")).ok());
  CHECK(io::same_file(a, directory + "/./a"));
  CHECK(!io::same_file(a, b));
  CHECK(!io::same_file(a, directory + "/none"));
  CHECK(io::replace_file(a, b).ok());
  CHECK(read_file(b) == "new");
  CHECK(!std::filesystem::exists(a));
  const base::Status missing = io::replace_file(a, b);
  CHECK(missing.code() == base::Code::not_found);
  CHECK(io::remove_file(b).ok());
  CHECK(!std::filesystem::exists(b));
  CHECK(io::remove_file(b).ok());  // it is gone, as wanted
}

TEST_CASE("places where nothing can be written") {
  const std::string directory = temporary_directory();
  CHECK(io::open_writer("", io::Existing::keep).status().code() == base::Code::invalid_argument);
  CHECK(io::open_writer(std::string_view("a\0b", 3), io::Existing::keep).status().code() ==
        base::Code::invalid_argument);
  CHECK(io::open_writer(directory + "/none/file", io::Existing::keep).status().code() == base::Code::not_found);
  CHECK(!io::open_writer(directory, io::Existing::keep).ok());
}
