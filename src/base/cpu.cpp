#include "base/cpu.hpp"

namespace clef::base {

std::string_view isa_name(IsaLevel level) noexcept {
  switch (level) {
    case IsaLevel::baseline:
      return "baseline";
    case IsaLevel::avx2:
      return "avx2";
    case IsaLevel::avx512:
      return "avx512";
  }
  return "unknown";
}

}  // namespace clef::base
