// The header of a GGUF v3 file: keys, tensor directory, padding.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "convert/tensors.hpp"

namespace clef::convert {

inline constexpr uint64_t kGgufAlignment = 32;

class GgufHeader {
 public:
  void add(std::string_view key, std::string_view value);
  void add_u32(std::string_view key, uint64_t value);
  void add_f32(std::string_view key, double value);
  void add_bool(std::string_view key, bool value);
  void add_i32s(std::string_view key, std::span<const int32_t> values);
  void add_bools(std::string_view key, const std::vector<bool>& values);
  void add_strings(std::string_view key, std::span<const std::string_view> values);
  // An array of strings that follow one by one with add_element, as many as `count` says.
  void begin_strings(std::string_view key, uint64_t count);
  void add_element(std::string_view value);
  void add_element(std::string_view left, std::string_view right);  // with a space between them

  // Lays out the tensors (offset, bytes) and returns all that stands before the data, which ends at *total.
  base::Result<std::string> finish(std::span<Tensor> tensors, uint64_t* total) const;

 private:
  void begin(std::string_view key, uint32_t type);
  void begin_array(std::string_view key, uint32_t type, uint64_t count);

  std::string keys_;
  uint64_t count_ = 0;
};

}  // namespace clef::convert
