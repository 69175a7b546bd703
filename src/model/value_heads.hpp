// The two orders of the delta net's value heads. The release groups them by key head (head k * per_key + j), GGUF files
// tile them over the key heads (head j * key_heads + k). Inside src/model and src/convert only.
#pragma once
#include <cstdint>

namespace clef::model {

struct ValueHeads {
  int64_t key_heads = 1, per_key = 1;

  int64_t grouped(int64_t tiled) const noexcept { return tiled % key_heads * per_key + tiled / key_heads; }
  int64_t tiled(int64_t grouped) const noexcept { return grouped % per_key * key_heads + grouped / per_key; }
};

}  // namespace clef::model
