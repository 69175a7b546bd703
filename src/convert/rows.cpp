#include "convert/rows.hpp"
#include "model/message.hpp"

#include <cmath>
#include <cstring>

namespace clef::convert {

using base::Code;
using base::Status;
using container::TensorView;
using model::quoted;
using model::tensor_error;

namespace {

float changed(float value, Change change) noexcept {
  if (change == Change::add_one) return value + 1.0f;
  return change == Change::negative_exp ? -std::exp(value) : value;
}

}  // namespace

base::Result<std::vector<float>> small_values(const Tensor& tensor) {
  if (tensor.source == nullptr) return tensor.values;
  const TensorView& source = *tensor.source;
  const auto count = static_cast<size_t>(source.elements());
  if (source.scales != nullptr)
    return tensor_error(Code::unsupported, source.source->name(), source.name, "is quantized, but is no matrix");
  std::vector<std::byte> bytes(static_cast<size_t>(source.bytes));
  CLEF_RETURN_IF_ERROR(source.source->read(source.offset, bytes));
  std::vector<float> all(count);
  source.format->decode(bytes.data(), all.data(), count);
  // A vector is a column: its order and its part count in values.
  const int64_t columns = tensor.shape.size() > 1 ? tensor.columns_count() : 1;
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t row = static_cast<int64_t>(i) / columns, column = static_cast<int64_t>(i) % columns;
    const auto from = static_cast<size_t>((tensor.first_row + tensor.rows.source(row)) * columns + column);
    values[i] = changed(all[from], tensor.change);
    if (!std::isfinite(values[i]))
      return tensor_error(Code::non_finite, source.source->name(), source.name,
                          "holds " + std::string(std::isnan(all[from]) ? "a NaN" : "an infinity") + " at index " +
                              std::to_string(from) + "; the file is damaged, fetch it again");
  }
  return values;
}

Status RowReader::hold(const TensorView& tensor, const std::byte*& data) {
  data = tensor.data();
  if (data != nullptr) return {};
  CLEF_ASSIGN_OR_RETURN(base::Buffer buffer,
                        base::Buffer::create(*memory_, tensor.bytes, "tensor " + quoted(tensor.name)));
  CLEF_RETURN_IF_ERROR(tensor.source->read(tensor.offset, {buffer.as<std::byte>(), buffer.size()}));
  data = buffer.as<std::byte>();
  held_.push_back(std::move(buffer));
  return {};
}

base::Result<RowReader> RowReader::open(const Tensor& tensor, base::Memory& memory) {
  const TensorView& source = *tensor.source;
  RowReader reader(tensor, memory);
  reader.matrix_ = {source.format, source.data(), source.shape.front(), source.shape.back()};
  if (source.scales == nullptr) {
    reader.row_bytes_ =
        static_cast<size_t>(quant::row_bytes(*source.format, static_cast<uint64_t>(source.shape.back())));
    return reader;
  }
  // Such a matrix is used as a whole.
  const container::Scales& scales = *source.scales;
  reader.scaling_ = scales.layout;
  CLEF_RETURN_IF_ERROR(reader.hold(source, reader.matrix_.data));
  for (const auto& [part, data] :
       {std::pair(&scales.scales, &reader.scaling_.scales), std::pair(&scales.offsets, &reader.scaling_.offsets),
        std::pair(&scales.group_of, &reader.scaling_.group_of)})
    if (part->source) CLEF_RETURN_IF_ERROR(reader.hold(*part, *data));
  return reader;
}

Status RowReader::load(int64_t first, int64_t count) {
  if (matrix_.data != nullptr) return {};
  const uint64_t bytes = static_cast<uint64_t>(count) * row_bytes_;
  if (block_.size() < bytes) {
    block_.reset();
    CLEF_ASSIGN_OR_RETURN(block_, base::Buffer::create(*memory_, bytes, "rows of tensor " + quoted(tensor_->name)));
  }
  block_first_ = first;
  // Neighbours in the source are read together.
  for (int64_t done = 0; done < count;) {
    const int64_t from = tensor_->rows.source(first + done);
    int64_t together = 1;
    while (done + together < count && tensor_->rows.source(first + done + together) == from + together) ++together;
    const uint64_t offset = static_cast<uint64_t>(tensor_->first_row + from) * row_bytes_;
    CLEF_RETURN_IF_ERROR(tensor_->source->source->read(
        tensor_->source->offset + offset, {block_.as<std::byte>() + static_cast<uint64_t>(done) * row_bytes_,
                                           static_cast<size_t>(together) * row_bytes_}));
    done += together;
  }
  return {};
}

const std::byte* RowReader::bytes(int64_t row) const noexcept {
  if (tensor_->source->scales != nullptr) return nullptr;
  if (matrix_.data == nullptr) return block_.as<std::byte>() + static_cast<uint64_t>(row - block_first_) * row_bytes_;
  return matrix_.data + static_cast<uint64_t>(tensor_->first_row + tensor_->rows.source(row)) * row_bytes_;
}

void RowReader::read(int64_t row, float* out, float* scratch) const noexcept {
  const int64_t columns = matrix_.in;
  float* whole = tensor_->columns.moves() ? scratch : out;
  if (const std::byte* data = bytes(row); data != nullptr) {
    matrix_.format->decode(data, whole, static_cast<size_t>(columns));
  } else {
    quant::Matrix matrix = matrix_;
    matrix.scaling = &scaling_;
    quant::decode_row(matrix, tensor_->first_row + tensor_->rows.source(row), 0, columns, whole);
  }
  if (!tensor_->columns.moves()) return;
  const HeadOrder& order = tensor_->columns;
  for (int64_t column = 0; column < columns; column += order.block)
    std::memcpy(out + column, whole + order.source(column), static_cast<size_t>(order.block) * sizeof(float));
}

int64_t RowReader::source_index(int64_t row, int64_t column) const noexcept {
  return (tensor_->first_row + tensor_->rows.source(row)) * matrix_.in + tensor_->columns.source(column);
}

}  // namespace clef::convert
