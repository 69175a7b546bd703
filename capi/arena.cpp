#include "arena.hpp"

#include <functional>
#include <new>

namespace clef::capi {
namespace {

constexpr size_t round_up(size_t size) noexcept {
  return (size + base::kAlignment - 1) / base::kAlignment * base::kAlignment;
}

}  // namespace

base::Status Arena::reserve(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > SIZE_MAX / 2) return base::Status(base::Code::out_of_memory, "so many bytes cannot be addressed");
  const size_t size = round_up(static_cast<size_t>(bytes));
  if (size == 0 || size <= block_.size()) return {};
  if (!idle()) return base::Status(base::Code::busy, "a part of the reserved memory is in use");
  free_ = nullptr;
  block_.reset();
  CLEF_ASSIGN_OR_RETURN(block_, base::Buffer::create(source_, size, "the session's reserve"));
  free_ = new (block_.data()) Range{size, nullptr};
  return {};
}

void Arena::trim() noexcept {
  std::lock_guard lock(mutex_);
  if (!idle()) return;
  free_ = nullptr;
  block_.reset();
}

base::Allocator Arena::allocator() noexcept {
  base::Allocator allocator;
  allocator.allocate = [](size_t size, size_t, void* user) { return static_cast<Arena*>(user)->allocate(size); };
  allocator.free = [](void* pointer, size_t size, size_t, void* user) {
    static_cast<Arena*>(user)->free(pointer, size);
  };
  allocator.user = this;
  return allocator;
}

bool Arena::owns(const void* pointer) const noexcept {
  const auto* begin = static_cast<const std::byte*>(block_.data());
  const auto* p = static_cast<const std::byte*>(pointer);
  return begin && !std::less<>()(p, begin) && std::less<>()(p, begin + block_.size());
}

void* Arena::allocate(size_t size) noexcept {
  if (size == 0 || size > SIZE_MAX / 2) return nullptr;
  const size_t needed = round_up(size);
  {
    std::lock_guard lock(mutex_);
    for (Range** link = &free_; *link; link = &(*link)->next) {
      Range* range = *link;
      if (range->size < needed) continue;
      if (range->size == needed) {
        *link = range->next;
      } else {
        *link = new (reinterpret_cast<std::byte*>(range) + needed) Range{range->size - needed, range->next};
      }
      return range;
    }
  }
  return source_.allocate(size);
}

void Arena::free(void* pointer, size_t size) noexcept {
  std::lock_guard lock(mutex_);
  if (!owns(pointer)) {
    source_.free(pointer, size);
    return;
  }
  Range* before = nullptr;
  Range** link = &free_;
  for (; *link && std::less<>()(static_cast<void*>(*link), pointer); link = &(*link)->next) before = *link;
  auto* range = new (pointer) Range{round_up(size), *link};
  *link = range;
  const auto joins = [](const Range* a, const Range* b) {
    return reinterpret_cast<const std::byte*>(a) + a->size == reinterpret_cast<const std::byte*>(b);
  };
  if (range->next && joins(range, range->next)) {
    range->size += range->next->size;
    range->next = range->next->next;
  }
  if (before && joins(before, range)) {
    before->size += range->size;
    before->next = range->next;
  }
}

}  // namespace clef::capi
