#include "io/source.hpp"
#include "support/catch.hpp"

namespace io = clef::io;

TEST_CASE("join_path puts one separator") {
  CHECK(io::join_path("a", "b") == "a/b");
  CHECK(io::join_path("a/", "b") == "a/b");
  CHECK(io::join_path("/", "b") == "/b");
  CHECK(io::join_path("", "b") == "b");
}

TEST_CASE("file_name is the last component") {
  CHECK(io::file_name("a/b.gguf") == "b.gguf");
  CHECK(io::file_name("/b") == "b");
  CHECK(io::file_name("b") == "b");
  CHECK(io::file_name("a/b//") == "b");
  CHECK(io::file_name("/") == "/");
  CHECK(io::file_name("//") == "/");
  CHECK(io::file_name("") == "");
}

TEST_CASE("parent_path is the directory") {
  CHECK(io::parent_path("a/b") == "a");
  CHECK(io::parent_path("a//b") == "a");
  CHECK(io::parent_path("/b") == "/");
  CHECK(io::parent_path("/a/b/") == "/a");
  CHECK(io::parent_path("b") == ".");
  CHECK(io::parent_path("") == ".");
  CHECK(io::parent_path("/") == "/");
}
