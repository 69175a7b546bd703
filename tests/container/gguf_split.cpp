#include "container/gguf.hpp"
#include "container/sources.hpp"
#include "support/gguf_writer.hpp"

using namespace clef::test;
using namespace clef::container;
using clef::base::Code;

namespace {

Gguf part(const std::string& name, int number, int count, int tensors, const std::vector<std::string>& names) {
  GgufWriter w;
  w.add_string("from", name).add_u16("split.no", static_cast<uint16_t>(number));
  w.add_u16("split.count", static_cast<uint16_t>(count)).add_i32("split.tensors.count", tensors);
  for (const std::string& tensor : names) w.add_f32_tensor(tensor, {1}, {static_cast<float>(number)});
  auto file = read_gguf(memory_source(w.bytes(), name));
  REQUIRE(file.ok());
  return std::move(file).value();
}

std::vector<Gguf> list(Gguf a, Gguf b) {
  std::vector<Gguf> parts;
  parts.push_back(std::move(a));
  parts.push_back(std::move(b));
  return parts;
}

void refused(std::vector<Gguf> parts, Code code, std::string_view words, std::string_view file,
             std::string_view tensor = "") {
  const auto merged = merge_gguf(std::move(parts));
  INFO("expected: " << words);
  REQUIRE(!merged.ok());
  INFO(merged.status().message());
  CHECK(merged.status().code() == code);
  CHECK(merged.status().message().find(words) != std::string_view::npos);
  CHECK(merged.status().detail().file == file);
  CHECK(merged.status().detail().tensor == tensor);
}

}  // namespace

TEST_CASE("names of parts") {
  CHECK(split_names("x-00001-of-00003.gguf") ==
        std::vector<std::string>{"x-00001-of-00003.gguf", "x-00002-of-00003.gguf", "x-00003-of-00003.gguf"});
  CHECK(split_names("a-00001-of-00001-00002-of-00002.gguf").back() == "a-00001-of-00001-00002-of-00002.gguf");
  CHECK(split_names("x-99999-of-99999.gguf").size() == 99999);
  for (const char* name :
       {"", "x.gguf", "-00001-of-00003.gguf", "x-00000-of-00003.gguf", "x-00004-of-00003.gguf", "x-0001-of-00003.gguf",
        "x-00001-of-0000a.gguf", "x-00001-in-00003.gguf", "x_00001-of-00003.gguf", "x-00001-of-00003.gguf2",
        "x-00001-of-00003.bin", "x-+0001-of-00003.gguf"}) {
    INFO(name);
    CHECK(split_names(name).empty());
  }
}

TEST_CASE("parts are merged in their own order") {
  const auto merged = merge_gguf(list(part("b", 1, 2, 3, {"y", "z"}), part("a", 0, 2, 3, {"x"})));
  REQUIRE(merged.ok());
  const Gguf& file = merged.value();
  CHECK(file.files == std::vector<std::string>{"a", "b"});
  REQUIRE(file.tensors.size() == 3);
  CHECK(file.tensors[0].name == "x");
  CHECK(file.tensors[2].name == "z");
  CHECK(file.tensors[2].source->name() == "b");
  CHECK(values_of(file.tensors[2])[0] == 1.0f);
  std::string_view from;
  REQUIRE(file.get_string("from", from));
  CHECK(from == "a");
}

TEST_CASE("a file in one part needs no split keys") {
  std::vector<Gguf> parts;
  parts.push_back(std::move(read_gguf(memory_source(GgufWriter().add_f32_tensor("x", {1}, {1.0f}).bytes()))).value());
  CHECK(merge_gguf(std::move(parts)).ok());
  std::vector<Gguf> one;
  one.push_back(part("a", 0, 1, 1, {"x"}));
  CHECK(merge_gguf(std::move(one)).ok());
}

TEST_CASE("parts that do not belong together are refused") {
  refused({}, Code::missing_part, "no part", "");
  std::vector<Gguf> alone;
  alone.push_back(part("a", 0, 3, 3, {"x"}));
  refused(std::move(alone), Code::missing_part, "in 3 parts, but 1 were given", "a");
  refused(list(part("a", 0, 2, 2, {"x"}), part("b", 0, 2, 2, {"y"})), Code::missing_part, "part 2 of 2 is missing",
          "b");
  refused(list(part("a", 1, 2, 2, {"x"}), part("b", 1, 2, 2, {"y"})), Code::missing_part, "part 1 of 2 is missing",
          "a");
  refused(list(part("a", 0, 2, 2, {"x"}), part("b", 2, 2, 2, {"y"})), Code::bad_file, "part 3 of 2", "b");
  refused(list(part("a", 0, 2, 2, {"x"}), part("b", 1, 3, 2, {"y"})), Code::missing_part, "in 3 parts", "b");
  refused(list(part("a", 0, 2, 5, {"x"}), part("b", 1, 2, 5, {"y"})), Code::bad_file, "hold 2 tensors, but", "a");
  refused(list(part("a", 0, 2, 2, {"x"}), part("b", 1, 2, 2, {"x"})), Code::bad_file, "is there twice", "b", "x");
  auto plain = read_gguf(memory_source(GgufWriter().bytes(), "c"));
  REQUIRE(plain.ok());
  refused(list(part("a", 0, 2, 2, {"x"}), std::move(plain).value()), Code::bad_file, "'split.no'", "c");
}
