#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "base/executor.hpp"
#include "base/thread_setup.hpp"

namespace clef::base {

void set_up_worker_thread() noexcept {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "clef-worker");
}

uint64_t process_id() noexcept {
  return static_cast<uint64_t>(getpid());
}

namespace {
// A container's CPU quota (cgroup v2) rounded up, or 0 when there is none.
uint32_t cpu_quota() noexcept {
  const int file = open("/sys/fs/cgroup/cpu.max", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[64] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  char* end = text;
  const unsigned long long quota = strtoull(text, &end, 10);  // "max 100000" leaves end == text
  if (end == text) return 0;
  const unsigned long long period = strtoull(end, nullptr, 10);
  return period == 0 ? 0 : static_cast<uint32_t>((quota + period - 1) / period);
}
}  // namespace

uint32_t available_threads() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  uint32_t count = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    count = static_cast<uint32_t>(CPU_COUNT(&set));
  } else {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    count = online > 0 ? static_cast<uint32_t>(online) : 1;
  }
  const uint32_t quota = cpu_quota();
  if (quota != 0 && quota < count) count = quota;
  return count == 0 ? 1 : count;
}

}  // namespace clef::base
