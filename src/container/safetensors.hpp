// safetensors: 8-byte header length, JSON header, data. Everything in the header is checked against the file before
// use.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "container/tensor_view.hpp"

namespace clef::container {

struct Safetensors {
  std::vector<TensorView> tensors;              // in header order
  std::map<std::string, std::string> metadata;  // __metadata__
};

// Errors (bad_file, with file, tensor, offset): header longer than the file, bad JSON, unknown dtype, shape whose byte
// count overflows or differs from data_offsets, ranges outside the file, overlapping, leaving gaps or trailing bytes,
// duplicate names. A Git LFS pointer or an HTML page in place of the file gets its own message. A dtype that exists in
// safetensors but that clef does not read yet (e.g. U32, F8_E4M3) is kept with format == nullptr, so that the loader
// can refuse it by name when it needs it.
base::Result<Safetensors> read_safetensors(const io::SourcePtr& source);

// The shards of a model.safetensors.index.json: tensor name -> file name. Names that leave the directory are refused.
base::Result<std::map<std::string, std::string>> read_safetensors_index(std::string_view json, std::string_view file);

}  // namespace clef::container
