// Importance matrices of llama.cpp: how much each input column of a matrix matters. Two forms: a binary file of its own
// (".dat"), and GGUF with tensors NAME.in_sum2 and NAME.counts.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "convert/tensors.hpp"
#include "io/source.hpp"

namespace clef::convert {

struct Importance {
  std::map<std::string, std::vector<float>, std::less<>> entries;  // one weight per column
  std::string file;                                                // display name
  uint64_t hash = 0;                                               // of the file's bytes

  // The weights of a tensor; empty when there are none.
  std::span<const float> find(std::string_view name) const noexcept;
};

// Errors: bad_file with name, tensor and offset: entries that are cut off, not finite, negative or there twice.
base::Result<Importance> read_importance(const io::SourcePtr& source);

// Refuses entries whose length is not that of the tensor's rows, and matrices none of whose entries are for a tensor
// here. Counts those that were not found among the matrices.
base::Status check_importance(const Importance& importance, std::span<const Tensor> tensors, uint64_t* unused);

}  // namespace clef::convert
