// Which type each tensor gets.
#pragma once
#include <span>
#include <string>

#include "tensors.hpp"

namespace synth {

// `name`: a type of tensors ("Q8_0"), or a mixture (Q4_K_M, Q4_K_S, Q5_K_M, Q3_K_M, Q2_K) that keeps the output, the
// values and ffn_down better than the rest, as llama.cpp does. Sets format and bytes, and returns the number that
// stands for it in "general.file_type". Throws std::runtime_error.
uint32_t assign_types(const std::string& name, std::span<Tensor> tensors, int64_t layers);

// All names that assign_types knows.
std::string known_mixtures();

}  // namespace synth
