#include "convert/gguf_writer.hpp"

#include <bit>

#include "container/sizes.hpp"

namespace clef::convert {

using base::Code;
using base::Status;

namespace {

enum ValueType : uint32_t { kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kString = 8, kArray = 9 };

constexpr size_t kLongestName = 63;  // of a tensor, for llama.cpp

// Little-endian on every machine.
template <class Integer>
void append(std::string& out, Integer value) {
  for (size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff);
}

void append_text(std::string& out, std::string_view text) {
  append(out, static_cast<uint64_t>(text.size()));
  out += text;
}

uint64_t aligned(uint64_t offset) noexcept {
  return (offset + kGgufAlignment - 1) / kGgufAlignment * kGgufAlignment;
}

Status too_large(std::string_view tensor) {
  return Status(Code::unsupported, "tensor '" + std::string(tensor) + "' is too large to be written").in_tensor(tensor);
}

}  // namespace

void GgufHeader::begin(std::string_view key, uint32_t type) {
  append_text(keys_, key);
  append(keys_, type);
  ++count_;
}

void GgufHeader::begin_array(std::string_view key, uint32_t type, uint64_t count) {
  begin(key, kArray);
  append(keys_, type);
  append(keys_, count);
}

void GgufHeader::add(std::string_view key, std::string_view value) {
  begin(key, kString);
  append_text(keys_, value);
}

void GgufHeader::add_u32(std::string_view key, uint64_t value) {
  begin(key, kU32);
  append(keys_, static_cast<uint32_t>(value));
}

void GgufHeader::add_f32(std::string_view key, double value) {
  begin(key, kF32);
  append(keys_, std::bit_cast<uint32_t>(static_cast<float>(value)));
}

void GgufHeader::add_bool(std::string_view key, bool value) {
  begin(key, kBool);
  append(keys_, static_cast<uint8_t>(value ? 1 : 0));
}

void GgufHeader::add_i32s(std::string_view key, std::span<const int32_t> values) {
  begin_array(key, kI32, values.size());
  for (const int32_t value : values) append(keys_, static_cast<uint32_t>(value));
}

void GgufHeader::add_bools(std::string_view key, const std::vector<bool>& values) {
  begin_array(key, kBool, values.size());
  for (const bool value : values) append(keys_, static_cast<uint8_t>(value ? 1 : 0));
}

void GgufHeader::begin_strings(std::string_view key, uint64_t count) {
  begin_array(key, kString, count);
}

void GgufHeader::add_element(std::string_view value) {
  append_text(keys_, value);
}

void GgufHeader::add_element(std::string_view left, std::string_view right) {
  append(keys_, static_cast<uint64_t>(left.size() + 1 + right.size()));
  keys_ += left;
  keys_ += ' ';
  keys_ += right;
}

void GgufHeader::add_strings(std::string_view key, std::span<const std::string_view> values) {
  begin_strings(key, values.size());
  for (const std::string_view value : values) add_element(value);
}

base::Result<std::string> GgufHeader::finish(std::span<Tensor> tensors, uint64_t* total) const {
  std::string header = "GGUF";
  append(header, uint32_t{3});
  append(header, static_cast<uint64_t>(tensors.size()));
  append(header, count_);
  header += keys_;
  uint64_t offset = 0;
  for (Tensor& tensor : tensors) {
    const uint64_t row = quant::row_bytes(*tensor.format, static_cast<uint64_t>(tensor.columns_count()));
    if (row == 0 || !container::multiply(row, static_cast<uint64_t>(tensor.rows_count()), tensor.bytes) ||
        tensor.bytes > (uint64_t{1} << 60) || offset > (uint64_t{1} << 60) || tensor.name.size() > kLongestName)
      return too_large(tensor.name);
    tensor.offset = offset;
    offset = aligned(offset + tensor.bytes);
    append_text(header, tensor.name);
    append(header, static_cast<uint32_t>(tensor.shape.size()));
    for (size_t i = tensor.shape.size(); i-- > 0;) append(header, static_cast<uint64_t>(tensor.shape[i]));
    append(header, static_cast<uint32_t>(tensor.format->ggml_id));
    append(header, tensor.offset);
  }
  header.resize(static_cast<size_t>(aligned(header.size())));
  *total = header.size() + offset;
  return header;
}

}  // namespace clef::convert
