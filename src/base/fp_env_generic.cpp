#include <cfenv>

#include "base/fp_env.hpp"

namespace clef::base {

// Rounding direction only: the standard knows no flush-to-zero.
ScopedFpEnvironment::ScopedFpEnvironment() noexcept : saved_(static_cast<uint64_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}

ScopedFpEnvironment::~ScopedFpEnvironment() {
  std::fesetround(static_cast<int>(saved_));
}

}  // namespace clef::base
