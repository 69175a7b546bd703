// What the operating system counted for this process.
#pragma once
#include <cstdint>

namespace bench {

struct Usage {
  uint64_t minor_faults = 0, major_faults = 0;
  double user_seconds = 0, system_seconds = 0;

  Usage operator-(const Usage& before) const {
    return {minor_faults - before.minor_faults, major_faults - before.major_faults, user_seconds - before.user_seconds,
            system_seconds - before.system_seconds};
  }
};

Usage usage_now();

// Begins a new peak where the system can do that (Linux); elsewhere the peak is that of the whole process.
void reset_peak_bytes();
// Largest resident memory, mapped files included.
uint64_t peak_bytes();

}  // namespace bench
