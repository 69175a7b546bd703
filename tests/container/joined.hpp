// Files with the tensors of quantized matrices, made in memory and joined.
#pragma once
#include "container/quantized.hpp"
#include "container/safetensors.hpp"
#include "container/sources.hpp"
#include "support/safetensors_writer.hpp"

namespace clef::test {

using Tensors = std::vector<container::TensorView>;

// The tensors of a file, joined after a configuration.
inline base::Result<Tensors> joined(const io::SourcePtr& source, const std::string& config) {
  auto file = container::read_safetensors(source);
  REQUIRE(file.ok());
  const auto document = json::parse(config);
  REQUIRE(document.ok());
  Tensors tensors = std::move(file).value().tensors;
  CLEF_RETURN_IF_ERROR(container::join_quantized(document.value().root(), "config.json", tensors));
  return tensors;
}

inline uint64_t dtype_bytes(std::string_view dtype) {
  if (dtype == "I64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  return dtype == "F16" || dtype == "BF16" || dtype == "I16" ? 2 : 1;
}

// A file of small tensors; bytes are zero where none are given.
struct Parts {
  struct Part {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::string bytes;
  };
  std::vector<Part> parts;

  Parts& set(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
             std::string bytes = "") {
    remove(name);
    if (bytes.empty()) {
      uint64_t size = dtype_bytes(dtype);
      for (const int64_t dimension : shape) size *= static_cast<uint64_t>(dimension);
      bytes.assign(size, '\0');
    }
    parts.push_back({name, dtype, shape, std::move(bytes)});
    return *this;
  }
  Parts& remove(const std::string& name) {
    std::erase_if(parts, [&](const Part& part) { return part.name == name; });
    return *this;
  }
  std::string file() const {
    SafetensorsWriter writer;
    for (const Part& part : parts) writer.add_tensor(part.name, part.dtype, part.shape, part.bytes);
    return writer.bytes();
  }
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace clef::test
