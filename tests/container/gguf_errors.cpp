#include <set>

#include "container/gguf.hpp"
#include "container/sources.hpp"
#include "support/data.hpp"
#include "support/gguf_writer.hpp"

using namespace clef::test;
using namespace clef::container;
using clef::base::Code;
using W = GgufWriter;

namespace {

// The error must be the same whether the file is in memory or can only be read.
void refused(const std::string& bytes, Code code, std::string_view words, std::string_view tensor = "",
             int64_t offset = -1) {
  check_error(read_gguf(memory_source(bytes)), code, words, tensor, offset);
  check_error(read_gguf(callback_source(bytes)), code, words, tensor, offset);
}

// A file with something of everything; its last tensor ends with the file.
GgufWriter sample() {
  GgufWriter w;
  w.add_string("general.architecture", "clef").add_u32("general.alignment", 32).add_bool("flag", true);
  w.add_strings("tokens", {"a", "", "ccc"}).add_f32s("scores", {1.0f, 2.0f}).add_f32("eps", 1e-6f);
  w.add_f32_tensor("one", {2, 4}, std::vector<float>(8, 1.0f));
  w.add_tensor("two", 8, {1, 32}, std::string(34, 'q'));
  w.add_tensor("three", 30, {700}, std::string(1400, 'b'));
  return w;
}

}  // namespace

TEST_CASE("big-endian files and other versions are named") {
  const auto recorded = read_gguf(path_source(data_path("gguf/big-endian.gguf")));
  REQUIRE(!recorded.ok());
  CHECK(recorded.status().code() == Code::unsupported);
  CHECK(recorded.status().message().find("big-endian") != std::string_view::npos);
  CHECK(recorded.status().detail().file == "big-endian.gguf");
  refused("FUGG" + std::string(40, '\0'), Code::unsupported, "big-endian");
  GgufWriter w;
  for (const uint32_t version : {0u, 1u, 4u, 0xffffffffu}) {
    w.version = version;
    refused(w.bytes(), Code::unsupported, "version " + std::to_string(version) + "; versions 2 and 3", "", 4);
  }
}

TEST_CASE("other files in place of a GGUF file are named") {
  refused("", Code::bad_file, "an empty file", "", 0);
  refused("GGU", Code::bad_file, "is not a GGUF file", "", 0);
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:12", Code::bad_file, "a Git LFS pointer");
  refused("\n <!DOCTYPE html><html>", Code::bad_file, "an HTML page");
  refused("<html><head>", Code::bad_file, "an HTML page");
  refused("<?xml version=\"1.0\"?><Error>", Code::bad_file, "an XML text");
  refused("PK\x03\x04" + std::string(40, '\0'), Code::bad_file, "a zip archive");
  refused("lmgg" + std::string(40, '\0'), Code::bad_file, "an old GGML file");
  refused(std::string("\x02\0\0\0\0\0\0\0{}", 10), Code::bad_file, "a safetensors file");
  refused("{\"a\": 1}", Code::bad_file, "a JSON text");
  refused(std::string(100, 'x'), Code::bad_file, "is not a GGUF file");
}

TEST_CASE("a file cut anywhere is refused") {
  const std::string bytes = sample().bytes();
  const size_t header = sample().header().size();
  REQUIRE(read_gguf(memory_source(bytes)).ok());
  std::vector<size_t> cuts;
  for (size_t cut = 0; cut <= header; ++cut) cuts.push_back(cut);
  for (size_t cut = header + 1; cut < bytes.size(); cut += 7) cuts.push_back(cut);
  cuts.push_back(bytes.size() - 1);
  for (const size_t cut : cuts) {
    INFO("cut at " << cut);
    for (const auto& source : {memory_source(bytes.substr(0, cut)), callback_source(bytes.substr(0, cut))}) {
      const auto result = read_gguf(source);
      REQUIRE(!result.ok());
      CHECK(result.status().code() == Code::bad_file);
      CHECK(result.status().detail().file == "test.bin");
      CHECK(result.status().detail().offset <= static_cast<int64_t>(cut));
    }
  }
}

