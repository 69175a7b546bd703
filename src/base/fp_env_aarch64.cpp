#include "base/fp_env.hpp"

namespace clef::base {

ScopedFpEnvironment::ScopedFpEnvironment() noexcept {
  __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
  const uint64_t zero = 0;
  __asm__ volatile("msr fpcr, %0" : : "r"(zero));
}

ScopedFpEnvironment::~ScopedFpEnvironment() {
  __asm__ volatile("msr fpcr, %0" : : "r"(saved_));
}

}  // namespace clef::base
