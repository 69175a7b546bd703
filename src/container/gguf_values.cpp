// The values of GGUF keys: reading and look-up.
#include <type_traits>

#include "container/gguf_cursor.hpp"
#include "container/sizes.hpp"

namespace clef::container {
namespace {

using base::Code;
using base::Status;

enum class ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

uint64_t value_bytes(ValueType type) noexcept {
  switch (type) {
    case ValueType::u8:
    case ValueType::i8:
    case ValueType::boolean:
      return 1;
    case ValueType::u16:
    case ValueType::i16:
      return 2;
    case ValueType::u32:
    case ValueType::i32:
    case ValueType::f32:
      return 4;
    case ValueType::string:  // at least its length
    case ValueType::u64:
    case ValueType::i64:
    case ValueType::f64:
      return 8;
    case ValueType::array:
      return 12;
  }
  return 0;
}

template <class T>
void take_array(GgufCursor& cursor, size_t elements, ValueType type, GgufValue& out) {
  using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  std::vector<Wide> values(elements);
  for (Wide& value : values) value = static_cast<Wide>(cursor.take<T>());
  if (type == ValueType::boolean)
    for (Wide& value : values) value = value != 0 ? Wide{1} : Wide{0};
  out.value = std::move(values);
}

Status read_array(GgufCursor& cursor, std::string_view what, GgufValue& out) {
  const uint64_t start = cursor.position();
  const auto bad = [&](const std::string& problem, Code code = Code::bad_file) {
    return bad_file(cursor.file(), std::string(what) + problem, start, code);
  };
  CLEF_RETURN_IF_ERROR(cursor.need(12, what));
  const auto type_number = cursor.take<uint32_t>();
  const auto count = cursor.take<uint64_t>();
  if (type_number > static_cast<uint32_t>(ValueType::f64))
    return bad(" is an array of the unknown value type " + std::to_string(type_number));
  const auto type = static_cast<ValueType>(type_number);
  if (type == ValueType::array) return bad(" is an array of arrays, which is not supported", Code::unsupported);
  uint64_t bytes = 0;
  if (!multiply(count, value_bytes(type), bytes) || bytes > cursor.left_in_file())
    return bad(" has " + std::to_string(count) + " elements, more than fit into the file of " +
               std::to_string(cursor.file_size()) + " bytes; it is cut short or damaged");
  CLEF_RETURN_IF_ERROR(cursor.need(bytes, what));  // so the elements are bounded by bytes that are really there
  const auto elements = static_cast<size_t>(count);
  switch (type) {
    case ValueType::u8:
    case ValueType::boolean:
      take_array<uint8_t>(cursor, elements, type, out);
      break;
    case ValueType::i8:
      take_array<int8_t>(cursor, elements, type, out);
      break;
    case ValueType::u16:
      take_array<uint16_t>(cursor, elements, type, out);
      break;
    case ValueType::i16:
      take_array<int16_t>(cursor, elements, type, out);
      break;
    case ValueType::u32:
      take_array<uint32_t>(cursor, elements, type, out);
      break;
    case ValueType::i32:
      take_array<int32_t>(cursor, elements, type, out);
      break;
    case ValueType::i64:
      take_array<int64_t>(cursor, elements, type, out);
      break;
    case ValueType::f32:
      take_array<float>(cursor, elements, type, out);
      break;
    case ValueType::f64:
      take_array<double>(cursor, elements, type, out);
      break;
    case ValueType::u64:
      take_array<int64_t>(cursor, elements, type, out);
      for (const int64_t value : *std::get_if<std::vector<int64_t>>(&out.value))
        if (value < 0) return bad(" holds a number beyond 2^63 - 1, which is not supported", Code::unsupported);
      break;
    case ValueType::string: {
      std::vector<std::string_view> strings(elements);
      for (std::string_view& text : strings) CLEF_RETURN_IF_ERROR(cursor.string(text, what));
      out.value = std::move(strings);
      break;
    }
    case ValueType::array:
      break;
  }
  return {};
}

}  // namespace

base::Status read_gguf_value(GgufCursor& cursor, uint32_t type_number, std::string_view what, GgufValue& out) {
  if (type_number > static_cast<uint32_t>(ValueType::f64))
    return bad_file(cursor.file(), std::string(what) + " has the unknown value type " + std::to_string(type_number),
                    cursor.position());
  const auto type = static_cast<ValueType>(type_number);
  if (type == ValueType::array) return read_array(cursor, what, out);
  if (type == ValueType::string) {
    std::string_view text;
    CLEF_RETURN_IF_ERROR(cursor.string(text, what));
    out.value = text;
    return {};
  }
  CLEF_RETURN_IF_ERROR(cursor.need(value_bytes(type), what));
  switch (type) {
    case ValueType::u8:
      out.value = uint64_t{cursor.take<uint8_t>()};
      break;
    case ValueType::u16:
      out.value = uint64_t{cursor.take<uint16_t>()};
      break;
    case ValueType::u32:
      out.value = uint64_t{cursor.take<uint32_t>()};
      break;
    case ValueType::u64:
      out.value = cursor.take<uint64_t>();
      break;
    case ValueType::i8:
      out.value = int64_t{cursor.take<int8_t>()};
      break;
    case ValueType::i16:
      out.value = int64_t{cursor.take<int16_t>()};
      break;
    case ValueType::i32:
      out.value = int64_t{cursor.take<int32_t>()};
      break;
    case ValueType::i64:
      out.value = cursor.take<int64_t>();
      break;
    case ValueType::f32:
      out.value = double{cursor.take<float>()};
      break;
    case ValueType::f64:
      out.value = cursor.take<double>();
      break;
    case ValueType::boolean:
      out.value = cursor.take<uint8_t>() != 0;
      break;
    case ValueType::string:
    case ValueType::array:
      break;
  }
  return {};
}

const GgufValue* Gguf::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : keys)
    if (name == key) return &value;
  return nullptr;
}

bool Gguf::get_int(std::string_view key, int64_t& out) const noexcept {
  const GgufValue* found = find(key);
  if (found == nullptr) return false;
  if (const auto* number = std::get_if<int64_t>(&found->value)) {
    out = *number;
  } else if (const auto* natural = std::get_if<uint64_t>(&found->value)) {
    if (*natural > INT64_MAX) return false;
    out = static_cast<int64_t>(*natural);
  } else if (const auto* flag = std::get_if<bool>(&found->value)) {
    out = *flag ? 1 : 0;
  } else {
    return false;
  }
  return true;
}

bool Gguf::get_double(std::string_view key, double& out) const noexcept {
  const GgufValue* found = find(key);
  const auto* number = found != nullptr ? std::get_if<double>(&found->value) : nullptr;
  if (number == nullptr) return false;
  out = *number;
  return true;
}

bool Gguf::get_string(std::string_view key, std::string_view& out) const noexcept {
  const GgufValue* found = find(key);
  const auto* text = found != nullptr ? std::get_if<std::string_view>(&found->value) : nullptr;
  if (text == nullptr) return false;
  out = *text;
  return true;
}

}  // namespace clef::container
