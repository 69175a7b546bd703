// Writing a GGUF file: keys, directory of tensors, padding.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensors.hpp"

namespace synth {

inline constexpr uint64_t kAlignment = 32;

class GgufHeader {
 public:
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, uint32_t value);
  void add(std::string_view key, float value);
  void add(std::string_view key, bool value);
  void add(std::string_view key, std::span<const int32_t> values);
  void add(std::string_view key, const std::vector<bool>& values);
  void add(std::string_view key, std::span<const std::string> values);

  // Sets the offsets of the tensors and returns everything that stands before their bytes.
  std::string finish(std::span<Tensor> tensors) const;

 private:
  void begin(std::string_view key, uint32_t type);

  std::string keys_;
  uint64_t count_ = 0;
};

}  // namespace synth
