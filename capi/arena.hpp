// The memory of a session: one block that can be reserved beforehand, and the runtime's memory for what does not fit.
#pragma once
#include <cstddef>
#include <mutex>

#include "base/memory.hpp"

namespace clef::capi {

// First fit over an address-ordered list that lies in the free ranges themselves, so nothing here allocates.
// Thread-safety: any number of threads for allocate and free; reserve and trim while the session is not at work.
class Arena {
 public:
  explicit Arena(base::Memory& source) noexcept : source_(source) {}

  // At least `bytes` in one free block. A block that is too small is replaced.
  base::Status reserve(uint64_t bytes);
  // Gives the block back, unless a part of it is in use.
  void trim() noexcept;

  base::Allocator allocator() noexcept;

 private:
  struct Range {
    size_t size;
    Range* next;
  };
  bool idle() const noexcept { return !block_.data() || (free_ && free_->size == block_.size()); }
  bool owns(const void* pointer) const noexcept;
  void* allocate(size_t size) noexcept;
  void free(void* pointer, size_t size) noexcept;

  base::Memory& source_;
  std::mutex mutex_;
  base::Buffer block_;
  Range* free_ = nullptr;
};

}  // namespace clef::capi
