#include "container/joiner.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace clef::container {

using base::Code;
using base::Status;

bool Quantization::number(std::string_view key, int64_t& out) const noexcept {
  const json::Value* value = json ? json->find(key) : nullptr;
  return value && value->to_int64(out);
}

std::string_view Quantization::text(std::string_view key) const noexcept {
  const json::Value* value = json ? json->find(key) : nullptr;
  return value && value->is_string() ? value->text() : std::string_view();
}

std::string group_text(int64_t group) {
  return group > 0 ? "g" + std::to_string(group) : "per row";
}

bool strip(std::string_view name, std::string_view ending, std::string_view& module) noexcept {
  if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
  module = name.substr(0, name.size() - ending.size());
  return true;
}

Joiner::Joiner(std::vector<TensorView>& tensors) : tensors_(tensors), order_(tensors.size()), taken_(tensors.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
}

const TensorView* Joiner::find(std::string_view module, std::string_view ending) const {
  std::string name(module);
  name += ending;
  const auto place =
      std::lower_bound(order_.begin(), order_.end(), name,
                       [&](uint32_t index, const std::string& wanted) { return tensors_[index].name < wanted; });
  return place != order_.end() && tensors_[*place].name == name && !taken_[*place] ? &tensors_[*place] : nullptr;
}

base::Result<const TensorView*> Joiner::need(const TensorView& codes, std::string_view module,
                                             std::string_view ending) const {
  if (const TensorView* partner = find(module, ending)) return partner;
  return error(codes,
               "is quantized and needs the tensor " + quoted(std::string(module) + std::string(ending)) +
                   ", which is missing; the model is incomplete, fetch its files again",
               Code::missing_part);
}

Status Joiner::error(const TensorView& tensor, std::string_view what, Code code) {
  return bad_tensor(tensor.source->name(), tensor.name, what, tensor.offset, code);
}

Status Joiner::contradiction(const TensorView& tensor, std::string_view tells, const Quantization& config,
                             std::string_view says) {
  return error(tensor, "is " + describe(tensor) + ", which means " + std::string(tells) + ", but " +
                           std::string(config.file) + " says " + std::string(says) +
                           "; the files are of different models or damaged");
}

Status Joiner::check_matrix(const TensorView& tensor) {
  if (tensor.shape.size() == 2 &&
      std::all_of(tensor.shape.begin(), tensor.shape.end(), [](int64_t size) { return size > 0 && size <= INT32_MAX; }))
    return {};
  return error(tensor, "is " + describe(tensor) + ", which is no shape of a quantized matrix");
}

Status Joiner::check(const TensorView& tensor, std::span<const std::string_view> types, std::span<const Shape> shapes) {
  const bool type_fits = std::find(types.begin(), types.end(), tensor.type_name) != types.end();
  if (type_fits && std::find(shapes.begin(), shapes.end(), tensor.shape) != shapes.end()) return {};
  std::string expected;
  for (const std::string_view type : types) expected += (expected.empty() ? "" : " or ") + std::string(type);
  std::string sizes;
  for (const Shape& shape : shapes) sizes += (sizes.empty() ? " " : " or ") + shape_text(shape);
  return error(tensor, "is " + describe(tensor) + "; the matrix it belongs to asks for " + expected + sizes);
}

Status Joiner::read_factor(const TensorView& tensor, float& out) {
  const std::string_view types[] = {"F32"};
  const Shape shapes[] = {{}, {1}, {1, 1}};
  CLEF_RETURN_IF_ERROR(check(tensor, types, shapes));
  std::byte bytes[sizeof(float)];
  CLEF_RETURN_IF_ERROR(tensor.source->read(tensor.offset, bytes));
  std::memcpy(&out, bytes, sizeof(out));
  if (std::isfinite(out) && out != 0.0f) return {};
  return error(tensor, "holds no usable scale (0, an infinity or a NaN); the file is damaged, fetch it again",
               Code::non_finite);
}

Status Joiner::read_groups(const TensorView& tensor, int64_t in, int64_t groups, Scales& scales) {
  const std::string_view types[] = {"I32"};
  const Shape shapes[] = {{in}};
  CLEF_RETURN_IF_ERROR(check(tensor, types, shapes));
  constexpr int64_t kPiece = 4096;
  std::vector<int32_t> values(static_cast<size_t>(std::min(in, kPiece)));
  bool regular = true;
  for (int64_t i = 0; i < in; ++i) {
    if (i % kPiece == 0)
      CLEF_RETURN_IF_ERROR(tensor.source->read(
          tensor.offset + static_cast<uint64_t>(i) * 4,
          std::as_writable_bytes(std::span(values).first(static_cast<size_t>(std::min(in - i, kPiece))))));
    const int32_t group = values[static_cast<size_t>(i % kPiece)];
    if (group < 0 || group >= groups)
      return error(tensor, "puts input " + std::to_string(i) + " into group " + std::to_string(group) + " of " +
                               std::to_string(groups) + "; the file is damaged, fetch it again");
    regular = regular && group == (scales.layout.group > 0 ? i / scales.layout.group : 0);
  }
  if (!regular) scales.group_of = tensor;
  return {};
}

void Joiner::set_scales(const TensorView& tensor, Scales& scales, const quant::Format* format) {
  scales.scales = tensor;
  scales.layout.scale_format = format ? format : tensor.format;
}

void Joiner::set_offsets(const TensorView& tensor, Scales& scales, const quant::Format* format) {
  scales.offsets = tensor;
  scales.layout.offset_format = format;
}

void Joiner::take(const TensorView* tensor) {
  if (tensor) taken_[static_cast<size_t>(tensor - tensors_.data())] = true;
}

void Joiner::add(const TensorView& codes, std::string name, quant::Type type, std::string type_name, int64_t out,
                 int64_t in, Scales scales) {
  scales.layout.rows = out;
  TensorView& view = joined_.emplace_back(codes);
  view.name = std::move(name);
  view.format = &quant::format(type);
  view.type_name = std::move(type_name);
  view.shape = {out, in};
  view.scales = std::make_shared<const Scales>(std::move(scales));
  take(&codes);
}

void Joiner::finish() {
  size_t kept = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (taken_[i]) continue;
    if (kept != i) tensors_[kept] = std::move(tensors_[i]);
    ++kept;
  }
  tensors_.resize(kept);
  std::move(joined_.begin(), joined_.end(), std::back_inserter(tensors_));
}

}  // namespace clef::container
