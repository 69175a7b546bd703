// The keys of a GGUF file of Clef.
#pragma once
#include <cstdint>

#include "base/status.hpp"
#include "convert/gguf_writer.hpp"
#include "convert/tensors.hpp"
#include "model/package.hpp"

namespace clef::convert {

// All but those of the tokenizer.
void add_model_keys(const model::Package& package, Architecture architecture, int32_t file_type, GgufHeader& out);
// From tokenizer.json, or from the keys of a GGUF file.
base::Status add_tokenizer_keys(const model::Package& package, Architecture architecture, GgufHeader& out);

}  // namespace clef::convert
