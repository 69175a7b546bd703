// Sources of every kind over the same bytes, and checks of errors.
#pragma once
#include <cstring>
#include <memory>
#include <string>

#include "container/tensor_view.hpp"
#include "support/catch.hpp"

namespace clef::test {

inline io::SourcePtr memory_source(std::string_view bytes, std::string_view name = "test.bin") {
  return std::move(io::from_memory(std::as_bytes(std::span(bytes)), true, name)).value();
}

// Only readable, never in memory; `claimed` is the size it pretends to have (reads beyond the bytes fail).
inline io::SourcePtr callback_source(std::string_view bytes, std::string_view name = "test.bin",
                                     uint64_t claimed = UINT64_MAX) {
  auto content = std::make_shared<std::string>(bytes);
  io::ReadCallbacks callbacks;
  callbacks.size = claimed == UINT64_MAX ? bytes.size() : claimed;
  callbacks.read_at = [content](uint64_t offset, void* out, size_t count) {
    if (offset > content->size() || count > content->size() - offset) return 1;
    std::memcpy(out, content->data() + offset, count);
    return 0;
  };
  return std::move(io::from_callbacks(std::move(callbacks), name)).value();
}

inline io::SourcePtr path_source(const std::string& path) {
  auto source = io::open_path(path);
  REQUIRE(source.ok());
  return std::move(source).value();
}

// The bytes of a tensor, read rather than looked at.
inline std::string bytes_of(const container::TensorView& tensor) {
  std::string bytes(tensor.bytes, '\0');
  REQUIRE(tensor.source->read(tensor.offset, std::as_writable_bytes(std::span(bytes.data(), bytes.size()))).ok());
  if (tensor.data() != nullptr) REQUIRE(std::memcmp(tensor.data(), bytes.data(), bytes.size()) == 0);
  return bytes;
}

inline std::vector<float> values_of(const container::TensorView& tensor) {
  REQUIRE(tensor.format != nullptr);
  const std::string bytes = bytes_of(tensor);
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  tensor.format->decode(reinterpret_cast<const std::byte*>(bytes.data()), values.data(), values.size());
  return values;
}

inline const container::TensorView& tensor_named(const std::vector<container::TensorView>& tensors,
                                                 std::string_view name) {
  for (const container::TensorView& tensor : tensors)
    if (tensor.name == name) return tensor;
  FAIL("no tensor " << name);
  return tensors.front();
}

inline void check_same(const std::vector<container::TensorView>& a, const std::vector<container::TensorView>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(a[i].name);
    CHECK(a[i].name == b[i].name);
    CHECK(a[i].format == b[i].format);
    CHECK(a[i].type_name == b[i].type_name);
    CHECK(a[i].shape == b[i].shape);
    CHECK(a[i].offset == b[i].offset);
    CHECK(a[i].bytes == b[i].bytes);
  }
}

// An error with this code whose message starts with the file and holds `words`.
template <class T>
void check_error(const base::Result<T>& result, base::Code code, std::string_view words, std::string_view tensor = "",
                 int64_t offset = -1) {
  INFO("expected: " << words);
  REQUIRE(!result.ok());
  const base::ErrorDetail& detail = result.status().detail();
  INFO("message: " << detail.message);
  CHECK(detail.code == code);
  CHECK(detail.file == "test.bin");
  CHECK(detail.message.starts_with("test.bin: "));
  CHECK(detail.message.find(words) != std::string::npos);
  CHECK(detail.tensor == tensor);
  CHECK(detail.offset >= 0);
  if (offset >= 0) CHECK(detail.offset == offset);
}

}  // namespace clef::test
