#include "peaks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace bench {
namespace {

constexpr int kRuns = 15;
constexpr double kSeconds = 0.02;  // of a run: short ones are disturbed less often
constexpr size_t kBytes = size_t{512} << 20;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds from the first thread's begin to the last one's end.
double on_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  std::vector<double> begin(threads), end(threads);
  std::atomic<unsigned> ready{0};
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      ready.fetch_add(1);
      while (ready.load() < threads) std::this_thread::yield();
      begin[t] = now();
      work(t);
      end[t] = now();
    });
  }
  for (std::thread& thread : pool) thread.join();
  return *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
}

double measure(const PeakLoop& loop, unsigned threads) {
  uint64_t iterations = 1 << 16;
  for (double seconds = 0; seconds < kSeconds / 4; iterations *= 2)
    seconds = on_threads(1, [&](unsigned) { loop.run(iterations); });
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double seconds = on_threads(threads, [&](unsigned) { loop.run(iterations); });
    best = std::max(best, static_cast<double>(iterations) * loop.operations * threads / seconds);
  }
  return best;
}

// Bytes per second of reading an array far larger than the caches.
double measure_memory(unsigned threads) {
  std::vector<uint64_t> words(kBytes / sizeof(uint64_t), 1);
  std::atomic<uint64_t> sink{0};
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const size_t part = words.size() / threads / 8 * 8;
    const double seconds = on_threads(threads, [&](unsigned t) {
      const uint64_t* from = words.data() + t * part;
      uint64_t sums[8] = {};
      for (size_t i = 0; i < part; i += 8)
        for (size_t k = 0; k < 8; ++k) sums[k] += from[i + k];
      for (const uint64_t sum : sums) sink.fetch_add(sum);
    });
    best = std::max(best, static_cast<double>(part * threads * sizeof(uint64_t)) / seconds);
  }
  return best;
}

}  // namespace

std::vector<Peak> measure_peaks(unsigned threads) {
  std::vector<Peak> peaks;
  for (const PeakLoop& loop : peak_loops()) peaks.push_back({loop.kind, loop.how, measure(loop, threads)});
  peaks.push_back({"memory", "reading 512 MiB", measure_memory(threads)});
  return peaks;
}

const Peak* peak_for(const std::vector<Peak>& peaks, const std::string& compute) {
  const auto find = [&](const char* kind) -> const Peak* {
    for (const Peak& peak : peaks)
      if (peak.kind == kind) return &peak;
    return nullptr;
  };
  if (compute == "exact") return find("f32");
  if (compute == "int8") return find("int8");
  if (compute != "bf16") return nullptr;
  return find("bf16") ? find("bf16") : find("f32");
}

}  // namespace bench
