#include "convert/imatrix.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "container/gguf.hpp"
#include "model/message.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using model::file_error;
using model::quoted;
using model::tensor_error;

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxName = 1024;
constexpr std::string_view kSums = ".in_sum2";
constexpr std::string_view kCounts = ".counts";

Status add_entry(std::string_view file, std::string name, std::vector<float> values, Importance& out) {
  if (values.empty()) return tensor_error(Code::bad_file, file, name, "has an entry of importance without columns");
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] < 0)
      return tensor_error(
          Code::bad_file, file, name,
          "has no usable importance at column " + std::to_string(i) + "; weights must be finite and not negative");
  const auto [place, added] = out.entries.try_emplace(std::move(name), std::move(values));
  return added ? Status() : tensor_error(Code::bad_file, file, place->first, "has two entries of importance");
}

// Number of entries; each: name, number of calls, weights summed over them. What may follow is not needed.
class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  Status read(Importance& out) {
    int32_t count = 0;
    CLEF_RETURN_IF_ERROR(number(count, "the number of entries"));
    if (count < 1 || static_cast<uint64_t>(count) > bytes_.size() / 12)
      return bad("is no importance matrix: it would have " + std::to_string(count) + " entries", 0);
    for (int32_t i = 0; i < count; ++i) CLEF_RETURN_IF_ERROR(entry(out));
    return {};
  }

 private:
  Status bad(std::string_view what, size_t at) const {
    return file_error(Code::bad_file, file_, what).at_offset(static_cast<int64_t>(at));
  }
  Status need(uint64_t bytes, std::string_view what) const {
    if (bytes <= bytes_.size() - at_) return {};
    return bad("ends inside " + std::string(what) + "; it is cut short, or no importance matrix", at_);
  }
  Status number(int32_t& out, std::string_view what) {
    CLEF_RETURN_IF_ERROR(need(4, what));
    std::memcpy(&out, bytes_.data() + at_, 4);
    at_ += 4;
    return {};
  }

  Status entry(Importance& out) {
    const size_t start = at_;
    int32_t length = 0, calls = 0, count = 0;
    CLEF_RETURN_IF_ERROR(number(length, "an entry"));
    if (length < 1 || length > static_cast<int32_t>(kMaxName))
      return bad("has an entry whose name is " + std::to_string(length) + " bytes long; it is no importance matrix",
                 start);
    CLEF_RETURN_IF_ERROR(need(static_cast<uint64_t>(length), "a name"));
    std::string name(bytes_.substr(at_, static_cast<size_t>(length)));
    at_ += name.size();
    CLEF_RETURN_IF_ERROR(number(calls, "an entry"));
    CLEF_RETURN_IF_ERROR(number(count, "an entry"));
    if (count < 1) return bad("has an empty entry for tensor " + quoted(name), start);
    CLEF_RETURN_IF_ERROR(need(static_cast<uint64_t>(count) * 4, "the entry of tensor " + quoted(name)));
    std::vector<float> values(static_cast<size_t>(count));
    std::memcpy(values.data(), bytes_.data() + at_, values.size() * 4);
    at_ += values.size() * 4;
    if (calls > 0)
      for (float& value : values) value /= static_cast<float>(calls);
    return add_entry(file_, std::move(name), std::move(values), out);
  }

  std::string_view bytes_, file_;
  size_t at_ = 0;
};

Status read_floats(const container::TensorView& tensor, std::vector<float>& out) {
  const std::string& file = tensor.source->name();
  if (tensor.format != &quant::format(quant::Type::f32))
    return tensor_error(Code::bad_file, file, tensor.name, "of an importance matrix must be F32");
  out.resize(static_cast<size_t>(tensor.bytes / 4));
  return tensor.source->read(tensor.offset, std::as_writable_bytes(std::span(out)));
}

Status read_gguf(const io::SourcePtr& source, Importance& out) {
  CLEF_ASSIGN_OR_RETURN(const container::Gguf gguf, container::read_gguf(source));
  std::map<std::string_view, const container::TensorView*> tensors;
  for (const container::TensorView& tensor : gguf.tensors) tensors[tensor.name] = &tensor;
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(kSums)) continue;
    const std::string entry(name.substr(0, name.size() - kSums.size()));
    const auto counts = tensors.find(entry + std::string(kCounts));
    if (counts == tensors.end())
      return tensor_error(Code::bad_file, source->name(), entry, "has sums of importance, but no counts");
    std::vector<float> values, count;
    CLEF_RETURN_IF_ERROR(read_floats(*tensor, values));
    CLEF_RETURN_IF_ERROR(read_floats(*counts->second, count));
    if (count.size() != 1 || !(count[0] >= 0) || !std::isfinite(count[0]))
      return tensor_error(Code::bad_file, source->name(), entry, "has no usable count of importance");
    for (float& value : values) value = count[0] > 0 ? value / count[0] : 1.0f;
    CLEF_RETURN_IF_ERROR(add_entry(source->name(), entry, std::move(values), out));
  }
  if (out.entries.empty())
    return file_error(Code::bad_file, source->name(),
                      "is no importance matrix: it has no tensors with names in '.in_sum2'");
  return {};
}

uint64_t hash_of(std::string_view bytes) noexcept {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "files are read as they lie");

std::span<const float> Importance::find(std::string_view name) const noexcept {
  const auto place = entries.find(name);
  return place == entries.end() ? std::span<const float>() : std::span<const float>(place->second);
}

base::Result<Importance> read_importance(const io::SourcePtr& source) {
  Importance out;
  out.file = source->name();
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view bytes, io::read_all(*source, storage, kMaxBytes));
  out.hash = hash_of(bytes);
  if (container::is_gguf(*source)) {
    CLEF_RETURN_IF_ERROR(read_gguf(source, out));
  } else {
    CLEF_RETURN_IF_ERROR(BinaryReader(bytes, source->name()).read(out));
  }
  return out;
}

Status check_importance(const Importance& importance, std::span<const Tensor> tensors, uint64_t* unused) {
  *unused = importance.entries.size();
  for (const Tensor& tensor : tensors) {
    const std::span<const float> weights = importance.find(tensor.name);
    if (weights.empty()) continue;
    if (weights.size() != static_cast<size_t>(tensor.columns_count()))
      return tensor_error(Code::bad_file, importance.file, tensor.name,
                          "has " + std::to_string(weights.size()) + " columns of importance, but " +
                              std::to_string(tensor.columns_count()) +
                              " in the model; the importance matrix is of another model");
    --*unused;
  }
  if (*unused < importance.entries.size()) return {};
  return file_error(Code::bad_file, importance.file,
                    "has no entry for any tensor of this model; it is the importance matrix of another one");
}

}  // namespace clef::convert
