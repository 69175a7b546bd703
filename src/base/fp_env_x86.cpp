#include <xmmintrin.h>

#include "base/fp_env.hpp"

namespace clef::base {

// MXCSR after reset: all exceptions masked, round to nearest, denormals kept.
ScopedFpEnvironment::ScopedFpEnvironment() noexcept : saved_(_mm_getcsr()) {
  if (saved_ != 0x1F80) _mm_setcsr(0x1F80);
}

// Exception flags that we raised are not the caller's.
ScopedFpEnvironment::~ScopedFpEnvironment() {
  _mm_setcsr(static_cast<unsigned>(saved_));
}

}  // namespace clef::base
