// Reads a written file back and compares it with what it was made from.
#pragma once
#include <span>
#include <string>

#include "base/status.hpp"
#include "convert/encode.hpp"
#include "convert/imatrix.hpp"
#include "convert/tensors.hpp"

namespace clef::convert {

// Shapes and types of all tensors, rows of each. An error says that the file must not be used.
base::Status verify(const std::string& path, std::span<const Tensor> tensors, const Importance& importance,
                    Encoder& encoder, base::Watch& watch);

}  // namespace clef::convert
