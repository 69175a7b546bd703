#include "container/gguf.hpp"

#include <algorithm>
#include <numeric>

#include "container/gguf_cursor.hpp"
#include "container/sizes.hpp"

namespace clef::container {
namespace {

using base::Code;
using base::Status;

constexpr uint64_t kFirstWindow = uint64_t{1} << 20;
constexpr uint32_t kMostDimensions = 4;
constexpr uint64_t kSmallestAlignment = 8;
constexpr uint64_t kLargestAlignment = uint64_t{1} << 20;
constexpr uint64_t kDefaultAlignment = 32;
// The fewest bytes that a key and a tensor take in the header.
constexpr uint64_t kKeyBytes = 8 + 4 + 1;
constexpr uint64_t kTensorBytes = 8 + 4 + 4 + 8;

// Looks for a name that occurs twice; `twice` is then the later of the two. Sorting costs the same for any names.
template <class NameOf>
bool find_twice(size_t count, NameOf name_of, size_t& twice) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int comparison = name_of(a).compare(name_of(b));
    return comparison != 0 ? comparison < 0 : a < b;
  });
  for (size_t i = 1; i < count; ++i)
    if (name_of(order[i - 1]) == name_of(order[i])) {
      twice = order[i];
      return true;
    }
  return false;
}

class Parser {
 public:
  Parser(const io::SourcePtr& source, std::span<const std::byte> window)
      : source_(source), cursor_(source->name(), source->size(), window) {}

  bool wants_more() const noexcept { return cursor_.wants_more(); }

  Status run(Gguf& out) {
    uint64_t tensors = 0;
    uint64_t keys = 0;
    CLEF_RETURN_IF_ERROR(read_counts(tensors, keys));
    out.keys.reserve(static_cast<size_t>(std::min<uint64_t>(keys, 256)));
    for (uint64_t i = 0; i < keys; ++i) CLEF_RETURN_IF_ERROR(read_key(out));
    CLEF_RETURN_IF_ERROR(check_keys(out));
    out.tensors.reserve(static_cast<size_t>(std::min<uint64_t>(tensors, 4096)));
    for (uint64_t i = 0; i < tensors; ++i) CLEF_RETURN_IF_ERROR(read_tensor(out));
    return place_tensors(out);
  }

 private:
  Status bad(std::string_view what, uint64_t offset, Code code = Code::bad_file) const {
    return bad_file(cursor_.file(), what, offset, code);
  }

  Status read_counts(uint64_t& tensors, uint64_t& keys) {
    CLEF_RETURN_IF_ERROR(cursor_.need(24, "the header"));
    cursor_.take<uint32_t>();  // the magic, checked before
    const auto version = cursor_.take<uint32_t>();
    if ((version & 0xffffu) == 0 && version != 0)
      return bad("is a big-endian GGUF file; only little-endian ones are supported, convert it or fetch another", 4,
                 Code::unsupported);
    if (version != 2 && version != 3)
      return bad("is a GGUF file of version " + std::to_string(version) + "; versions 2 and 3 are supported", 4,
                 Code::unsupported);
    tensors = cursor_.take<uint64_t>();
    keys = cursor_.take<uint64_t>();
    if (tensors > cursor_.left_in_file() / kTensorBytes)
      return bad("says that it holds " + std::to_string(tensors) + " tensors, more than fit into its " +
                     std::to_string(cursor_.file_size()) + " bytes; it is cut short or damaged",
                 8);
    if (keys > cursor_.left_in_file() / kKeyBytes)
      return bad("says that it holds " + std::to_string(keys) + " keys, more than fit into its " +
                     std::to_string(cursor_.file_size()) + " bytes; it is cut short or damaged",
                 16);
    return {};
  }

  Status read_key(Gguf& out) {
    const uint64_t start = cursor_.position();
    std::string_view key;
    CLEF_RETURN_IF_ERROR(cursor_.name(key, "the name of key " + std::to_string(out.keys.size() + 1)));
    const std::string what = "key " + quoted(key);
    CLEF_RETURN_IF_ERROR(cursor_.need(4, what));
    GgufValue value;
    CLEF_RETURN_IF_ERROR(read_gguf_value(cursor_, cursor_.take<uint32_t>(), what, value));
    key_starts_.push_back(start);
    out.keys.emplace_back(std::string(key), std::move(value));
    return {};
  }

