// Attention in tiles of 64 keys with an online softmax. A row's result depends on its own query and the tiles before it
// only, taken in rising order, so it does not change with the rows given at once.
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

void normalise(const float* x, const float* w, int64_t n, float eps, float* out, bool& finite) noexcept {
  float squares = 0;
  for (int64_t j = 0; j < n; ++j) squares += x[j] * x[j];
  finite = finite && std::isfinite(squares);
  const float factor = 1.0f / std::sqrt(squares / static_cast<float>(n) + eps);
  for (int64_t j = 0; j < n; ++j) out[j] = x[j] * factor * w[j];
}

// Axis of each pair in interleaved M-RoPE: height at 1, 4, 7, ..., width at 2, 5, 8, ..., time elsewhere.
int axis_of(int64_t pair, const AttentionShape& shape) noexcept {
  for (int axis = 1; axis <= 2; ++axis)
    if (pair % 3 == axis && pair < 3 * static_cast<int64_t>(shape.sections[axis])) return axis;
  return 0;
}

}  // namespace

void CpuDevice::attention_prepare(Rows q_gate, Rows keys, Rows values, const Weight& q_norm, const Weight& k_norm,
                                  std::span<const int32_t> rope_positions, const AttentionShape& shape, int64_t first,
                                  KvCache& kv, Place place) {
  auto& cache = static_cast<CpuKvCache&>(kv);
  const int64_t dim = shape.head_dim, half = shape.rotary_dims / 2, count = q_gate.count;
  // Scratch of a lane: frequencies, cosines, sines, one key. The frequencies are rounded as the reference rounds them
  // (f32).
  for_each_tile((count + kRowsPerTask - 1) / kRowsPerTask, 3 * half + dim, [&](int64_t tile, float* memory) {
    float *frequencies = memory, *cosines = memory + half, *sines = cosines + half, *key = sines + half;
    for (int64_t j = 0; j < half; ++j) {
      const float exponent = static_cast<float>(2 * j) / static_cast<float>(shape.rotary_dims);
      frequencies[j] = 1.0f / static_cast<float>(std::pow(shape.rope_theta, static_cast<double>(exponent)));
    }
    const int64_t end = std::min(count, (tile + 1) * kRowsPerTask);
    for (int64_t i = tile * kRowsPerTask; i < end; ++i) {
      for (int64_t j = 0; j < half; ++j) {
        const int32_t position = rope_positions[static_cast<size_t>(axis_of(j, shape) * count + i)];
        const double angle = static_cast<double>(static_cast<float>(position) * frequencies[j]);
        cosines[j] = static_cast<float>(std::cos(angle));
        sines[j] = static_cast<float>(std::sin(angle));
      }
      bool finite = true;
      for (int32_t h = 0; h < shape.heads; ++h) {
        float* query = row(q_gate, i) + h * 2 * dim;
        normalise(query, vector(q_norm), dim, shape.norm_eps, query, finite);
        rotate_halves(query, cosines, sines, half);
      }
      const int64_t position = first + i;
      for (int32_t h = 0; h < shape.kv_heads; ++h) {
        normalise(row(keys, i) + h * dim, vector(k_norm), dim, shape.norm_eps, key, finite);
        rotate_halves(key, cosines, sines, half);
        float* column = cache.key_tile(h, position / kTile) + position % kTile;
        for (int64_t j = 0; j < dim; ++j) column[j * kTile] = key[j];
        std::memcpy(cache.value_row(h, position), row(values, i) + h * dim, static_cast<size_t>(dim) * sizeof(float));
      }
      if (!finite) non_finite(place, q_gate.first + i);
    }
  });
}

void CpuDevice::softmax_tile(float* scores, int64_t rows, int64_t keys, int64_t first_valid, float* maxima, float* sums,
                             int64_t stride, float* values, int64_t value_stride,
                             int64_t value_columns) const noexcept {
  for (int64_t i = 0; i < rows; ++i) {
    float* score = scores + i * kTile;
    const int64_t valid = std::clamp<int64_t>(first_valid + i, 0, keys);
    if (valid == 0) continue;
    float top = maxima[i * stride];
    for (int64_t j = 0; j < valid; ++j) top = std::max(top, score[j]);
    std::fill(score + valid, score + kTile, -__builtin_inff());
    const float sum = kernels_.exp_sum_f32(score, kTile, top);
    if (top != maxima[i * stride]) {
      const float factor = std::exp(maxima[i * stride] - top);
      sums[i * stride] *= factor;
      float* value = values + i * value_stride;
      for (int64_t j = 0; j < value_columns; ++j) value[j] *= factor;
      maxima[i * stride] = top;
    }
    sums[i * stride] += sum;
  }
}

