// The formats, one per file. Inside src/quant only; everybody else goes through format.hpp.
#pragma once
#include "quant/format.hpp"

namespace clef::quant {

extern const Format kF32;
extern const Format kF16;
extern const Format kBf16;
extern const Format kQ8_0;

}  // namespace clef::quant
