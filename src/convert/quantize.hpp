// Writes a model as one GGUF file, quantized or not.
//
//   package -> tensors.hpp (which tensors, from where) -> mixture.hpp (their types) -> metadata.hpp, gguf_writer.hpp
//   (the header) -> encode.hpp (the data, block by block) -> verify.hpp (read back) -> the file is renamed into place
//
// OUT.part is the file while it is made. A run that was stopped leaves it, and the next one goes on with it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "base/status.hpp"
#include "convert/mixture.hpp"
#include "convert/tensors.hpp"
#include "model/package.hpp"

namespace clef::convert {

struct Options {
  TypeOptions types;
  Architecture architecture = Architecture::clef;
  std::string importance;  // path of an importance matrix, or ""
  bool overwrite = false;
  base::Hooks hooks;
};

struct TypeTotal {
  std::string type;
  uint64_t tensors = 0, bytes = 0, values = 0;
};

struct Report {
  std::string file;  // display name
  uint64_t tensors = 0, values = 0, tensor_bytes = 0, file_bytes = 0;
  std::vector<TypeTotal> types;  // most bytes first
  double seconds = 0;
  std::vector<std::string> notes;  // what is worth knowing, in sentences
};

// Errors: those of opening a model; invalid_value (types, patterns), invalid_argument (a file that is there already), io,
// busy, non_finite (tensor and index), cancelled.
base::Result<Report> quantize(const model::Files& files, const std::string& out, const Options& options,
                              base::Executor& executor, base::Memory& memory);

std::string report_json(const Report& report);

}  // namespace clef::convert
