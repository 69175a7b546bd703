// Whole loops in assembler, so that no compiler and no option of it has a part in the figures.
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#include "peaks.hpp"

namespace bench {
namespace {

void f32_neon(uint64_t n) {
  asm volatile(
      "fmov v30.4s, #0.5\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n movi v\\r\\().4s, #0\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n fmla v\\r\\().4s, v30.4s, v30.4s\n .endr\n"
      "subs %0, %0, #1\n b.ne 1b\n"
      : "+r"(n)
      :
      : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v30");
}

void int8_dot(uint64_t n) {
  asm volatile(
      ".arch_extension dotprod\n"
      "movi v30.16b, #3\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n movi v\\r\\().4s, #0\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n sdot v\\r\\().4s, v30.16b, v30.16b\n .endr\n"
      "subs %0, %0, #1\n b.ne 1b\n"
      : "+r"(n)
      :
      : "cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v30");
}

bool has_dot() {
#if defined(__APPLE__)
  return true;
#elif defined(__linux__)
  constexpr unsigned long kDot = 1ul << 20;  // HWCAP_ASIMDDP
  return (getauxval(AT_HWCAP) & kDot) != 0;
#else
  return false;
#endif
}

}  // namespace

std::vector<PeakLoop> peak_loops() {
  std::vector<PeakLoop> loops = {{"f32", "fmla", f32_neon, 20 * 8}};
  if (has_dot()) loops.push_back({"int8", "sdot", int8_dot, 20 * 32});
  return loops;
}

}  // namespace bench
