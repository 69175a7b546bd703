// Embedding, norms and sums over rows.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/cpu_device.hpp"
#include "device/cpu/rotate.hpp"

namespace clef::device::cpu {
namespace {

constexpr int64_t kRowsPerTask = 16;

const float* vector(const Weight& weight) noexcept {
  return reinterpret_cast<const float*>(weight.data);
}

void decode_row(const Weight& table, int64_t index, float* out) noexcept {
  quant::decode_row(table, index, 0, table.in, out);
}

// Sixteen partial sums in a fixed order: the same on every machine, and short chains.
template <class Term>
float sum_of(int64_t n, Term term) noexcept {
  float part[16] = {};
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int64_t j = 0; j < 16; ++j) part[j] += term(i + j);
  for (; i < n; ++i) part[i % 16] += term(i);
  for (int64_t width = 8; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) part[j] += part[j + width];
  return part[0];
}

}  // namespace

void CpuDevice::embed(const Weight& table, std::span<const int32_t> ids, Rows out) {
  for_each_tile((out.count + kRowsPerTask - 1) / kRowsPerTask, 0, [&](int64_t tile, float*) {
    const int64_t end = std::min(out.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) decode_row(table, ids[static_cast<size_t>(i)], row(out, i));
  });
}

void CpuDevice::rms_norm(Rows in, const Weight& scale, float eps, Rows out, Place place) {
  const int64_t n = in.buffer->columns();
  const float* w = vector(scale);
  for_each_tile((in.count + kRowsPerTask - 1) / kRowsPerTask, 0, [&](int64_t tile, float*) {
    const int64_t end = std::min(in.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      const float* x = row(in, i);
      float* y = row(out, i);
      const float squares = sum_of(n, [&](int64_t j) { return x[j] * x[j]; });
      if (!std::isfinite(squares)) non_finite(place, in.first + i);
      const float factor = 1.0f / std::sqrt(squares / static_cast<float>(n) + eps);
      for (int64_t j = 0; j < n; ++j) y[j] = x[j] * factor * w[j];
    }
  });
}

void CpuDevice::layer_norm(Rows in, const Weight& scale, const Weight& bias, float eps, Rows out, Place place) {
  const int64_t n = in.buffer->columns(), beside = out.buffer->columns() / n;
  const float *w = vector(scale), *b = vector(bias);
  for_each_tile((in.count + kRowsPerTask - 1) / kRowsPerTask, 0, [&](int64_t tile, float*) {
    const int64_t end = std::min(in.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      const float* x = row(in, i);
      float* y = row(out, i / beside) + i % beside * n;
      const float mean = sum_of(n, [&](int64_t j) { return x[j]; }) / static_cast<float>(n);
      const float squares = sum_of(n, [&](int64_t j) { return (x[j] - mean) * (x[j] - mean); });
      if (!std::isfinite(squares)) non_finite(place, in.first + i);
      const float factor = 1.0f / std::sqrt(squares / static_cast<float>(n) + eps);
      for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * factor * w[j] + b[j];
    }
  });
}

void CpuDevice::gated_norm(Rows in, Rows z, const Weight& scale, float eps, int32_t head_dim, Rows out, Place place) {
  const int64_t n = in.buffer->columns();
  const float* w = vector(scale);
  for_each_tile((in.count + kRowsPerTask - 1) / kRowsPerTask, 0, [&](int64_t tile, float*) {
    const int64_t end = std::min(in.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      float* y = row(out, i);
      for (int64_t first = 0; first < n; first += head_dim) {
        const float* x = row(in, i) + first;
        const float squares = sum_of(head_dim, [&](int64_t j) { return x[j] * x[j]; });
        if (!std::isfinite(squares)) non_finite(place, in.first + i);
        const float factor = 1.0f / std::sqrt(squares / static_cast<float>(head_dim) + eps);
        for (int64_t j = 0; j < head_dim; ++j) y[first + j] = x[j] * factor * w[j];
      }
      kernels_.silu_mul_f32(row(z, i), y, y, static_cast<size_t>(n));
    }
  });
}

