// Reading the keys of a GGUF file under a prefix: types and ranges, and messages that name file and key. Inside src/model
// only.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "container/gguf.hpp"
#include "model/message.hpp"

namespace clef::model {

class Keys {
 public:
  Keys(const container::Gguf& gguf, std::string_view prefix)
      : gguf_(gguf), prefix_(prefix), file_(gguf.files.empty() ? std::string("GGUF file") : gguf.files.front()) {}

  const std::string& file() const noexcept { return file_; }
  std::string name(std::string_view key) const { return prefix_ + "." + std::string(key); }
  bool has(std::string_view key) const noexcept { return gguf_.find(name(key)) != nullptr; }
  base::Status error(base::Code code, std::string_view key, std::string_view what) const {
    return file_error(code, file_, "key " + quoted(name(key)) + " " + std::string(what));
  }
  base::Status missing(std::string_view key) const { return error(base::Code::bad_file, key, "is missing"); }

  template <class Integer>
  base::Status integer(std::string_view key, int64_t low, int64_t high, Integer& out) const {
    if (!has(key)) return missing(key);
    int64_t number = 0;
    if (!gguf_.get_int(name(key), number)) return error(base::Code::bad_file, key, "is not an integer");
    CLEF_RETURN_IF_ERROR(in_range(key, number, low, high));
    out = static_cast<Integer>(number);
    return {};
  }
  base::Status real(std::string_view key, double low, double high, double& out) const {
    if (!has(key)) return missing(key);
    if (!gguf_.get_double(name(key), out)) return error(base::Code::bad_file, key, "is not a number");
    if (!(out >= low && out <= high)) return error(base::Code::bad_file, key, "is no usable number");
    return {};
  }
  const std::vector<int64_t>* array(std::string_view key) const noexcept {
    const container::GgufValue* value = gguf_.find(name(key));
    return value ? std::get_if<std::vector<int64_t>>(&value->value) : nullptr;
  }
  base::Status in_range(std::string_view key, int64_t number, int64_t low, int64_t high) const {
    if (number >= low && number <= high) return {};
    return error(
        base::Code::bad_file, key,
        "is " + std::to_string(number) + "; it must be from " + std::to_string(low) + " to " + std::to_string(high));
  }
  // An array with one entry per layer, or nullptr when the key is absent or a scalar.
  base::Status per_layer(std::string_view key, size_t layers, const std::vector<int64_t>*& out) const {
    out = array(key);
    if (out && out->size() != layers)
      return error(base::Code::bad_file, key,
                   "has " + std::to_string(out->size()) + " entries for " + std::to_string(layers) + " layers");
    return {};
  }

 private:
  const container::Gguf& gguf_;
  std::string prefix_, file_;
};

}  // namespace clef::model
