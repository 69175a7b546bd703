// What the processor can do at most, measured: multiply-adds from registers, and reading memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// A loop of one instruction on registers only. One multiply-add counts as two operations.
struct PeakLoop {
  const char* kind;  // "f32", "bf16", "int8"
  const char* how;   // the instructions
  void (*run)(uint64_t iterations);
  double operations;  // per iteration
};

// The loops that this processor can run, the best of each kind (one file per architecture).
std::vector<PeakLoop> peak_loops();

struct Peak {
  std::string kind, how;
  double per_second = 0;  // operations, or bytes of "memory"
};

// All kinds, on so many threads at once; takes one or two seconds.
std::vector<Peak> measure_peaks(unsigned threads);

// The peak that a computation of this kind ("exact", "bf16", "int8") is held to. Where the processor has no instruction
// for bf16, such a computation multiplies in f32. nullptr for an unknown kind.
const Peak* peak_for(const std::vector<Peak>& peaks, const std::string& compute);

}  // namespace bench