TEST_CASE("a real file cut anywhere is refused") {
  const std::string bytes = read_file(data_path("gguf/mini-q8_0.gguf"));
  const auto whole = read_gguf(memory_source(bytes));
  REQUIRE(whole.ok());
  uint64_t end = 0;
  for (const TensorView& tensor : whole.value().tensors) end = std::max(end, tensor.offset + tensor.bytes);
  constexpr size_t kHeader = 17543;
  std::vector<size_t> cuts;
  for (size_t cut = 0; cut < kHeader; ++cut) cuts.push_back(cut);
  for (size_t cut = kHeader; cut < end; cut += 1024) cuts.push_back(cut);
  cuts.push_back(end - 1);
  int accepted = 0;
  for (const size_t cut : cuts) {
    const auto view = std::as_bytes(std::span(bytes)).first(cut);
    const auto result = read_gguf(clef::io::from_memory(view, false, "test.bin").value());
    if (result.ok() || result.status().detail().file != "test.bin") ++accepted;
  }
  CHECK(accepted == 0);
}

TEST_CASE("hostile counts are refused before anything is allocated") {
  for (const uint64_t count : {uint64_t{1} << 60, UINT64_MAX, uint64_t{1000}}) {
    GgufWriter w = sample();
    w.tensor_count = count;
    refused(w.bytes(), Code::bad_file, "says that it holds " + std::to_string(count) + " tensors", "", 8);
    w = sample();
    w.key_count = count;
    refused(w.bytes(), Code::bad_file, "says that it holds " + std::to_string(count) + " keys", "", 16);
  }
  for (const uint64_t count : {uint64_t{1} << 60, UINT64_MAX, UINT64_MAX / 8 + 2, uint64_t{1} << 31}) {
    for (const uint32_t type : {W::u8, W::f64, W::string, W::boolean}) {
      GgufWriter w;
      w.add_array("list", type, count, "12345678");
      refused(w.bytes(), Code::bad_file, "key 'list' has " + std::to_string(count) + " elements");
    }
  }
  for (const uint64_t length : {uint64_t{1} << 60, UINT64_MAX, uint64_t{100}}) {
    GgufWriter w;
    w.add("text", W::string, W::raw(length) + "abc");
    refused(w.bytes(), Code::bad_file, "ends in key 'text': " + std::to_string(length) + " bytes are needed");
    GgufWriter list;
    list.add_array("list", W::string, 2, W::text("a") + W::raw(length));
    refused(list.bytes(), Code::bad_file, "ends in key 'list'");
    std::string name = "GGUF" + W::raw<uint32_t>(3) + W::raw<uint64_t>(0) + W::raw<uint64_t>(1) + W::raw(length);
    refused(name + std::string(20, 'n'), Code::bad_file, "ends in the name of key 1");
    name = "GGUF" + W::raw<uint32_t>(3) + W::raw<uint64_t>(1) + W::raw<uint64_t>(0) + W::raw(length);
    refused(name + std::string(20, 'n'), Code::bad_file, "ends in the name of tensor 1");
  }
}

TEST_CASE("a source that lies about its size costs no more than it delivers") {
  // A string of 2^40 bytes would fit into the claimed size, but not into the part that may be a header.
  GgufWriter w;
  w.add("text", W::string, W::raw(uint64_t{1} << 40) + "abc");
  std::string bytes = w.bytes();
  const auto lied = read_gguf(callback_source(bytes, "test.bin", uint64_t{1} << 60));
  REQUIRE(!lied.ok());
  CHECK(lied.status().code() == Code::io);
  // The same in a file that has a hole of that size.
  bytes.resize(size_t{2} << 20);
  const auto holed = read_gguf(callback_source(bytes, "test.bin", uint64_t{1} << 60));
  REQUIRE(!holed.ok());
  CHECK(holed.status().code() == Code::io);
}

