// All weights of a model in a fixed order, under the names of GGUF files, with the types that they have on disk. Inside
// src/model only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "model/weights.hpp"

namespace clef::model {

// Where a weight follows the order of the value heads: from index `first` on, in blocks of `block`.
struct HeadBlocks {
  enum Axis : uint8_t { none, rows, columns };
  Axis axis = none;
  int64_t first = 0, block = 0;
};

struct NamedWeight {
  std::string name;  // "blk.3.attn_q.weight"
  std::string type;  // "BF16"; that of the tensor it comes from
  Weight weight;
  bool is_vector = false;
  bool stands_twice = false;  // the output matrix of a model that uses its embeddings for it
  HeadBlocks heads;
};

struct NamedWeights {
  std::vector<NamedWeight> all;
  std::vector<float> scales;  // storage
};

// Views into both; the same names in the same order for models of one geometry.
NamedWeights named_weights(const Package& package, const Weights& weights);

}  // namespace clef::model
