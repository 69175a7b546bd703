// The floating-point environment our arithmetic runs in: round to nearest, no flush to zero. Hosts and their plug-ins
// change it; every call and every task sets it and puts the caller's back.
#pragma once
#include <cstdint>

namespace clef::base {

class ScopedFpEnvironment {
 public:
  ScopedFpEnvironment() noexcept;
  ~ScopedFpEnvironment();
  ScopedFpEnvironment(const ScopedFpEnvironment&) = delete;
  ScopedFpEnvironment& operator=(const ScopedFpEnvironment&) = delete;

 private:
  uint64_t saved_;
};

}  // namespace clef::base
