#include "container/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "container/sizes.hpp"
#include "json/json.hpp"

namespace clef::container {
namespace {

using base::Code;
using base::Status;

constexpr uint64_t kLargestHeader = 100'000'000;  // the limit of the format
constexpr uint64_t kLengthBytes = 8;

// Every dtype of the format, so that a file may hold tensors that clef does not read.
struct Dtype {
  std::string_view name;
  uint32_t bits;
};
constexpr Dtype kDtypes[] = {
    {"BOOL", 8},        {"U8", 8},          {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
    {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},        {"F32", 32},    {"I64", 64},    {"U64", 64},    {"F64", 64},
    {"C64", 64},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6},
};

bool to_size(const json::Value& value, int64_t& out) noexcept {
  return value.to_int64(out) && out >= 0;
}

// A JSON error becomes an error of the file.
Status bad_header(std::string_view file, const Status& error, uint64_t start) {
  const int64_t inside = error.detail().offset;
  return bad_file(file, "the header is not usable JSON: " + std::string(error.message()),
                  start + (inside > 0 ? static_cast<uint64_t>(inside) : 0));
}

class Reader {
 public:
  Reader(const io::SourcePtr& source, uint64_t data_start)
      : source_(source), file_(source->name()), data_start_(data_start), data_bytes_(source->size() - data_start) {}

  Status read_metadata(const json::Value& value, std::map<std::string, std::string>& out) const {
    if (!value.is_object()) return bad("'__metadata__' in the header is not an object", kLengthBytes);
    for (const json::Member& entry : value.members()) {
      if (!entry.value.is_string())
        return bad("'__metadata__' in the header holds " + quoted(entry.key) + ", which is not a string", kLengthBytes);
      out[std::string(entry.key)] = entry.value.text();
    }
    return {};
  }

  Status read_tensor(std::string_view name, const json::Value& value, TensorView& tensor) const {
    tensor.name = name;
    tensor.source = source_;
    const auto bad_here = [&](std::string_view what) { return bad_tensor(file_, name, what, kLengthBytes); };
    if (!value.is_object()) return bad_here("is not described by an object");
    for (const std::string_view field : {"dtype", "shape", "data_offsets"}) {
      const auto same = [&](const json::Member& member) { return member.key == field; };
      const auto members = value.members();
      const auto times = std::count_if(members.begin(), members.end(), same);
      if (times != 1)
        return bad_here(times == 0 ? "lacks the field " + quoted(field) : "has the field " + quoted(field) + " twice");
    }
    const json::Value& dtype = *value.find("dtype");
    if (!dtype.is_string()) return bad_here("has a dtype that is not a string");
    const auto* known = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                     [&](const Dtype& candidate) { return candidate.name == dtype.text(); });
    if (known == std::end(kDtypes)) return bad_here("has the unknown dtype " + quoted(dtype.text()));
    tensor.type_name = known->name;
    tensor.format = quant::find_safetensors(known->name);

    const json::Value& shape = *value.find("shape");
    if (!shape.is_array()) return bad_here("has a shape that is not an array");
    tensor.shape.reserve(shape.items().size());
    for (const json::Value& item : shape.items()) {
      int64_t dimension = 0;
      if (!to_size(item, dimension)) return bad_here("has a shape with an entry that is not a size");
      tensor.shape.push_back(dimension);
    }
    uint64_t elements = 0;
    uint64_t bits = 0;
    if (!count_elements(tensor.shape, elements) || !multiply(elements, known->bits, bits))
      return bad_here("has a shape whose size does not fit into 64 bits");
    if (bits % 8 != 0) return bad_here("does not fill whole bytes");
    return read_offsets(*value.find("data_offsets"), bits / 8, tensor);
  }

  // The data must be covered once and whole, as the format demands: what lies between tensors would be nobody's.
  Status check_coverage(const std::vector<TensorView>& tensors) const {
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const TensorView& left = tensors[a];
      const TensorView& right = tensors[b];
      return left.offset != right.offset ? left.offset < right.offset : left.bytes < right.bytes;
    });
    uint64_t end = data_start_;
    for (const size_t i : order) {
      const TensorView& tensor = tensors[i];
      if (tensor.offset < end)
        return bad_tensor(file_, tensor.name,
                          "overlaps the tensor before it, which ends at offset " + std::to_string(end), tensor.offset);
      if (tensor.offset > end)
        return bad_tensor(file_, tensor.name,
                          "leaves a gap of " + std::to_string(tensor.offset - end) + " bytes before it", end);
      end = tensor.offset + tensor.bytes;
    }
    if (end != source_->size())
      return bad("has " + std::to_string(source_->size() - end) + " bytes after the last tensor, at offset " +
                     std::to_string(end) + "; it is damaged",
                 end);
    return {};
  }

 private:
  Status bad(std::string_view what, uint64_t offset) const { return bad_file(file_, what, offset); }

  Status read_offsets(const json::Value& offsets, uint64_t bytes, TensorView& tensor) const {
    const auto bad_here = [&](std::string_view what, uint64_t offset) {
      return bad_tensor(file_, tensor.name, what, offset);
    };
    int64_t begin = 0;
    int64_t end = 0;
    if (offsets.items().size() != 2 || !to_size(offsets.items()[0], begin) || !to_size(offsets.items()[1], end) ||
        begin > end)
      return bad_here("has data_offsets that are not a begin and an end", kLengthBytes);
    const auto first = static_cast<uint64_t>(begin);
    tensor.bytes = static_cast<uint64_t>(end - begin);
    if (tensor.bytes != bytes)
      return bad_here("is " + describe(tensor) + " and needs " + std::to_string(bytes) +
                          " bytes, but data_offsets give " + std::to_string(tensor.bytes),
                      kLengthBytes);
    if (static_cast<uint64_t>(end) > data_bytes_)
      return bad_here("ends at data offset " + std::to_string(end) + ", but the file of " +
                          std::to_string(source_->size()) + " bytes has only " + std::to_string(data_bytes_) +
                          " bytes of data; it is cut short or damaged, fetch it again",
                      data_start_ + std::min(first, data_bytes_));
    tensor.offset = data_start_ + first;
    return {};
  }

  const io::SourcePtr& source_;
  const std::string& file_;
  uint64_t data_start_;
  uint64_t data_bytes_;
};

