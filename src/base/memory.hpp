// Large blocks of memory: the host's allocator, accounting with an optional limit, and an owning aligned buffer.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "base/status.hpp"

namespace clef::base {

// The host's functions; both null means the library's own. They must not throw.
struct Allocator {
  void* (*allocate)(size_t size, size_t alignment, void* user) = nullptr;
  void (*free)(void* pointer, size_t size, size_t alignment, void* user) = nullptr;
  void* user = nullptr;
};

inline constexpr size_t kAlignment = 64;  // one cache line, one AVX-512 register

// Counts what is taken through it. A child (a session's) also counts in its parent (the runtime's).
// Thread-safety: any number of threads.
class Memory {
 public:
  explicit Memory(Allocator allocator) noexcept : allocator_(allocator) {}
  explicit Memory(Memory& parent) noexcept : allocator_(parent.allocator_), parent_(&parent) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* allocate(size_t size) noexcept;  // nullptr when the allocator or the limit refuses
  void free(void* pointer, size_t size) noexcept;

  // The one, among this and its parents, whose limit keeps `size` more bytes from being taken now; nullptr: none.
  const Memory* limiting(size_t size) const noexcept;

  uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  uint64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  uint64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  void set_limit(uint64_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }  // 0 = none
  void reset_peak() noexcept { peak_.store(used(), std::memory_order_relaxed); }

 private:
  bool take(size_t size) noexcept;
  void give_back(size_t size) noexcept;
  Allocator allocator_;
  Memory* parent_ = nullptr;
  std::atomic<uint64_t> used_{0}, peak_{0}, limit_{0};
};

// Owns one block. Contents are not initialised.
class Buffer {
 public:
  Buffer() noexcept = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(static_cast<Buffer&&>(other));
    swap(moved);
    return *this;
  }
  ~Buffer() { reset(); }
  // `what` names the block in the message ("hidden rows"). A size that cannot be held answers out_of_memory, the limit
  // memory_limit, both with the number of bytes.
  static Result<Buffer> create(Memory& memory, uint64_t size, std::string_view what);

  void* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  void reset() noexcept {
    if (data_) memory_->free(data_, size_);
    data_ = nullptr, size_ = 0, memory_ = nullptr;
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(data_, other.data_), std::swap(size_, other.size_);
  }
  Memory* memory_ = nullptr;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace clef::base
