// Progress and cancellation of one long call (a load, a decision, a conversion).
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "base/status.hpp"

namespace clef::base {

enum class Stage : int32_t { load = 0, prefill = 1, head = 2, quantize = 3, decode = 4, scale = 5, vision = 6 };
inline constexpr int32_t kStages = 7;

// Of a clock that only goes forward; for differences.
inline uint64_t nanoseconds_now() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

// What the host gave; everything may be null.
struct Hooks {
  const std::atomic<bool>* cancel = nullptr;  // tripped from any thread
  bool (*poll)(void* user) = nullptr;         // asked on the calling thread; true = cancel
  void* poll_user = nullptr;
  void (*progress)(Stage stage, uint64_t done, uint64_t total, void* user) = nullptr;
  void* progress_user = nullptr;
};

// Follows one call. `tripped` may be read by worker tasks; the rest belongs to the calling thread.
class Watch {
 public:
  explicit Watch(const Hooks& hooks) noexcept : hooks_(hooks) {}

  bool tripped() const noexcept {
    return polled_.load(std::memory_order_relaxed) || (hooks_.cancel && hooks_.cancel->load(std::memory_order_relaxed));
  }
  // Asks the poll callback too.
  Status check() {
    if (!tripped() && hooks_.poll && hooks_.poll(hooks_.poll_user)) polled_.store(true, std::memory_order_relaxed);
    if (tripped()) return Status(Code::cancelled, "the call was cancelled");
    return {};
  }
  // At most about 20 times a second, and always at the end.
  void progress(Stage stage, uint64_t done, uint64_t total) {
    if (!hooks_.progress) return;
    const auto now = std::chrono::steady_clock::now();
    if (done < total && reported_ && now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now, reported_ = true;
    hooks_.progress(stage, done, total, hooks_.progress_user);
  }

 private:
  Hooks hooks_;
  std::atomic<bool> polled_{false};
  std::chrono::steady_clock::time_point last_{};
  bool reported_ = false;
};

}  // namespace clef::base
