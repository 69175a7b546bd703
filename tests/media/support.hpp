// Recorded pictures and short forms for the media tests.
#pragma once
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/safetensors.hpp"
#include "io/source.hpp"
#include "json/json.hpp"
#include "media/decode.hpp"
#include "media/resize.hpp"
#include "media/size.hpp"
#include "model/digest.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace clef::test {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline base::Memory& test_memory() {
  static base::Memory memory{base::Allocator{}};
  return memory;
}

inline std::string picture_file(const std::string& name) {
  return read_file(data_path("media/images/" + name));
}

template <class T>
T accepted(base::Result<T> result) {
  INFO("error: " << (result.ok() ? std::string_view() : result.status().message()));
  REQUIRE(result.ok());
  return std::move(result).value();
}

// The whole picture, upright and scaled.
inline base::Result<media::Image> resized(media::Image image, uint32_t width, uint32_t height,
                                          base::Memory& memory = test_memory()) {
  CLEF_ASSIGN_OR_RETURN(media::ScaledRows rows, media::ScaledRows::create(std::move(image), width, height, memory));
  CLEF_ASSIGN_OR_RETURN(media::Image out, media::create_image(width, height, memory));
  rows.read(height, out.row(0));
  return out;
}

inline media::Image upright(media::Image image) {
  const uint32_t width = image.shown_width(), height = image.shown_height();
  return image.transposed ? accepted(resized(std::move(image), width, height)) : std::move(image);
}

inline media::Image decoded(std::string_view file, const media::DecodeOptions& options = {}) {
  return upright(accepted(media::decode(bytes_of(file), options, test_memory())));
}

inline std::string sha256(std::string_view bytes) {
  model::Sha256 hash;
  hash.add(bytes);
  return model::to_hex(hash.finish());
}

inline std::string_view pixels_of(const media::Image& image) {
  return {image.pixels.as<char>(), static_cast<size_t>(image.bytes())};
}

inline std::string sha256(const media::Image& image) {
  return sha256(pixels_of(image));
}

inline media::Image image_of(uint32_t width, uint32_t height, std::string_view pixels) {
  media::Image image = accepted(media::create_image(width, height, test_memory()));
  REQUIRE(pixels.size() == image.bytes());
  std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
  return image;
}

// A picture whose bytes are a fixed pseudo-random sequence.
inline media::Image noise(uint32_t width, uint32_t height) {
  media::Image image = accepted(media::create_image(width, height, test_memory()));
  uint32_t state = 1;
  for (uint64_t i = 0; i < image.bytes(); ++i) {
    state = state * 1664525 + 1013904223;
    image.pixels.as<uint8_t>()[i] = static_cast<uint8_t>(state >> 24);
  }
  return image;
}

inline json::Document read_json(const std::string& path) {
  return accepted(json::parse(read_file(path)));
}

inline int64_t integer(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  int64_t number = 0;
  INFO("key " << key);
  REQUIRE((value != nullptr && value->to_int64(number)));
  return number;
}

inline uint32_t u32(const json::Value& object, std::string_view key) {
  return static_cast<uint32_t>(integer(object, key));
}

inline std::string text(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  INFO("key " << key);
  REQUIRE((value != nullptr && value->is_string()));
  return std::string(value->text());
}

inline std::vector<int64_t> integers(const json::Value& array) {
  std::vector<int64_t> out;
  for (const json::Value& item : array.items()) REQUIRE(item.to_int64(out.emplace_back()));
  return out;
}

inline std::vector<int64_t> grid_of(const media::Size& size) {
  return {static_cast<int64_t>(size.frames), size.rows, size.columns};
}

// A recorded file of tensors, read into memory.
class TensorFile {
 public:
  explicit TensorFile(const std::string& path) : bytes_(read_file(path)) {
    auto source = accepted(io::from_memory(bytes_of(bytes_), false, path));
    file_ = accepted(container::read_safetensors(source));
  }
  const std::vector<container::TensorView>& tensors() const { return file_.tensors; }
  std::string_view data(const container::TensorView& tensor) const {
    return std::string_view(bytes_).substr(static_cast<size_t>(tensor.offset), static_cast<size_t>(tensor.bytes));
  }
  const container::TensorView& find(std::string_view name) const {
    for (const container::TensorView& tensor : file_.tensors)
      if (tensor.name == name) return tensor;
    throw std::runtime_error("no tensor " + std::string(name));
  }

 private:
  std::string bytes_;
  container::Safetensors file_;
};

// The message of an error with that code.
template <class T>
std::string refused(const base::Result<T>& result, base::Code code) {
  REQUIRE_FALSE(result.ok());
  INFO("message: " << result.status().message());
  CHECK(base::code_name(result.status().code()) == base::code_name(code));
  CHECK_FALSE(result.status().message().empty());
  return std::string(result.status().message());
}

inline bool contains(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

}  // namespace clef::test