void CpuDevice::sum_spans(Rows in, std::span<const SpanPart> spans, Rows out) {
  const int64_t n = in.buffer->columns();
  for_each_tile(static_cast<int64_t>(spans.size()), 0, [&](int64_t tile, float*) {
    const SpanPart& span = spans[static_cast<size_t>(tile)];
    float* sum = row(out, span.out);
    for (int64_t i = 0; i < span.count; ++i) {
      const float* x = row(in, span.first + i);
      for (int64_t j = 0; j < n; ++j) sum[j] += x[j];
    }
    if (span.divisor != 0)
      for (int64_t j = 0; j < n; ++j) sum[j] /= span.divisor;
  });
}

void CpuDevice::embed_mean(const Weight& table, std::span<const int32_t> ids, std::span<const SpanPart> spans,
                           Rows out) {
  for_each_tile(static_cast<int64_t>(spans.size()), table.in, [&](int64_t tile, float* decoded) {
    const SpanPart& span = spans[static_cast<size_t>(tile)];
    float* mean = row(out, span.out);
    std::fill_n(mean, table.in, 0.0f);
    for (int64_t i = 0; i < span.count; ++i) {
      decode_row(table, ids[static_cast<size_t>(span.first + i)], decoded);
      for (int64_t j = 0; j < table.in; ++j) mean[j] += decoded[j];
    }
    for (int64_t j = 0; j < table.in; ++j) mean[j] /= static_cast<float>(span.count);
  });
}

void CpuDevice::add_weighted_rows(const Weight& table, std::span<const int32_t> ids, std::span<const float> weights,
                                  int64_t taps, Rows out) {
  const int64_t n = table.in;
  for_each_tile((out.count + kRowsPerTask - 1) / kRowsPerTask, 2 * n, [&](int64_t tile, float* memory) {
    float *sum = memory, *decoded = memory + n;
    const int64_t end = std::min(out.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      std::fill_n(sum, n, 0.0f);
      for (int64_t tap = i * taps; tap < (i + 1) * taps; ++tap) {
        const float weight = weights[static_cast<size_t>(tap)];
        decode_row(table, ids[static_cast<size_t>(tap)], decoded);
        for (int64_t j = 0; j < n; ++j) sum[j] += weight * decoded[j];
      }
      float* y = row(out, i);
      for (int64_t j = 0; j < n; ++j) y[j] += sum[j];
    }
  });
}

void CpuDevice::rotate_2d(Rows rows, std::span<const int32_t> positions, int32_t heads, double theta) {
  const int64_t dim = rows.buffer->columns() / heads, half = dim / 2, quarter = dim / 4;
  // Frequencies are rounded as the reference rounds them (f32), and so are angles.
  for_each_tile((rows.count + kRowsPerTask - 1) / kRowsPerTask, quarter + 2 * half, [&](int64_t tile, float* memory) {
    float *frequencies = memory, *cosines = memory + quarter, *sines = cosines + half;
    for (int64_t j = 0; j < quarter; ++j) {
      const float exponent = static_cast<float>(2 * j) / static_cast<float>(half);
      frequencies[j] = 1.0f / static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    }
    const int64_t end = std::min(rows.count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      for (int64_t j = 0; j < half; ++j) {
        const auto position = static_cast<float>(positions[static_cast<size_t>(i + (j < quarter ? 0 : rows.count))]);
        const auto angle = static_cast<double>(position * frequencies[j % quarter]);
        cosines[j] = static_cast<float>(std::cos(angle));
        sines[j] = static_cast<float>(std::sin(angle));
      }
      for (int32_t h = 0; h < heads; ++h) rotate_halves(row(rows, i) + h * dim, cosines, sines, half);
    }
  });
}

}  // namespace clef::device::cpu
