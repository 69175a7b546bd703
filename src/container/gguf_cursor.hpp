// Reading forward through the header of a GGUF file. Inside src/container only.
#pragma once
#include <cstring>
#include <span>
#include <string_view>

#include "container/gguf.hpp"

namespace clef::container {

// Everything before the data. Vocabularies of 250,000 tokens with their merges need about 10 MiB.
constexpr uint64_t kLargestGgufHeader = uint64_t{128} << 20;

// Reads forward through a window over the first bytes of the file. A window is the whole header of a file in memory, or
// as much as was read so far of another; when it ends too early, wants_more() tells to try again with a longer one.
class GgufCursor {
 public:
  GgufCursor(std::string_view file, uint64_t file_size, std::span<const std::byte> window)
      : file_(file), file_size_(file_size), window_(window) {}

  std::string_view file() const noexcept { return file_; }
  uint64_t file_size() const noexcept { return file_size_; }
  uint64_t position() const noexcept { return position_; }
  uint64_t left_in_file() const noexcept { return file_size_ - position_; }
  bool wants_more() const noexcept { return wants_more_; }

  // An error when fewer bytes are left.
  base::Status need(uint64_t bytes, std::string_view what) {
    if (bytes <= window_.size() - position_) return {};
    return too_short(bytes, what);
  }

  // Only after need().
  template <class T>
  T take() noexcept {
    T value;
    std::memcpy(&value, window_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  base::Status string(std::string_view& out, std::string_view what);

  // A key or a tensor name: short and valid UTF-8.
  base::Status name(std::string_view& out, std::string_view what);

 private:
  base::Status too_short(uint64_t bytes, std::string_view what);

  std::string_view file_;
  uint64_t file_size_;
  std::span<const std::byte> window_;
  uint64_t position_ = 0;
  bool wants_more_ = false;
};

// One value of a key, of the type with that number; `what` names the key in messages.
base::Status read_gguf_value(GgufCursor& cursor, uint32_t type_number, std::string_view what, GgufValue& out);

}  // namespace clef::container
