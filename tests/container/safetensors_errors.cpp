#include "container/safetensors.hpp"
#include "container/sources.hpp"
#include "support/data.hpp"
#include "support/safetensors_writer.hpp"

using namespace clef::test;
using namespace clef::container;
using clef::base::Code;

namespace {

void refused(const std::string& bytes, std::string_view words, std::string_view tensor = "", int64_t offset = -1) {
  check_error(read_safetensors(memory_source(bytes)), Code::bad_file, words, tensor, offset);
  check_error(read_safetensors(callback_source(bytes)), Code::bad_file, words, tensor, offset);
}

// A file whose header is `header` and whose data are `bytes` long.
void refused_header(const std::string& header, size_t bytes, std::string_view words, std::string_view tensor = "",
                    int64_t offset = -1) {
  refused(SafetensorsWriter::file(header, std::string(bytes, 'd')), words, tensor, offset);
}

std::string with_length(uint64_t length, std::string_view rest) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + std::string(rest);
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"x\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

}  // namespace

TEST_CASE("other files in place of a safetensors file are named") {
  refused("", "an empty file", "", 0);
  refused("1234567", "has 7 bytes, too few");
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 5\n", "a Git LFS pointer");
  refused("<!doctype html>\n<html>", "an HTML page");
  refused("GGUF" + std::string(100, '\0'), "a GGUF file");
  refused("PK\x03\x04" + std::string(100, '\1'), "a zip archive");
  refused("{\"a\": [1, 2, 3]}", "a JSON text");
}

TEST_CASE("bad header lengths") {
  refused(with_length(1000, std::string(50, ' ')), "its header has 1000 bytes, but the whole file has 58", "", 0);
  refused(with_length(UINT64_MAX, "{}"), "its header has 18446744073709551615 bytes; at most");
  refused(with_length(uint64_t{1} << 60, "{}"), "at most 100000000 are allowed");
  refused(with_length(100'000'001, "{}"), "at most 100000000 are allowed");
  refused(with_length(0, ""), "the header is not usable JSON");
  refused(with_length(3, "{}"), "its header has 3 bytes, but the whole file has 10");
  // A source that lies about its size gives its own error.
  const auto lied = read_safetensors(callback_source(with_length(99'999'999, "{}"), "test.bin", uint64_t{1} << 60));
  REQUIRE(!lied.ok());
  CHECK(lied.status().code() == Code::io);
}

TEST_CASE("bad header texts") {
  refused_header("{\"x\":", 0, "the header is not usable JSON");
  refused_header("{\"x\":1]", 0, "the header is not usable JSON", "", -1);
  refused_header("{} {}", 0, "the header is not usable JSON");
  refused_header("{\"\xff\":1}", 0, "the header is not usable JSON");
  refused_header(std::string(100000, '['), 0, "the header is not usable JSON");
  refused_header("[]", 0, "the header is not a JSON object", "", 8);
  refused_header("{\"__metadata__\":[]}", 0, "'__metadata__' in the header is not an object");
  refused_header("{\"__metadata__\":{\"a\":1}}", 0, "holds 'a', which is not a string");
  refused_header("{\"x\":5}", 0, "tensor 'x' is not described by an object", "x", 8);
  refused_header("{\"x\":{}}", 0, "tensor 'x' lacks the field 'dtype'", "x");
  refused_header(R"({"x":{"dtype":"U8","data_offsets":[0,1]}})", 1, "lacks the field 'shape'", "x");
  refused_header(R"({"x":{"dtype":"U8","shape":[1]}})", 1, "lacks the field 'data_offsets'", "x");
  refused_header(R"({"x":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1,
                 "has the field 'shape' twice", "x");
  refused_header(R"({"x":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1, "a dtype that is not a string", "x");
  const std::string x = R"("x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  refused_header("{" + x + "," + x + "}", 1, "tensor 'x' is there twice", "x");
}

TEST_CASE("bad tensors in a header") {
  refused_header(entry("F12", "[1]", "[0,1]"), 1, "the unknown dtype 'F12'", "x");
  refused_header(entry("f32", "[1]", "[0,4]"), 4, "the unknown dtype 'f32'", "x");
  refused_header(entry("U8", "1", "[0,1]"), 1, "a shape that is not an array", "x");
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "[null]", "[9223372036854775808]", "[1e3]", "[[1]]"})
    refused_header(entry("U8", shape, "[0,1]"), 1, "a shape with an entry that is not a size", "x");
  refused_header(entry("U8", "[4294967296,4294967296]", "[0,1]"), 1, "does not fit into 64 bits", "x");
  refused_header(entry("F64", "[9223372036854775807]", "[0,1]"), 1, "does not fit into 64 bits", "x");
  refused_header(entry("U8", "[9223372036854775807,0,3]", "[0,0]"), 0, "does not fit into 64 bits", "x");
  refused_header(entry("F4", "[3]", "[0,2]"), 2, "does not fill whole bytes", "x");
  for (const char* offsets : {"[]", "[0]", "[0,1,2]", "[1,0]", "[-1,0]", "[0,1.5]", "0", "{}", "[0,\"1\"]", "[0,1e0]"})
    refused_header(entry("U8", "[1]", offsets), 1, "data_offsets that are not a begin and an end", "x");
  refused_header(entry("F32", "[2]", "[0,7]"), 7, "is F32 [2] and needs 8 bytes, but data_offsets give 7", "x", 8);
  refused_header(entry("U8", "[1152921504606846976]", "[0,1152921504606846976]"), 1,
                 "ends at data offset 1152921504606846976", "x");
  refused_header(entry("U8", "[2]", "[0,2]"), 1, "ends at data offset 2, but the file of", "x");
}

