// A tokenizer for made-up files: bytes, the words of the prompt's frame and some more, control tokens, padding.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace synth {

struct Vocabulary {
  std::vector<std::string> tokens;  // as many as asked for
  std::vector<int32_t> types;       // of GGUF: 1 normal, 3 control, 4 user-defined, 5 unused
  std::vector<std::string> merges;
  uint32_t end_of_text = 0, end_of_turn = 0;
};

// Throws std::runtime_error when `size` is too small.
Vocabulary make_vocabulary(int64_t size);

}  // namespace synth
