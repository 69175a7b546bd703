// Memory of one document: many small pieces, all freed together.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace clef::json {

class Arena {
 public:
  // A copy of `count` elements.
  template <class T>
  const T* copy(const T* elements, size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));
    if (count == 0) return nullptr;
    char* room = align(reserve(count * sizeof(T) + alignof(T)), alignof(T));
    std::uninitialized_copy_n(elements, count, reinterpret_cast<T*>(room));
    commit(room + count * sizeof(T));
    return reinterpret_cast<const T*>(room);
  }

  // Room for `bytes` bytes; nothing is taken until commit() tells where the used part ends.
  char* reserve(size_t bytes) {
    if (bytes > static_cast<size_t>(end_ - free_)) {
      const size_t size = std::max(bytes, next_chunk_);
      chunks_.push_back(std::unique_ptr<char[]>(new char[size]));
      next_chunk_ = std::min(next_chunk_ * 2, kLargestChunk);
      free_ = chunks_.back().get();
      end_ = free_ + size;
    }
    return free_;
  }
  void commit(char* used_end) noexcept { free_ = used_end; }

 private:
  static constexpr size_t kLargestChunk = size_t{1} << 20;

  static char* align(char* place, size_t alignment) noexcept {
    const size_t beyond = reinterpret_cast<uintptr_t>(place) % alignment;
    return beyond == 0 ? place : place + (alignment - beyond);
  }

  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t next_chunk_ = 1024;
  char* free_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace clef::json
