#include "convert/encode.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "convert/rows.hpp"
#include "model/message.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using model::tensor_error;

namespace {

constexpr int64_t kBlockValues = int64_t{1} << 21;
constexpr int64_t kPieceValues = int64_t{1} << 15;
constexpr int64_t kSampleRows = 16;

bool all_finite(const float* values, int64_t count) noexcept {
  // A sum of products with 0 is 0 or NaN.
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[i] * 0.0f;
  return sum == 0.0f;
}

// Encodes one row; false when it holds a value that is not finite. `scratch` has room for two rows.
bool encode_row(const Tensor& tensor, const RowReader& reader, int64_t row, std::span<const float> importance,
                float* scratch, std::byte* out) noexcept {
  const int64_t columns = tensor.columns_count();
  reader.read(row, scratch, scratch + columns);
  if (!all_finite(scratch, columns)) return false;
  const std::byte* stored = reader.bytes(row);
  if (tensor.is_plain() && tensor.format == tensor.source->format && stored != nullptr) {
    std::memcpy(out, stored, reader.row_bytes());
  } else {
    tensor.format->encode(scratch, importance.empty() ? nullptr : importance.data(), out, static_cast<size_t>(columns));
  }
  return true;
}

Status non_finite(const Tensor& tensor, const RowReader& reader, int64_t row) {
  std::vector<float> values(static_cast<size_t>(2 * tensor.columns_count()));
  reader.read(row, values.data(), values.data() + tensor.columns_count());
  int64_t column = 0;
  while (column + 1 < tensor.columns_count() && std::isfinite(values[static_cast<size_t>(column)])) ++column;
  const bool nan = std::isnan(values[static_cast<size_t>(column)]);
  return tensor_error(Code::non_finite, tensor.source->source->name(), tensor.source->name,
                      "holds " + std::string(nan ? "a NaN" : "an infinity") + " at index " +
                          std::to_string(reader.source_index(row, column)) + "; the file is damaged, fetch it again");
}

}  // namespace

Status Encoder::reserve(base::Buffer& buffer, uint64_t bytes) {
  if (buffer.size() >= bytes) return {};
  buffer.reset();
  CLEF_ASSIGN_OR_RETURN(buffer, base::Buffer::create(memory_, bytes, "rows that are converted"));
  return {};
}

Status Encoder::encode_small(const Tensor& tensor, std::span<const float> importance, const Sink& sink) {
  CLEF_ASSIGN_OR_RETURN(const std::vector<float> values, small_values(tensor));
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes));
  tensor.format->encode(values.data(), importance.empty() ? nullptr : importance.data(), bytes.data(), values.size());
  return sink(0, bytes);
}

Status Encoder::encode(const Tensor& tensor, std::span<const float> importance, const Sink& sink) {
  if (!tensor.matrix) return encode_small(tensor, {}, sink);
  const int64_t rows = tensor.rows_count(), columns = tensor.columns_count();
  const uint64_t row_bytes = tensor.bytes / static_cast<uint64_t>(rows);
  const int64_t block = std::clamp(kBlockValues / columns, int64_t{1}, rows);
  const int64_t piece = std::max(kPieceValues / columns, int64_t{1});
  const int64_t lanes = std::min<int64_t>((block + piece - 1) / piece, std::max(executor_.concurrency(), 1u));
  CLEF_RETURN_IF_ERROR(reserve(out_, static_cast<uint64_t>(block) * row_bytes));
  CLEF_RETURN_IF_ERROR(reserve(scratch_, static_cast<uint64_t>(lanes * 2 * columns) * sizeof(float)));
  CLEF_ASSIGN_OR_RETURN(RowReader reader, RowReader::open(tensor, memory_));
  auto* const out = out_.as<std::byte>();
  for (int64_t first = 0; first < rows; first += block) {
    CLEF_RETURN_IF_ERROR(watch_.check());
    const int64_t count = std::min(block, rows - first);
    CLEF_RETURN_IF_ERROR(reader.load(first, count));
    std::atomic<int64_t> next{0}, bad{rows};
    base::parallel_for(executor_, static_cast<size_t>(lanes), [&](size_t lane) {
      float* own = scratch_.as<float>() + static_cast<int64_t>(lane) * 2 * columns;
      for (int64_t at; (at = next.fetch_add(piece, std::memory_order_relaxed)) < count;) {
        if (watch_.tripped()) return;
        for (int64_t i = at; i < std::min(at + piece, count); ++i) {
          if (encode_row(tensor, reader, first + i, importance, own, out + static_cast<uint64_t>(i) * row_bytes))
            continue;
          int64_t before = bad.load(std::memory_order_relaxed);
          while (first + i < before && !bad.compare_exchange_weak(before, first + i, std::memory_order_relaxed)) {
          }
        }
      }
    });
    CLEF_RETURN_IF_ERROR(watch_.check());
    if (bad.load(std::memory_order_relaxed) < rows)
      return non_finite(tensor, reader, bad.load(std::memory_order_relaxed));
    CLEF_RETURN_IF_ERROR(sink(static_cast<uint64_t>(first) * row_bytes, {out, static_cast<size_t>(count) * row_bytes}));
  }
  return {};
}

base::Result<Encoder::Difference> Encoder::compare(const Tensor& tensor, std::span<const float> importance,
                                                   const std::function<Status(uint64_t, std::span<std::byte>)>& read) {
  Difference difference;
  const int64_t rows = tensor.rows_count(), columns = tensor.columns_count();
  const auto row_bytes = static_cast<size_t>(tensor.bytes / static_cast<uint64_t>(rows));
  std::vector<std::byte> stored;
  std::vector<float> decoded;
  const auto add = [&](const float* from, const float* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const double x = static_cast<double>(from[i]), d = static_cast<double>(to[i]) - x;
      difference.error += d * d, difference.size += x * x;
      difference.finite = difference.finite && std::isfinite(to[i]);
    }
  };
  if (!tensor.matrix) {
    CLEF_ASSIGN_OR_RETURN(const std::vector<float> values, small_values(tensor));
    stored.resize(static_cast<size_t>(tensor.bytes));
    decoded.resize(values.size());
    CLEF_RETURN_IF_ERROR(read(0, stored));
    tensor.format->decode(stored.data(), decoded.data(), decoded.size());
    add(values.data(), decoded.data(), static_cast<int64_t>(values.size()));
    std::vector<std::byte> again(stored.size());
    tensor.format->encode(values.data(), nullptr, again.data(), values.size());
    difference.same_bytes = again == stored;
    return difference;
  }
  CLEF_ASSIGN_OR_RETURN(RowReader reader, RowReader::open(tensor, memory_));
  const int64_t samples = std::min(kSampleRows, rows);
  stored.resize(2 * row_bytes);
  decoded.resize(static_cast<size_t>(3 * columns));
  float* const source = decoded.data() + columns;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t row = samples == 1 ? 0 : i * (rows - 1) / (samples - 1);
    CLEF_RETURN_IF_ERROR(reader.load(row, 1));
    CLEF_RETURN_IF_ERROR(read(static_cast<uint64_t>(row) * row_bytes, {stored.data(), row_bytes}));
    tensor.format->decode(stored.data(), decoded.data(), static_cast<size_t>(columns));
    if (!encode_row(tensor, reader, row, importance, source, stored.data() + row_bytes))
      return non_finite(tensor, reader, row);
    difference.same_bytes =
        difference.same_bytes && std::memcmp(stored.data(), stored.data() + row_bytes, row_bytes) == 0;
    add(source, decoded.data(), columns);
  }
  return difference;
}

}  // namespace clef::convert