  Status check_keys(const Gguf& out) {
    size_t twice = 0;
    const auto key_of = [&](size_t i) -> std::string_view { return out.keys[i].first; };
    if (find_twice(out.keys.size(), key_of, twice))
      return bad("key " + quoted(key_of(twice)) + " is there twice", key_starts_[twice]);
    for (size_t i = 0; i < out.keys.size(); ++i)
      if (key_of(i) == "general.alignment") return read_alignment(out.keys[i].second, key_starts_[i]);
    return {};
  }

  Status read_alignment(const GgufValue& value, uint64_t place) {
    const uint64_t* number = std::get_if<uint64_t>(&value.value);
    if (number == nullptr || *number < kSmallestAlignment || *number > kLargestAlignment ||
        (*number & (*number - 1)) != 0)
      return bad("key 'general.alignment' is not a power of two from 8 to 1048576", place);
    alignment_ = *number;
    return {};
  }

  Status read_tensor(Gguf& out) {
    const uint64_t start = cursor_.position();
    std::string_view name;
    CLEF_RETURN_IF_ERROR(cursor_.name(name, "the name of tensor " + std::to_string(out.tensors.size() + 1)));
    const auto bad_here = [&](std::string_view what) { return bad_tensor(cursor_.file(), name, what, start); };
    if (!cursor_.need(4, "").ok()) return cut_tensor(4, name);
    const auto dimensions = cursor_.take<uint32_t>();
    if (dimensions > kMostDimensions)
      return bad_here("has " + std::to_string(dimensions) + " dimensions; at most 4 are allowed");
    const uint64_t rest = uint64_t{dimensions} * 8 + 4 + 8;
    if (!cursor_.need(rest, "").ok()) return cut_tensor(rest, name);
    TensorView tensor;
    tensor.name = name;
    tensor.source = source_;
    tensor.shape.resize(dimensions);
    // The file names the contiguous dimension first.
    for (uint32_t i = dimensions; i-- > 0;) tensor.shape[i] = cursor_.take<int64_t>();
    const auto type = cursor_.take<uint32_t>();
    tensor.offset = cursor_.take<uint64_t>();  // from the start of the data; place_tensors() makes it absolute
    uint64_t elements = 0;
    if (!count_elements(tensor.shape, elements))
      return bad_here("has dimensions that are negative or whose product is beyond 2^63 - 1");
    bool known_size = false;
    if (type <= INT32_MAX) {
      const auto id = static_cast<int32_t>(type);
      const char* known = quant::ggml_type_name(id);
      if (known != nullptr) tensor.type_name = known;
      tensor.format = quant::find_ggml(id);
      uint32_t block_values = 1;
      uint32_t block_bytes = 0;
      if (quant::ggml_block(id, block_values, block_bytes)) {
        const int64_t row = dimensions == 0 ? 1 : tensor.shape.back();
        if (row % block_values != 0)
          return bad_here("has rows of " + std::to_string(row) + " values, but type " + tensor.type_name +
                          " comes in blocks of " + std::to_string(block_values));
        if (!multiply(elements / block_values, block_bytes, tensor.bytes))
          return bad_here("has more bytes than fit into 64 bits");
        known_size = true;
      }
    }
    if (tensor.type_name.empty()) tensor.type_name = "type " + std::to_string(type);
    out.tensors.push_back(std::move(tensor));
    tensor_starts_.push_back(start);
    known_size_.push_back(known_size);
    return {};
  }

  // The same error as need() gives, with the tensor's name in its place.
  Status cut_tensor(uint64_t bytes, std::string_view name) {
    return cursor_.need(bytes, "the description of tensor " + quoted(name)).in_tensor(name);
  }