void CpuDevice::attention(Rows q_gate, const KvCache& kv, const AttentionShape& shape, int64_t first, Rows out) {
  const auto& cache = static_cast<const CpuKvCache&>(kv);
  const int64_t dim = shape.head_dim, count = q_gate.count, stride = q_gate.buffer->columns();
  const int64_t query_blocks = (count + kTile - 1) / kTile;
  const int32_t group = shape.heads / shape.kv_heads;
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  // Scores, weighted values, maxima, sums.
  const int64_t scratch = kTile * kTile + kTile * dim + 2 * kTile;
  // The last query blocks see the most keys: they go first, so that no thread is left with a long one at the end.
  for_each_tile(query_blocks * shape.heads, scratch, [&](int64_t tile, float* memory) {
    const int64_t block = query_blocks - 1 - tile / shape.heads;
    const int32_t head = static_cast<int32_t>(tile % shape.heads), kv_head = head / group;
    const int64_t i0 = block * kTile, rows = std::min(kTile, count - i0), position = first + i0;
    float *scores = memory, *weighted = scores + kTile * kTile, *maxima = weighted + kTile * dim,
          *sums = maxima + kTile;
    std::fill_n(weighted, kTile * dim, 0.0f);
    std::fill_n(maxima, kTile, -__builtin_inff());
    std::fill_n(sums, kTile, 0.0f);
    const float* query = row(q_gate, i0) + head * 2 * dim;
    for (int64_t key0 = 0; key0 < position + rows; key0 += kTile) {
      const int64_t keys = std::min(kTile, position + rows - key0);
      kernels_.gemm_f32(static_cast<size_t>(rows), kTile, static_cast<size_t>(dim), query, static_cast<size_t>(stride),
                        cache.key_tile(kv_head, key0 / kTile), kTile, scores, kTile, 0);
      for (int64_t i = 0; i < rows * kTile; ++i) scores[i] *= scale;
      softmax_tile(scores, rows, keys, position - key0 + 1, maxima, sums, 1, weighted, dim, dim);
      kernels_.gemm_f32(static_cast<size_t>(rows), static_cast<size_t>(dim), static_cast<size_t>(keys), scores, kTile,
                        cache.value_row(kv_head, key0), static_cast<size_t>(dim), weighted, static_cast<size_t>(dim),
                        1);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const float* gate = query + i * stride + dim;
      float* result = row(out, i0 + i) + head * dim;
      for (int64_t j = 0; j < dim; ++j)
        result[j] = weighted[i * dim + j] / sums[i] * (1.0f / (1.0f + std::exp(-gate[j])));
    }
  });
}

void CpuDevice::attend(Rows queries, Rows keys, Rows values, int32_t heads, AttendState& attend_state) {
  auto& state = static_cast<CpuAttendState&>(attend_state);
  const int64_t columns = queries.buffer->columns(), dim = columns / heads;
  const int64_t query_blocks = (queries.count + kTile - 1) / kTile;
  const float scale = 1.0f / std::sqrt(static_cast<float>(dim));
  for_each_tile(query_blocks * heads, kTile * kTile + kTile * dim, [&](int64_t tile, float* memory) {
    const int64_t i0 = tile / heads * kTile, rows = std::min(kTile, queries.count - i0), head = tile % heads;
    float *scores = memory, *transposed = scores + kTile * kTile;
    for (int64_t key0 = 0; key0 < keys.count; key0 += kTile) {
      const int64_t count = std::min(kTile, keys.count - key0);
      for (int64_t k = 0; k < kTile; ++k) {
        const float* key = k < count ? row(keys, key0 + k) + head * dim : nullptr;
        for (int64_t j = 0; j < dim; ++j) transposed[j * kTile + k] = key ? key[j] : 0.0f;
      }
      kernels_.gemm_f32(static_cast<size_t>(rows), kTile, static_cast<size_t>(dim), row(queries, i0) + head * dim,
                        static_cast<size_t>(columns), transposed, kTile, scores, kTile, 0);
      for (int64_t i = 0; i < rows * kTile; ++i) scores[i] *= scale;
      float* weighted = state.values() + i0 * columns + head * dim;
      softmax_tile(scores, rows, count, kTile, state.maxima() + i0 * heads + head, state.sums() + i0 * heads + head,
                   heads, weighted, columns, dim);
      kernels_.gemm_f32(static_cast<size_t>(rows), static_cast<size_t>(dim), static_cast<size_t>(count), scores, kTile,
                        row(values, key0) + head * dim, static_cast<size_t>(values.buffer->columns()), weighted,
                        static_cast<size_t>(columns), 1);
    }
  });
}

void CpuDevice::attend_finish(AttendState& attend_state, Rows out) {
  const auto& state = static_cast<const CpuAttendState&>(attend_state);
  const int64_t dim = state.columns / state.heads;
  for (int64_t i = 0; i < state.queries; ++i) {
    const float* value = state.values() + i * state.columns;
    float* result = row(out, i);
    for (int64_t j = 0; j < state.columns; ++j) result[j] = value[j] / state.sums()[i * state.heads + j / dim];
  }
}

}  // namespace clef::device::cpu
