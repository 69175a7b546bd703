#include "failing_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace clef::test {
namespace {

std::atomic<long> live{0};      // blocks of operator new that were not given back
std::atomic<long> seen{0};      // allocations since arm()
std::atomic<long> fail_at{-1};  // this one fails, counted from 0; -1: none

void* take_block(size_t size, size_t alignment) noexcept {
  if (seen.fetch_add(1) == fail_at.load()) return nullptr;
  void* pointer = alignment <= alignof(std::max_align_t)
                      ? std::malloc(size ? size : 1)
                      : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (pointer) live.fetch_add(1);
  return pointer;
}
void* take_or_throw(size_t size, size_t alignment) {
  if (void* pointer = take_block(size, alignment)) return pointer;
  throw std::bad_alloc();
}
void give_block(void* pointer) noexcept {
  if (pointer) live.fetch_sub(1);
  std::free(pointer);
}

}  // namespace

void arm(long k) {
  fail_at = -1;
  seen = 0;
  fail_at = k;
}
long disarm() {
  fail_at = -1;
  return seen;
}
long live_blocks() {
  return live;
}

}  // namespace clef::test

using clef::test::give_block;
using clef::test::take_block;
using clef::test::take_or_throw;

void* operator new(size_t size) {
  return take_or_throw(size, 0);
}
void* operator new[](size_t size) {
  return take_or_throw(size, 0);
}
void* operator new(size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return take_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return take_block(size, 0);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return take_block(size, 0);
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_block(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return take_block(size, static_cast<size_t>(alignment));
}
void operator delete(void* pointer) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer) noexcept {
  give_block(pointer);
}
void operator delete(void* pointer, size_t) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer, size_t) noexcept {
  give_block(pointer);
}
void operator delete(void* pointer, std::align_val_t) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer, std::align_val_t) noexcept {
  give_block(pointer);
}
void operator delete(void* pointer, size_t, std::align_val_t) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept {
  give_block(pointer);
}
void operator delete(void* pointer, const std::nothrow_t&) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer, const std::nothrow_t&) noexcept {
  give_block(pointer);
}
void operator delete(void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  give_block(pointer);
}
void operator delete[](void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {
  give_block(pointer);
}
