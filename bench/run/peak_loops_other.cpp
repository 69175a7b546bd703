// Processors without a loop of their own: what the compiler makes of a plain one.
#include "peaks.hpp"

namespace bench {
namespace {

void f32_plain(uint64_t n) {
  float sums[64] = {};
  for (; n > 0; --n)
    for (float& sum : sums) sum = sum * 0.5f + 0.25f;
  float total = 0;
  for (const float sum : sums) total += sum;
  volatile float sink = total;
  (void)sink;
}

}  // namespace

std::vector<PeakLoop> peak_loops() {
  return {{"f32", "plain loop", f32_plain, 64 * 2}};
}

}  // namespace bench
