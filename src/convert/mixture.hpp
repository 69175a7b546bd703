// Which type each tensor of a quantized file gets.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "convert/tensors.hpp"
#include "model/config.hpp"

namespace clef::convert {

struct TypeRule {
  std::string pattern;  // of GGUF names; * stands for any characters, ? for one
  std::string type;
};

struct TypeOptions {
  std::string type = "Q4_K_M";
  bool pure = false;            // one type for all matrices, instead of the mixture of that name
  std::string head_type;        // "": high precision; "mixture": the head is part of the mixture; or a type
  std::vector<TypeRule> rules;  // later ones win
};

// Number of a file's type, as general.file_type has it. Also checks the names that the options give.
base::Result<int32_t> file_type(const TypeOptions& options);

// Gives each tensor its format. `importance` says whether there is an importance matrix: some mixtures differ.
base::Status assign_types(const TypeOptions& options, const model::Config& config, bool importance,
                          std::span<Tensor> tensors);

bool glob_matches(std::string_view pattern, std::string_view name) noexcept;

}  // namespace clef::convert
