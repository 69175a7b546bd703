// Conversions of the small models.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/memory.hpp"
#include "container/gguf.hpp"
#include "convert/quantize.hpp"
#include "support/data.hpp"

namespace clef::test {

inline model::Files files_of(const std::string& path, const std::string& head = {}) {
  model::Files files;
  files.entries.push_back({"", path, nullptr});
  if (!head.empty()) files.entries.push_back({"head", head, nullptr});
  return files;
}

inline base::Result<convert::Report> convert_files(const model::Files& files, const std::string& out,
                                                   const convert::Options& options, uint32_t threads = 1) {
  base::Memory memory{base::Allocator{}};
  const auto executor = threads == 1 ? base::make_serial_executor() : base::make_pool_executor(threads);
  return convert::quantize(files, out, options, *executor, memory);
}

inline convert::Options options_of(const std::string& type, const std::string& head_type = {}) {
  convert::Options options;
  options.types.type = type;
  options.types.head_type = head_type;
  return options;
}

inline std::string model_path(const std::string& name) {
  return data_path("models/" + name);
}

struct ReadFile {
  container::Gguf gguf;
  std::map<std::string, container::TensorView> tensors;
};

inline ReadFile read_written(const std::string& path) {
  ReadFile file;
  auto source = io::open_path(path);
  if (!source.ok()) throw std::runtime_error(std::string(source.status().message()));
  auto gguf = container::read_gguf(source.value());
  if (!gguf.ok()) throw std::runtime_error(std::string(gguf.status().message()));
  file.gguf = std::move(gguf).value();
  for (const container::TensorView& tensor : file.gguf.tensors) file.tensors[tensor.name] = tensor;
  return file;
}

inline std::string bytes_of(const container::TensorView& tensor) {
  std::string bytes(static_cast<size_t>(tensor.bytes), '\0');
  if (!tensor.source->read(tensor.offset, std::as_writable_bytes(std::span(bytes))).ok())
    throw std::runtime_error("cannot read " + tensor.name);
  return bytes;
}

inline std::vector<float> decoded(const container::TensorView& tensor) {
  const std::string bytes = bytes_of(tensor);
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  tensor.format->decode(reinterpret_cast<const std::byte*>(bytes.data()), values.data(), values.size());
  return values;
}

}  // namespace clef::test