  Status place_tensors(Gguf& out) {
    size_t twice = 0;
    const auto name_of = [&](size_t i) -> std::string_view { return out.tensors[i].name; };
    if (find_twice(out.tensors.size(), name_of, twice))
      return bad_tensor(cursor_.file(), name_of(twice), "is there twice", tensor_starts_[twice]);

    const uint64_t size = cursor_.file_size();
    const uint64_t start = (cursor_.position() + alignment_ - 1) & ~(alignment_ - 1);
    for (TensorView& tensor : out.tensors) {
      const uint64_t room = start > size ? 0 : size - start;
      const auto bad_here = [&](std::string_view what) {
        return bad_tensor(cursor_.file(), tensor.name, what, std::min(start, size) + std::min(tensor.offset, room));
      };
      if (tensor.offset % alignment_ != 0)
        return bad_here("lies at data offset " + std::to_string(tensor.offset) + ", which is not a multiple of " +
                        std::to_string(alignment_));
      if (start > size || tensor.offset > room || tensor.bytes > room - tensor.offset)
        return bad_here("needs " + std::to_string(tensor.bytes) + " bytes at data offset " +
                        std::to_string(tensor.offset) + " (the data starts at " + std::to_string(start) +
                        "), but the file has " + std::to_string(size) +
                        " bytes; it is cut short or damaged, fetch it again");
      tensor.offset += start;
    }

    std::vector<size_t> order(out.tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const TensorView& left = out.tensors[a];
      const TensorView& right = out.tensors[b];
      return left.offset != right.offset ? left.offset < right.offset : left.bytes < right.bytes;
    });
    for (size_t i = 0; i < order.size(); ++i) {
      TensorView& tensor = out.tensors[order[i]];
      const uint64_t next = i + 1 < order.size() ? out.tensors[order[i + 1]].offset : size;
      // Of a type that nobody knows the size is not known either: all up to the next tensor.
      if (!known_size_[order[i]]) tensor.bytes = next - tensor.offset;
      if (tensor.bytes > next - tensor.offset)
        return bad_tensor(
            cursor_.file(), tensor.name,
            "overlaps tensor " + quoted(out.tensors[order[i + 1]].name) + " at offset " + std::to_string(next),
            tensor.offset);
    }
    return {};
  }

  const io::SourcePtr& source_;
  GgufCursor cursor_;
  uint64_t alignment_ = kDefaultAlignment;
  std::vector<uint64_t> key_starts_;  // where each key and each tensor is described
  std::vector<uint64_t> tensor_starts_;
  std::vector<bool> known_size_;  // of each tensor
};

Status check_magic(const io::ByteSource& source) {
  char start[512];
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(source.size(), sizeof(start)));
  CLEF_RETURN_IF_ERROR(source.read(0, std::as_writable_bytes(std::span(start, bytes))));
  const std::string_view text(start, bytes);
  if (text.starts_with("GGUF")) return {};
  if (text.starts_with("FUGG"))
    return bad_file(source.name(), "is a big-endian GGUF file; only little-endian ones are supported", 0,
                    Code::unsupported);
  return wrong_kind(source.name(), "GGUF file", guess_kind(text));
}

}  // namespace

bool is_gguf(const io::ByteSource& source) {
  char magic[4];
  if (source.size() < sizeof(magic)) return false;
  if (!source.read(0, std::as_writable_bytes(std::span(magic))).ok()) return false;
  const std::string_view text(magic, sizeof(magic));
  return text == "GGUF" || text == "FUGG";
}

base::Result<Gguf> read_gguf(const io::SourcePtr& source) {
  CLEF_RETURN_IF_ERROR(check_magic(*source));
  const uint64_t longest = std::min(source->size(), kLargestGgufHeader);
  const bool in_memory = source->data() != nullptr;
  auto buffer = std::make_shared<std::vector<std::byte>>();
  for (uint64_t length = in_memory ? longest : std::min(longest, kFirstWindow);;) {
    std::span<const std::byte> window;
    if (in_memory) {
      window = {source->data(), static_cast<size_t>(length)};
    } else {
      const size_t have = buffer->size();
      buffer->resize(static_cast<size_t>(length));
      CLEF_RETURN_IF_ERROR(source->read(have, std::span(*buffer).subspan(have)));
      window = *buffer;
    }
    Gguf out;
    Parser parser(source, window);
    Status status = parser.run(out);
    if (status.ok()) {
      out.files.push_back(source->name());
      if (in_memory) {
        out.storage = source;
      } else {
        out.storage = std::move(buffer);
      }
      return out;
    }
    if (!parser.wants_more() || length == longest) return status;
    length = std::min(longest, length * 4);
  }
}

}  // namespace clef::container
