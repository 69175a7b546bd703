// Makes small GGUF files. Nothing is checked, so broken ones can be made too.
#pragma once
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clef::test {

class GgufWriter {
 public:
  enum Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

  template <class T>
  static std::string raw(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
  }
  static std::string text(std::string_view value) { return raw<uint64_t>(value.size()) + std::string(value); }

  uint32_t version = 3;
  uint64_t alignment = 32;               // used for the layout; add the key general.alignment yourself
  std::optional<uint64_t> tensor_count;  // in place of the real counts
  std::optional<uint64_t> key_count;

  // A value as it lies in the file, after its type number.
  GgufWriter& add(std::string_view key, uint32_t type, std::string_view bytes) {
    keys_ += text(key) + raw(type) + std::string(bytes);
    ++key_number_;
    return *this;
  }
  GgufWriter& add_u16(std::string_view key, uint16_t value) { return add(key, u16, raw(value)); }
  GgufWriter& add_u32(std::string_view key, uint32_t value) { return add(key, u32, raw(value)); }
  GgufWriter& add_i32(std::string_view key, int32_t value) { return add(key, i32, raw(value)); }
  GgufWriter& add_u64(std::string_view key, uint64_t value) { return add(key, u64, raw(value)); }
  GgufWriter& add_f32(std::string_view key, float value) { return add(key, f32, raw(value)); }
  GgufWriter& add_bool(std::string_view key, bool value) { return add(key, boolean, raw<uint8_t>(value ? 1 : 0)); }
  GgufWriter& add_string(std::string_view key, std::string_view value) { return add(key, string, text(value)); }
  GgufWriter& add_strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) bytes += text(value);
    return add_array(key, string, values.size(), bytes);
  }
  GgufWriter& add_i32s(std::string_view key, const std::vector<int32_t>& values) {
    return add_array(key, i32, values.size(), raw_all(values));
  }
  GgufWriter& add_f32s(std::string_view key, const std::vector<float>& values) {
    return add_array(key, f32, values.size(), raw_all(values));
  }
  GgufWriter& add_array(std::string_view key, uint32_t type, uint64_t count, std::string_view bytes) {
    return add(key, array, raw(type) + raw(count) + std::string(bytes));
  }

  // `shape` in torch order; `type` is the ggml type number. Data follow in order, aligned, unless `offset` says
  // otherwise.
  GgufWriter& add_tensor(std::string_view name, uint32_t type, const std::vector<int64_t>& shape,
                         std::string_view bytes, std::optional<uint64_t> offset = {}) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    tensors_ += text(name) + raw(static_cast<uint32_t>(shape.size()));
    for (size_t i = shape.size(); i-- > 0;) tensors_ += raw(shape[i]);
    tensors_ += raw(type) + raw<uint64_t>(offset.value_or(data_.size()));
    data_ += bytes;
    ++tensor_number_;
    return *this;
  }
  GgufWriter& add_f32_tensor(std::string_view name, const std::vector<int64_t>& shape,
                             const std::vector<float>& values) {
    return add_tensor(name, 0, shape, raw_all(values));
  }

  // Everything before the data, without padding.
  std::string header() const {
    return "GGUF" + raw(version) + raw(tensor_count.value_or(tensor_number_)) + raw(key_count.value_or(key_number_)) +
           keys_ + tensors_;
  }
  std::string bytes() const {
    std::string file = header();
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    return file + data_;
  }
  void write(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    const std::string file = bytes();
    out.write(file.data(), static_cast<std::streamsize>(file.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
  }

 private:
  template <class T>
  static std::string raw_all(const std::vector<T>& values) {
    return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  std::string keys_;
  std::string tensors_;
  std::string data_;
  uint64_t key_number_ = 0;
  uint64_t tensor_number_ = 0;
};

}  // namespace clef::test
