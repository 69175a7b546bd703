// Makes small safetensors files.
#pragma once
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clef::test {

class SafetensorsWriter {
 public:
  // Names and texts must need no escapes in JSON.
  SafetensorsWriter& add_metadata(std::string_view key, std::string_view value) {
    if (!metadata_.empty()) metadata_ += ',';
    metadata_ += quote(key);
    metadata_ += ':';
    metadata_ += quote(value);
    return *this;
  }
  SafetensorsWriter& add_tensor(std::string_view name, std::string_view dtype, const std::vector<int64_t>& shape,
                                std::string_view bytes) {
    if (!tensors_.empty()) tensors_ += ',';
    tensors_ += quote(name);
    tensors_ += ":{\"dtype\":";
    tensors_ += quote(dtype);
    tensors_ += ",\"shape\":[";
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i > 0) tensors_ += ',';
      tensors_ += std::to_string(shape[i]);
    }
    tensors_ += "],\"data_offsets\":[";
    tensors_ += std::to_string(data_.size());
    tensors_ += ',';
    data_ += bytes;
    tensors_ += std::to_string(data_.size());
    tensors_ += "]}";
    return *this;
  }
  SafetensorsWriter& add_f32_tensor(std::string_view name, const std::vector<int64_t>& shape,
                                    const std::vector<float>& values) {
    return add_tensor(name, "F32", shape,
                      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }

  std::string header() const {
    std::string json(1, '{');
    if (!metadata_.empty()) {
      json += "\"__metadata__\":{";
      json += metadata_;
      json += tensors_.empty() ? "}" : "},";
    }
    json += tensors_;
    json += '}';
    return json;
  }
  std::string bytes() const { return file(header(), data_); }
  void write(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    const std::string content = bytes();
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + path);
  }

  // A file from any header, for broken ones.
  static std::string file(std::string_view header, std::string_view data) {
    const uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    return bytes + std::string(header) + std::string(data);
  }

 private:
  static std::string quote(std::string_view text) {
    std::string quoted(1, '"');
    quoted += text;
    quoted += '"';
    return quoted;
  }

  std::string metadata_;
  std::string tensors_;
  std::string data_;
};

}  // namespace clef::test
