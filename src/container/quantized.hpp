// Quantized checkpoints keep a matrix in several tensors: codes, scales, zero points. Here they become one.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "container/tensor_view.hpp"
#include "json/json.hpp"

namespace clef::container {

// Joins the tensors of every quantized matrix X into one TensorView "X.weight" of the logical shape [out, in], whose
// `scales` are filled in; all other tensors stay. `config` is the root of config.json. What the tensors' types and
// shapes tell is taken from them; the configuration must not contradict them. MLX, compressed-tensors, AWQ, GPTQ,
// FP8, NVFP4, MXFP4.
// Errors: those of quantization_scheme, missing_part (a partner tensor), bad_file (types, shapes and values that do not
// fit each other).
base::Status join_quantized(const json::Value& config, std::string_view config_file, std::vector<TensorView>& tensors);

// The scheme that config.json names, for people ("AWQ"); empty when it names none. unsupported, with advice, when clef
// does not read it.
base::Result<std::string> quantization_scheme(const json::Value& config, std::string_view config_file);

// The same for one file of Ollama's store: X, X.scale and X.bias become X. `metadata` is the file's.
base::Status join_ollama(const std::map<std::string, std::string>& metadata, std::vector<TensorView>& tensors);

}  // namespace clef::container