TEST_CASE("headers longer than the limit are refused") {
  GgufWriter w;
  w.add("text", W::string, W::raw(uint64_t{128} << 20));
  auto prefix = std::make_shared<std::string>(w.header());
  clef::io::ReadCallbacks callbacks;
  callbacks.size = uint64_t{1} << 33;
  callbacks.read_at = [prefix](uint64_t offset, void* out, size_t count) {
    std::memset(out, 0, count);
    if (offset < prefix->size()) std::memcpy(out, prefix->data() + offset, std::min(count, prefix->size() - offset));
    return 0;
  };
  const auto source = clef::io::from_callbacks(std::move(callbacks), "test.bin").value();
  check_error(read_gguf(source), Code::unsupported, "longer than 134217728 bytes");
}

TEST_CASE("bad keys are refused") {
  GgufWriter w;
  w.add_u32("a", 1).add_u32("b", 1).add_u32("a", 2);
  refused(w.bytes(), Code::bad_file, "key 'a' is there twice", "", 24 + 2 * (8 + 1 + 4 + 4));
  for (const uint32_t type : {13u, 0xffffffffu}) {
    GgufWriter scalar;
    scalar.add("odd", type, "12345678");
    refused(scalar.bytes(), Code::bad_file, "key 'odd' has the unknown value type " + std::to_string(type));
    GgufWriter list;
    list.add_array("odd", type, 1, "12345678");
    refused(list.bytes(), Code::bad_file, "key 'odd' is an array of the unknown value type");
  }
  GgufWriter nested;
  nested.add_array("deep", W::array, 1, W::raw<uint32_t>(0) + W::raw<uint64_t>(0));
  refused(nested.bytes(), Code::unsupported, "key 'deep' is an array of arrays");
  GgufWriter large;
  large.add_array("large", W::u64, 1, W::raw(UINT64_MAX));
  refused(large.bytes(), Code::unsupported, "key 'large' holds a number beyond");
  GgufWriter bytes;
  bytes.add_u32("bad\xff", 1);
  refused(bytes.bytes(), Code::bad_file, "the name of key 1 is not valid UTF-8", "", 24);
  GgufWriter lengthy;
  lengthy.add_u32(std::string(65536, 'k'), 1);
  refused(lengthy.bytes(), Code::bad_file, "the name of key 1 has 65536 bytes");
  GgufWriter shown;
  shown.add(std::string(119, 'k') + "\xc3\xa9" + "rest\n", 99, "");
  refused(shown.bytes(), Code::bad_file, "key '" + std::string(119, 'k') + "...' has the unknown");
}

TEST_CASE("a bad alignment is refused") {
  for (const uint32_t alignment : {0u, 4u, 24u, 33u, 2u << 20}) {
    GgufWriter w;
    w.add_u32("general.alignment", alignment);
    refused(w.bytes(), Code::bad_file, "key 'general.alignment' is not a power of two", "", 24);
  }
  GgufWriter text;
  text.add_string("general.alignment", "32");
  refused(text.bytes(), Code::bad_file, "key 'general.alignment' is not a power of two");
  for (const uint32_t alignment : {8u, 1u << 20}) {
    GgufWriter w;
    w.alignment = alignment;
    w.add_u32("general.alignment", alignment).add_f32_tensor("x", {1}, {1.0f}).add_f32_tensor("y", {1}, {2.0f});
    const auto file = read_gguf(memory_source(w.bytes()));
    REQUIRE(file.ok());
    CHECK(values_of(file.value().tensors[1])[0] == 2.0f);
  }
}