TEST_CASE("data must be covered once and whole") {
  const auto two = [](const std::string& a, const std::string& b, size_t bytes_a, size_t bytes_b) {
    return R"({"a":{"dtype":"U8","shape":[)" + std::to_string(bytes_a) + R"(],"data_offsets":)" + a +
           R"(},"b":{"dtype":"U8","shape":[)" + std::to_string(bytes_b) + R"(],"data_offsets":)" + b + "}}";
  };
  const auto start = static_cast<int64_t>(8 + two("[0,4]", "[3,7]", 4, 4).size());
  refused_header(two("[0,4]", "[3,7]", 4, 4), 7, "tensor 'b' overlaps the tensor before it", "b", start + 3);
  refused_header(two("[4,8]", "[0,5]", 4, 5), 8, "tensor 'a' overlaps the tensor before it", "a", start + 4);
  refused_header(two("[0,4]", "[0,4]", 4, 4), 4, "overlaps the tensor before it", "b");
  refused_header(two("[0,4]", "[5,7]", 4, 2), 7, "tensor 'b' leaves a gap of 1 bytes before it", "b", start + 4);
  refused_header(two("[1,4]", "[4,6]", 3, 2), 6, "tensor 'a' leaves a gap of 1 bytes before it", "a", start);
  refused_header(two("[0,4]", "[4,6]", 4, 2), 9, "has 3 bytes after the last tensor", "", start + 6);
  refused_header("{}", 1, "has 1 bytes after the last tensor", "", 10);
  // An empty tensor may lie between others, not inside one.
  CHECK(read_safetensors(memory_source(SafetensorsWriter::file(two("[0,4]", "[4,4]", 4, 0), "1234"))).ok());
  CHECK(read_safetensors(memory_source(SafetensorsWriter::file(two("[0,4]", "[0,0]", 4, 0), "1234"))).ok());
  refused_header(two("[0,4]", "[2,2]", 4, 0), 4, "overlaps", "b");
}

TEST_CASE("a file cut or lengthened anywhere is refused") {
  const std::string bytes = read_file(data_path("models/tiny-flash/joint_head.safetensors"));
  constexpr size_t kHeader = 11448;
  std::vector<size_t> cuts;
  for (size_t cut = 0; cut < 8 + kHeader; ++cut) cuts.push_back(cut);
  for (size_t cut = 8 + kHeader; cut < bytes.size(); cut += 1024) cuts.push_back(cut);
  cuts.push_back(bytes.size() - 1);
  int accepted = 0;
  for (const size_t cut : cuts) {
    const auto view = std::as_bytes(std::span(bytes)).first(cut);
    const auto result = read_safetensors(clef::io::from_memory(view, false, "test.bin").value());
    if (result.ok() || result.status().code() != Code::bad_file || result.status().detail().file != "test.bin")
      ++accepted;
  }
  CHECK(accepted == 0);
  refused(bytes + "x", "has 1 bytes after the last tensor", "", static_cast<int64_t>(bytes.size()));
}

TEST_CASE("bad indexes of shards") {
  const auto bad = [](std::string_view json, std::string_view words, std::string_view tensor = "") {
    check_error(read_safetensors_index(json, "test.bin"), Code::bad_file, words, tensor);
  };
  bad("", "an empty file");
  bad("{", "not usable JSON");
  bad("version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer");
  bad("<html>", "an HTML page");
  bad("{}", "has no object 'weight_map'");
  bad("[]", "has no object 'weight_map'");
  bad(R"({"weight_map":[]})", "has no object 'weight_map'");
  bad(R"({"weight_map":{"a":1}})", "is not mapped to the name of a file", "a");
  for (const char* name : {"", ".", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "a/", "./x", "C:x", "a\\\\b",
                           "\\\\\\\\host", "x\\u0000y", "x\\n"})
    bad(std::string("{\"weight_map\":{\"a\":\"") + name + "\"}}", "is not mapped to the name of a file", "a");
  bad(R"({"weight_map":{"a":"x","a":"y"}})", "is there twice", "a");
}
