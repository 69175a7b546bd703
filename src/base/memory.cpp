#include "base/memory.hpp"

namespace clef::base {

bool Memory::take(size_t size) noexcept {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    const uint64_t limit = limit_.load(std::memory_order_relaxed);
    if (size > UINT64_MAX - used || (limit != 0 && used + size > limit)) return false;
  } while (!used_.compare_exchange_weak(used, used + size, std::memory_order_relaxed));
  const uint64_t now = used + size;
  uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  if (parent_ && !parent_->take(size)) {
    used_.fetch_sub(size, std::memory_order_relaxed);
    return false;
  }
  return true;
}

void Memory::give_back(size_t size) noexcept {
  used_.fetch_sub(size, std::memory_order_relaxed);
  if (parent_) parent_->give_back(size);
}

const Memory* Memory::limiting(size_t size) const noexcept {
  for (const Memory* memory = this; memory != nullptr; memory = memory->parent_) {
    const uint64_t limit = memory->limit();
    if (limit != 0 && (size > limit || memory->used() > limit - size)) return memory;
  }
  return nullptr;
}

void* Memory::allocate(size_t size) noexcept {
  if (!take(size)) return nullptr;
  void* pointer = allocator_.allocate ? allocator_.allocate(size, kAlignment, allocator_.user)
                                      : ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
  if (!pointer) give_back(size);
  return pointer;
}

void Memory::free(void* pointer, size_t size) noexcept {
  if (!pointer) return;
  if (allocator_.free) {
    allocator_.free(pointer, size, kAlignment, allocator_.user);
  } else {
    ::operator delete (pointer, std::align_val_t{kAlignment});
  }
  give_back(size);
}

Result<Buffer> Buffer::create(Memory& memory, uint64_t size, std::string_view what) {
  Buffer buffer;
  if (size == 0) return buffer;
  const bool fits = size <= SIZE_MAX / 2;
  void* data = fits ? memory.allocate(static_cast<size_t>(size)) : nullptr;
  if (!data) {
    const Memory* limited = fits ? memory.limiting(static_cast<size_t>(size)) : nullptr;
    std::string message =
        std::to_string(size) + " bytes for " + std::string(what) +
        (limited ? " exceed the memory limit of " + std::to_string(limited->limit()) + " bytes (" +
                       std::to_string(limited->used()) + " are in use); raise the limit or shorten the state"
                 : std::string(" could not be allocated"));
    return Status(limited ? Code::memory_limit : Code::out_of_memory, std::move(message));
  }
  buffer.memory_ = &memory;
  buffer.data_ = data;
  buffer.size_ = static_cast<size_t>(size);
  return buffer;
}

}  // namespace clef::base