// The length of the header, once the file is known to hold that many bytes.
Status read_length(const io::ByteSource& source, uint64_t& length) {
  char start[512];
  const auto bytes = static_cast<size_t>(std::min<uint64_t>(source.size(), sizeof(start)));
  CLEF_RETURN_IF_ERROR(source.read(0, std::as_writable_bytes(std::span(start, bytes))));
  const FileKind kind = guess_kind({start, bytes});
  if (kind != FileKind::unknown && kind != FileKind::safetensors)
    return wrong_kind(source.name(), "safetensors file", kind);
  if (bytes < kLengthBytes)
    return bad_file(source.name(),
                    "has " + std::to_string(bytes) + " bytes, too few for a safetensors file; fetch it again", 0);
  std::memcpy(&length, start, sizeof(length));
  if (length > kLargestHeader)
    return bad_file(source.name(),
                    "says that its header has " + std::to_string(length) + " bytes; at most " +
                        std::to_string(kLargestHeader) + " are allowed. It is damaged or not a safetensors file",
                    0);
  if (length > source.size() - kLengthBytes)
    return bad_file(source.name(),
                    "says that its header has " + std::to_string(length) + " bytes, but the whole file has " +
                        std::to_string(source.size()) + "; it is cut short or damaged, fetch it again",
                    0);
  return {};
}

// A file name below the directory: components without "..", and nothing that other systems read as a path.
bool stays_below(std::string_view name) noexcept {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == ':') return false;
  while (true) {
    const size_t cut = name.find('/');
    const std::string_view part = name.substr(0, cut);
    if (part.empty() || part == "." || part == "..") return false;
    if (cut == name.npos) return true;
    name.remove_prefix(cut + 1);
  }
}

}  // namespace

base::Result<Safetensors> read_safetensors(const io::SourcePtr& source) {
  uint64_t length = 0;
  CLEF_RETURN_IF_ERROR(read_length(*source, length));
  std::string storage;
  std::string_view header;
  if (source->data() != nullptr) {
    header = {reinterpret_cast<const char*>(source->data()) + kLengthBytes, static_cast<size_t>(length)};
  } else {
    storage.resize(static_cast<size_t>(length));
    CLEF_RETURN_IF_ERROR(source->read(kLengthBytes, std::as_writable_bytes(std::span(storage.data(), storage.size()))));
    header = storage;
  }
  const auto document = json::parse(header);
  if (!document.ok()) return bad_header(source->name(), document.status(), kLengthBytes);
  const json::Value& root = document.value().root();
  if (!root.is_object()) return bad_file(source->name(), "the header is not a JSON object", kLengthBytes);

  std::vector<std::string_view> names;
  names.reserve(root.members().size());
  for (const json::Member& member : root.members()) names.push_back(member.key);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return bad_tensor(source->name(), *twice, "is there twice", kLengthBytes);

  Safetensors out;
  const Reader reader(source, kLengthBytes + length);
  for (const json::Member& member : root.members()) {
    if (member.key == "__metadata__") {
      CLEF_RETURN_IF_ERROR(reader.read_metadata(member.value, out.metadata));
      continue;
    }
    CLEF_RETURN_IF_ERROR(reader.read_tensor(member.key, member.value, out.tensors.emplace_back()));
  }
  CLEF_RETURN_IF_ERROR(reader.check_coverage(out.tensors));
  return out;
}

base::Result<std::map<std::string, std::string>> read_safetensors_index(std::string_view json, std::string_view file) {
  const auto document = json::parse(json);
  if (!document.ok()) {
    const FileKind kind = guess_kind(json.substr(0, 512));
    if (kind != FileKind::unknown && kind != FileKind::json)
      return wrong_kind(file, "index of safetensors files", kind);
    return bad_header(file, document.status(), 0);
  }
  const json::Value* weights = document.value().root().find("weight_map");
  if (weights == nullptr || !weights->is_object())
    return bad_file(file, "has no object 'weight_map' that tells in which file each tensor is", 0);
  std::map<std::string, std::string> out;
  for (const json::Member& member : weights->members()) {
    if (!member.value.is_string() || !stays_below(member.value.text()))
      return bad_tensor(file, member.key, "is not mapped to the name of a file in the same folder", 0);
    if (!out.emplace(member.key, member.value.text()).second) return bad_tensor(file, member.key, "is there twice", 0);
  }
  return out;
}

}  // namespace clef::container
