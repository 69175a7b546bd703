// Compiled with baseline flags, like everything that decides what may run.
#include "base/cpu.hpp"

namespace clef::base {

IsaLevel detect_isa() noexcept {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return IsaLevel::baseline;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq"))
    return IsaLevel::avx512;
  return IsaLevel::avx2;
}

}  // namespace clef::base
