#include "gguf.hpp"

#include <bit>

namespace synth {
namespace {

enum ValueType : uint32_t { kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9 };

template <class Integer>
void append(std::string& out, Integer value) {
  for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
}

void append_text(std::string& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out += text;
}

}  // namespace

void GgufHeader::begin(std::string_view key, uint32_t type) {
  append_text(keys_, key);
  append(keys_, type);
  ++count_;
}

void GgufHeader::add(std::string_view key, std::string_view value) {
  begin(key, kString);
  append_text(keys_, value);
}

void GgufHeader::add(std::string_view key, uint32_t value) {
  begin(key, kU32);
  append(keys_, value);
}

void GgufHeader::add(std::string_view key, float value) {
  begin(key, kF32);
  append(keys_, std::bit_cast<uint32_t>(value));
}

void GgufHeader::add(std::string_view key, bool value) {
  begin(key, kBool);
  append(keys_, static_cast<uint8_t>(value ? 1 : 0));
}

void GgufHeader::add(std::string_view key, std::span<const int32_t> values) {
  begin(key, kArray);
  append(keys_, uint32_t{kI32});
  append(keys_, static_cast<uint64_t>(values.size()));
  for (const int32_t value : values) append(keys_, static_cast<uint32_t>(value));
}

void GgufHeader::add(std::string_view key, const std::vector<bool>& values) {
  begin(key, kArray);
  append(keys_, uint32_t{kBool});
  append(keys_, static_cast<uint64_t>(values.size()));
  for (const bool value : values) append(keys_, static_cast<uint8_t>(value ? 1 : 0));
}

void GgufHeader::add(std::string_view key, std::span<const std::string> values) {
  begin(key, kArray);
  append(keys_, uint32_t{kString});
  append(keys_, static_cast<uint64_t>(values.size()));
  for (const std::string& value : values) append_text(keys_, value);
}

std::string GgufHeader::finish(std::span<Tensor> tensors) const {
  std::string out = "GGUF";
  append(out, uint32_t{3});
  append(out, static_cast<uint64_t>(tensors.size()));
  append(out, count_);
  out += keys_;
  uint64_t offset = 0;
  for (Tensor& tensor : tensors) {
    append_text(out, tensor.name);
    append(out, static_cast<uint32_t>(tensor.shape.size()));
    for (auto size = tensor.shape.rbegin(); size != tensor.shape.rend(); ++size)
      append(out, static_cast<uint64_t>(*size));
    append(out, static_cast<uint32_t>(tensor.format->ggml_id));
    append(out, offset);
    tensor.offset = offset;
    offset += (tensor.bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
  return out;
}

}  // namespace synth
