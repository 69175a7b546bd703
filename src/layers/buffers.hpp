// Places the scratch buffers of the layers in one arena: each layer kind starts at the beginning, since only one runs
// at a time. Used twice: first without an arena to learn the size, then with it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>

#include "device/device.hpp"

namespace clef::layers {

using BufferPtr = std::unique_ptr<device::Buffer>;

constexpr int64_t round_up(int64_t n, int64_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

class Placement {
 public:
  Placement(device::Device& device, device::Arena* arena) noexcept : device_(device), arena_(arena) {}
  // Null while there is no arena.
  BufferPtr place(int64_t rows, int64_t columns, device::Role role) {
    const uint64_t offset = offset_;
    offset_ += (device_.buffer_bytes(rows, columns, role) + 63) / 64 * 64;
    size_ = std::max(size_, offset_);
    return arena_ ? device_.place(*arena_, offset, rows, columns, role) : nullptr;
  }
  // What is placed from here on lies over what was placed after `mark`.
  uint64_t mark() const noexcept { return offset_; }
  void back_to(uint64_t mark) noexcept { offset_ = mark; }
  uint64_t size() const noexcept { return size_; }

 private:
  device::Device& device_;
  device::Arena* arena_;
  uint64_t offset_ = 0, size_ = 0;
};

}  // namespace clef::layers
