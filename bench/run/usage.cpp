#include "usage.hpp"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace bench {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Usage usage_now() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<uint64_t>(usage.ru_minflt), static_cast<uint64_t>(usage.ru_majflt), seconds(usage.ru_utime),
          seconds(usage.ru_stime)};
}

void reset_peak_bytes() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

uint64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
  return static_cast<uint64_t>(usage.ru_maxrss);
#else
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
}

}  // namespace bench
