// Whole loops in assembler, so that no compiler and no option of it has a part in the figures.
#include <cpuid.h>

#include "peaks.hpp"

namespace bench {
namespace {

constexpr float kFactor = 0.999f;
constexpr uint32_t kBfloats = 0x3f7f3f7f;  // two of 0.996
constexpr uint32_t kBytes = 0x03030303;
constexpr uint32_t kOnes = 0x00010001;

[[gnu::target("avx512f")]] void f32_avx512(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%zmm30\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vfmadd231ps %%zmm30, %%zmm30, %%zmm\\r\n .endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kFactor)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm30");
}

[[gnu::target("avx512f")]] void bf16_avx512(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%zmm30\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vdpbf16ps %%zmm30, %%zmm30, %%zmm\\r\n .endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kBfloats)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm30");
}

[[gnu::target("avx512f")]] void int8_avx512_vnni(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%zmm30\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\n vpdpbusd %%zmm30, %%zmm30, %%zmm\\r\n .endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kBytes)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm30");
}

void f32_avx2(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%ymm15\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vpxor %%ymm\\r, %%ymm\\r, %%ymm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vfmadd231ps %%ymm15, %%ymm15, %%ymm\\r\n .endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kFactor)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm15");
}

void int8_avx_vnni(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%ymm15\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vpxor %%ymm\\r, %%ymm\\r, %%ymm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n %{vex%} vpdpbusd %%ymm15, %%ymm15, %%ymm\\r\n .endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kBytes)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm15");
}

// Products of pairs are taken to 16 bits, which may saturate in real use: a bound of what AVX2 can do.
void int8_avx2(uint64_t n) {
  asm volatile(
      "vbroadcastss %1, %%ymm15\n"
      "vbroadcastss %2, %%ymm14\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vpxor %%ymm\\r, %%ymm\\r, %%ymm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n"
      " vpmaddubsw %%ymm15, %%ymm15, %%ymm13\n vpmaddwd %%ymm14, %%ymm13, %%ymm13\n vpaddd %%ymm13, %%ymm\\r, "
      "%%ymm\\r\n"
      ".endr\n"
      "sub $1, %0\n jnz 1b\n vzeroupper\n"
      : "+r"(n)
      : "m"(kBytes), "m"(kOnes)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm13",
        "xmm14", "xmm15");
}

// Multiplications and additions on their own, since SSE has no fused ones.
void f32_sse2(uint64_t n) {
  asm volatile(
      "movss %1, %%xmm15\n shufps $0, %%xmm15, %%xmm15\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9\n xorps %%xmm\\r, %%xmm\\r\n .endr\n"
      "1:\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9\n"
      " movaps %%xmm15, %%xmm14\n mulps %%xmm15, %%xmm14\n addps %%xmm14, %%xmm\\r\n"
      ".endr\n"
      "sub $1, %0\n jnz 1b\n"
      : "+r"(n)
      : "m"(kFactor)
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm14", "xmm15");
}

// Not every compiler's __builtin_cpu_supports knows the name.
bool has_avx_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}

}  // namespace

std::vector<PeakLoop> peak_loops() {
  __builtin_cpu_init();
  std::vector<PeakLoop> loops;
  const bool avx512 = __builtin_cpu_supports("avx512f");
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) {
    loops.push_back({"f32", "vfmadd231ps zmm", f32_avx512, 20 * 32});
  } else if (avx2) {
    loops.push_back({"f32", "vfmadd231ps ymm", f32_avx2, 12 * 16});
  } else {
    loops.push_back({"f32", "mulps + addps", f32_sse2, 10 * 8});
  }
  if (avx512 && __builtin_cpu_supports("avx512bf16")) loops.push_back({"bf16", "vdpbf16ps zmm", bf16_avx512, 20 * 64});
  if (avx512 && __builtin_cpu_supports("avx512vnni")) {
    loops.push_back({"int8", "vpdpbusd zmm", int8_avx512_vnni, 20 * 128});
  } else if (has_avx_vnni()) {
    loops.push_back({"int8", "vpdpbusd ymm", int8_avx_vnni, 12 * 64});
  } else if (avx2) {
    loops.push_back({"int8", "vpmaddubsw + vpmaddwd + vpaddd ymm", int8_avx2, 12 * 64});
  }
  return loops;
}

}  // namespace bench