TEST_CASE("bad tensors are refused by name") {
  const auto one = [](uint32_t type, const std::vector<int64_t>& shape, size_t bytes, std::optional<uint64_t> at = {}) {
    GgufWriter w;
    w.add_tensor("x", type, shape, std::string(bytes, '\1'), at);
    return w.bytes();
  };
  // The header has 24 bytes and 33 more for a tensor of one dimension; so the data start at 64.
  refused(one(0, {1, 1, 1, 1, 1}, 4), Code::bad_file, "'x' has 5 dimensions", "x", 24);
  refused(one(0, {-1}, 4), Code::bad_file, "dimensions that are negative", "x", 24);
  refused(one(0, {INT64_MAX, 2}, 4), Code::bad_file, "product is beyond 2^63 - 1", "x");
  refused(one(0, {int64_t{1} << 32, int64_t{1} << 32}, 4), Code::bad_file, "product is beyond", "x");
  refused(one(0, {int64_t{1} << 40, 0, int64_t{1} << 40}, 4), Code::bad_file, "product is beyond", "x");
  refused(one(28, {int64_t{1} << 62}, 4), Code::bad_file, "more bytes than fit into 64 bits", "x");
  refused(one(0, {int64_t{1} << 61}, 4), Code::bad_file, "needs 9223372036854775808 bytes", "x");
  refused(one(8, {33}, 68), Code::bad_file, "rows of 33 values, but type Q8_0 comes in blocks of 32", "x");
  refused(one(8, {32, 31}, 1054), Code::bad_file, "rows of 31 values", "x");
  refused(one(12, {128}, 144), Code::bad_file, "rows of 128 values, but type Q4_K comes in blocks of 256", "x");
  refused(one(8, {}, 34), Code::bad_file, "rows of 1 values", "x");
  refused(one(0, {2}, 7), Code::bad_file, "needs 8 bytes at data offset 0", "x", 64);
  refused(one(12, {256}, 143), Code::bad_file, "needs 144 bytes at data offset 0", "x");
  refused(one(0, {1}, 64, 4), Code::bad_file, "data offset 4, which is not a multiple of 32", "x", 68);
  refused(one(0, {1}, 64, 64), Code::bad_file, "needs 4 bytes at data offset 64", "x");
  refused(one(0, {1}, 64, UINT64_MAX - 31), Code::bad_file, "needs 4 bytes at data offset 18446744073709551584", "x");
  refused(one(57, {1}, 64, 96), Code::bad_file, "at data offset 96", "x");

  GgufWriter w;
  w.add_f32_tensor("x", {1}, {1.0f}).add_f32_tensor("y", {1}, {1.0f}).add_f32_tensor("x", {1}, {1.0f});
  refused(w.bytes(), Code::bad_file, "tensor 'x' is there twice", "x", 24 + 2 * (8 + 1 + 4 + 8 + 4 + 8));
  GgufWriter same;
  same.add_f32_tensor("x", {1}, {1.0f}).add_tensor("y", 0, {1}, "abcd", 0);
  refused(same.bytes(), Code::bad_file, "overlaps tensor", "x");
  GgufWriter across;  // described in the other order
  across.add_tensor("late", 0, {16}, std::string(64, 'l'), 32).add_tensor("early", 0, {16}, std::string(64, 'e'), 0);
  refused(across.bytes(), Code::bad_file, "'early' overlaps tensor 'late'", "early");
  GgufWriter name;
  name.add_tensor("\xc0\x80", 0, {1}, "abcd");
  refused(name.bytes(), Code::bad_file, "the name of tensor 1 is not valid UTF-8");
}

TEST_CASE("single changed bytes never do harm") {
  const std::string bytes = sample().bytes();
  const size_t header = sample().header().size();
  int refusals = 0;
  for (size_t i = 0; i < header; ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const auto result = read_gguf(memory_source(changed));
      if (!result.ok()) {
        ++refusals;
        continue;
      }
      for (const TensorView& tensor : result.value().tensors) REQUIRE(bytes_of(tensor).size() == tensor.bytes);
    }
  }
  CHECK(refusals > 100);
}
