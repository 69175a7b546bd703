// Runs the tasks of one operation. Tasks take their indices from a counter and never wait for each other, so an
// executor may run them in any order, serially or nested.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace clef::base {

class Executor {
 public:
  using Task = void (*)(size_t index, void* context) noexcept;
  virtual ~Executor() = default;
  // Calls task(0..n-1, context), each once, and returns when all are done. Thread-safety: any number of callers.
  virtual void parallel_for(size_t n, Task task, void* context) noexcept = 0;
  virtual uint32_t concurrency() const noexcept = 0;
  // True once threads of our own exist (they do not survive a fork).
  virtual bool started() const noexcept { return false; }
};

// Runs everything in the caller; starts no thread.
std::unique_ptr<Executor> make_serial_executor();

// A pool of `threads` - 1 workers beside the caller, started at first use, sleeping when idle (no spinning, no
// affinity).
std::unique_ptr<Executor> make_pool_executor(uint32_t threads);

// The host's own pool.
struct HostExecutor {
  // Must call task(i, argument) for every i < n, each once, before returning.
  void (*parallel_for)(void* user, size_t n, void (*task)(size_t index, void* argument), void* argument) = nullptr;
  uint32_t (*concurrency)(void* user) = nullptr;
  void* user = nullptr;
};
std::unique_ptr<Executor> make_host_executor(HostExecutor host);

// Hardware threads that this process may use: affinity and a container's CPU quota respected; at least 1.
uint32_t available_threads() noexcept;
uint64_t process_id() noexcept;

// Calls function(index) for 0..n-1. The function must not throw.
template <class Function>
void parallel_for(Executor& executor, size_t n, Function&& function) noexcept {
  using Plain = std::remove_reference_t<Function>;
  executor.parallel_for(
      n, [](size_t index, void* context) noexcept { (*static_cast<Plain*>(context))(index); },
      const_cast<void*>(static_cast<const void*>(&function)));
}

}  // namespace clef::base
