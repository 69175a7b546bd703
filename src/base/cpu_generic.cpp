#include "base/cpu.hpp"

namespace clef::base {

IsaLevel detect_isa() noexcept {
  return IsaLevel::baseline;
}

}  // namespace clef::base
