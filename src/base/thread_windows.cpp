#include <windows.h>

#include "base/executor.hpp"
#include "base/thread_setup.hpp"

namespace clef::base {

void set_up_worker_thread() noexcept {}

uint64_t process_id() noexcept {
  return GetCurrentProcessId();
}

uint32_t available_threads() noexcept {
  DWORD_PTR process = 0, system = 0;
  uint32_t count = 0;
  if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system))
    for (; process != 0; process &= process - 1) ++count;
  return count == 0 ? 1 : count;
}

}  // namespace clef::base
