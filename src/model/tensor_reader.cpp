#include "model/tensor_reader.hpp"

#include <algorithm>
#include <cmath>

#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::TensorView;

base::Result<const TensorView*> TensorReader::need(std::string_view name, std::string_view where) const {
  const TensorView* tensor = package_.find(name);
  if (!tensor)
    return tensor_error(Code::missing_part, where, name, "is missing; the file is incomplete or of another model");
  if (!tensor->format)
    return tensor_error(
        Code::unsupported, tensor->source->name(), name,
        "has the type " + tensor->type_name + ", which clef does not read yet; use a BF16 or Q8_0 file");
  return tensor;
}

Status TensorReader::check_shape(const TensorView& tensor, std::span<const Shape> shapes) const {
  std::string expected;
  for (const Shape& shape : shapes) {
    if (shape == tensor.shape) return {};
    expected += (expected.empty() ? "" : " or ") + container::shape_text(shape);
  }
  return tensor_error(Code::bad_file, tensor.source->name(), tensor.name,
                      "is " + container::describe(tensor) + "; the configuration asks for " + expected);
}

Status TensorReader::place(const TensorView& tensor, const std::byte*& data) {
  data = tensor.data();
  if (data && !options_.copy) {
    out_.mapped_bytes += tensor.bytes;
    if (std::find(out_.sources.begin(), out_.sources.end(), tensor.source) == out_.sources.end())
      out_.sources.push_back(tensor.source);
    return {};
  }
  CLEF_ASSIGN_OR_RETURN(base::Buffer buffer,
                        base::Buffer::create(memory_, tensor.bytes, "tensor " + quoted(tensor.name)));
  pending_.push_back({&tensor, buffer.as<std::byte>()});
  data = buffer.as<std::byte>();
  out_.copies.push_back(std::move(buffer));
  out_.copied_bytes += tensor.bytes;
  return {};
}

Status TensorReader::place_scales(const container::Scales& scales, Weight& out) {
  auto layout = std::make_unique<quant::Scaling>(scales.layout);
  for (const auto& [tensor, data] :
       {std::pair(&scales.scales, &layout->scales), std::pair(&scales.offsets, &layout->offsets),
        std::pair(&scales.group_of, &layout->group_of)})
    if (tensor->source) CLEF_RETURN_IF_ERROR(place(*tensor, *data));
  out.scaling = layout.get();
  out_.scalings.push_back(std::move(layout));
  return {};
}

Status TensorReader::matrix(std::string_view name, std::string_view where, int64_t rows, int64_t columns, Weight& out,
                            std::span<const Shape> shapes) {
  CLEF_ASSIGN_OR_RETURN(const TensorView* tensor, need(name, where));
  const Shape plain[] = {{rows, columns}};
  CLEF_RETURN_IF_ERROR(check_shape(*tensor, shapes.empty() ? std::span<const Shape>(plain) : shapes));
  out = {tensor->format, nullptr, rows, columns};
  const uint64_t row = quant::row_bytes(*tensor->format, static_cast<uint64_t>(columns));
  uint64_t bytes = 0;
  if (tensor->scales) {
    CLEF_RETURN_IF_ERROR(place_scales(*tensor->scales, out));
  } else if (row == 0 || !container::multiply(row, static_cast<uint64_t>(rows), bytes) || bytes != tensor->bytes) {
    return tensor_error(Code::bad_file, tensor->source->name(), name,
                        "is " + container::describe(*tensor) + ", whose rows do not fit the blocks of its type");
  }
  CLEF_RETURN_IF_ERROR(place(*tensor, out.data));
  return watch_.check();
}

Status TensorReader::values(std::string_view name, std::string_view where, std::span<const Shape> shapes,
                            std::vector<float>& out) const {
  CLEF_ASSIGN_OR_RETURN(const TensorView* tensor, need(name, where));
  CLEF_RETURN_IF_ERROR(check_shape(*tensor, shapes));
  const auto count = static_cast<size_t>(tensor->elements());
  if (tensor->scales || quant::row_bytes(*tensor->format, count) != tensor->bytes)
    return tensor_error(Code::bad_file, tensor->source->name(), name,
                        "is " + container::describe(*tensor) + ", which does not fit the blocks of its type");
  std::vector<std::byte> read;
  const std::byte* data = tensor->data();
  if (!data) {
    read.resize(static_cast<size_t>(tensor->bytes));
    CLEF_RETURN_IF_ERROR(tensor->source->read(tensor->offset, read));
    data = read.data();
  }
  out.resize(count);
  tensor->format->decode(data, out.data(), count);
  for (size_t i = 0; i < count; ++i)
    if (!std::isfinite(out[i]))
      return tensor_error(Code::non_finite, tensor->source->name(), name,
                          "holds " + std::string(std::isnan(out[i]) ? "a NaN" : "an infinity") + " at index " +
                              std::to_string(i) + "; the file is damaged, fetch it again");
  return {};
}

Status TensorReader::vector(std::string_view name, std::string_view where, int64_t size, Weight& out) {
  std::vector<float> decoded;
  const Shape shapes[] = {{size}};
  CLEF_RETURN_IF_ERROR(values(name, where, shapes, decoded));
  out = keep(std::move(decoded), 1, size);
  return {};
}

Status TensorReader::layer_norm(const std::string& name, std::string_view where, int64_t size, NormWeights& out) {
  CLEF_RETURN_IF_ERROR(vector(name + ".weight", where, size, out.scale));
  return vector(name + ".bias", where, size, out.bias);
}

Weight TensorReader::keep(std::vector<float> values, int64_t rows, int64_t columns) {
  out_.vectors.push_back(std::move(values));
  return {&quant::format(quant::Type::f32), reinterpret_cast<const std::byte*>(out_.vectors.back().data()), rows,
          columns};
}

Status TensorReader::fill_copies() {
  constexpr uint64_t kPiece = uint64_t{4} << 20;
  const uint64_t total = out_.copied_bytes;
  uint64_t done = 0;
  for (const Copy& copy : pending_) {
    for (uint64_t at = 0; at < copy.tensor->bytes; at += kPiece) {
      CLEF_RETURN_IF_ERROR(watch_.check());
      const uint64_t size = std::min(kPiece, copy.tensor->bytes - at);
      CLEF_RETURN_IF_ERROR(
          copy.tensor->source->read(copy.tensor->offset + at, {copy.to + at, static_cast<size_t>(size)}));
      done += size;
      if (done < total) watch_.progress(base::Stage::load, done, total);
    }
  }
  pending_.clear();
  // Mapped weights are not read here: the load is then done at once.
  const uint64_t all = std::max<uint64_t>(total, 1);
  watch_.progress(base::Stage::load, all, all);
  return {};
}

}  // namespace clef::model
