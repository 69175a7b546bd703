// Gated DeltaNet: causal convolution and the gated delta rule in chunks of 64 tokens at absolute multiples of 64.
//
// One chunk of one value head, with decay sums G_i = g_1 + ... + g_i and the entering state S [key_dim, value_dim]:
//   A_ij = beta_i (k_i . k_j) exp(G_i - G_j) for j < i
//   (I + A) U = diag(beta) V,  (I + A) W = diag(beta exp(G)) K   by forward substitution
//   V' = U - W S
//   o_i = exp(G_i) q_i S + sum_{j <= i} (q_i . k_j) exp(G_i - G_j) V'_j
//   S <- exp(G_n) S + sum_i exp(G_n - G_i) k_i (x) V'_i
// G never rises, so every exponent is <= 0; exp(-G) is never formed.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/cpu_device.hpp"

namespace clef::device::cpu {
namespace {

constexpr int64_t kChannelsPerTask = 256;

const float* vector(const Weight& weight) noexcept {
  return reinterpret_cast<const float*>(weight.data);
}

float softplus(float x) noexcept {
  return x > 20.0f ? x : static_cast<float>(std::log1p(std::exp(static_cast<double>(x))));
}

float sigmoid(float x) noexcept {
  return 1.0f / (1.0f + std::exp(-x));
}

// x / sqrt(sum of squares + 1e-6) * factor; eps stands inside the sum.
void unit(const float* x, int64_t n, float factor, float* out) noexcept {
  float squares = 0;
  for (int64_t j = 0; j < n; ++j) squares += x[j] * x[j];
  const float scale = 1.0f / std::sqrt(squares + 1e-6f);
  for (int64_t j = 0; j < n; ++j) out[j] = x[j] * scale * factor;
}

// The blocks of one chunk, one after another in a lane's scratch.
struct Chunk {
  float *q, *k, *transposed, *solved, *products, *decays, *values, *sums, *gates;
  static int64_t floats(int64_t key_dim, int64_t value_dim) noexcept {
    return kTile * (3 * key_dim + (value_dim + key_dim) + 2 * kTile + value_dim + 2);
  }
  Chunk(float* memory, int64_t key_dim, int64_t value_dim) noexcept {
    q = memory;                                         // [64, key_dim], unit times 1/sqrt(key_dim)
    k = q + kTile * key_dim;                            // [64, key_dim], unit
    transposed = k + kTile * key_dim;                   // [key_dim, 64]
    solved = transposed + kTile * key_dim;              // [64, value_dim + key_dim]: U | -W
    products = solved + kTile * (value_dim + key_dim);  // [64, 64]
    decays = products + kTile * kTile;                  // [64, 64]: exp(G_i - G_j), 0 above the diagonal
    values = decays + kTile * kTile;                    // [64, value_dim]: V'
    sums = values + kTile * value_dim;                  // [64]: G
    gates = sums + kTile;                               // [64]: beta
  }
};

}  // namespace

void CpuDevice::causal_conv_silu(Rows in, const Weight& conv, const DeltaShape& shape, DeltaState& delta, Rows out) {
  auto& state = static_cast<CpuDeltaState&>(delta);
  const int64_t channels = in.buffer->columns(), width = shape.conv_width, past = width - 1;
  if (in.count == 0) return;
  // Scratch of a lane: the taps of its channels transposed, and ones for the silu.
  const int64_t scratch = (width + 1) * kChannelsPerTask;
  for_each_tile((channels + kChannelsPerTask - 1) / kChannelsPerTask, scratch, [&](int64_t tile, float* taps) {
    const int64_t c0 = tile * kChannelsPerTask, n = std::min(kChannelsPerTask, channels - c0);
    float* ones = taps + width * kChannelsPerTask;
    std::fill_n(ones, n, 1.0f);
    for (int64_t j = 0; j < width; ++j)
      for (int64_t c = 0; c < n; ++c) taps[j * kChannelsPerTask + c] = vector(conv)[(c0 + c) * width + j];
    float* tail = past > 0 ? state.tail.as<float>() + c0 : nullptr;
    const auto input = [&](int64_t t) { return t < 0 ? tail + (past + t) * channels : row(in, t) + c0; };
    for (int64_t t = 0; t < in.count; ++t) {
      float* y = row(out, t) + c0;
      std::fill_n(y, n, 0.0f);
      for (int64_t j = 0; j < width; ++j) {
        const float* u = input(t - past + j);
        const float* w = taps + j * kChannelsPerTask;
        for (int64_t c = 0; c < n; ++c) y[c] += w[c] * u[c];
      }
      kernels_.silu_mul_f32(y, ones, y, static_cast<size_t>(n));
    }
    // Oldest first; rising order is safe because a row is only overwritten by a later one.
    for (int64_t j = 0; j < past; ++j)
      std::memmove(tail + j * channels, input(in.count - past + j), static_cast<size_t>(n) * sizeof(float));
  });
}

void CpuDevice::delta_rule(Rows qkv, Rows a, Rows b, const Weight& a_scale, const Weight& dt_bias,
                           const DeltaShape& shape, int64_t, DeltaState& delta, Rows out, Place place) {
  auto& state = static_cast<CpuDeltaState&>(delta);
  const int64_t dk = shape.key_dim, dv = shape.value_dim, width = dv + dk;
  const int64_t key_width = static_cast<int64_t>(shape.key_heads) * dk;
  const float query_scale = 1.0f / std::sqrt(static_cast<float>(dk));
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  for_each_tile(shape.value_heads, Chunk::floats(dk, dv), [&](int64_t head, float* memory) {
    const Chunk chunk(memory, dk, dv);
    const int64_t key_head = shape.tiled ? head % shape.key_heads : head / (shape.value_heads / shape.key_heads);
    float* s = state.matrices.as<float>() + head * dk * dv;
    for (int64_t t0 = 0; t0 < qkv.count; t0 += kTile) {
      const int64_t n = std::min(kTile, qkv.count - t0);
      float decay_sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const float* x = row(qkv, t0 + i);
        unit(x + key_head * dk, dk, query_scale, chunk.q + i * dk);
        unit(x + key_width + key_head * dk, dk, 1.0f, chunk.k + i * dk);
        decay_sum += vector(a_scale)[head] * softplus(row(a, t0 + i)[head] + vector(dt_bias)[head]);
        if (!std::isfinite(decay_sum)) non_finite(place, qkv.first + t0 + i);
        chunk.sums[i] = decay_sum;
        chunk.gates[i] = sigmoid(row(b, t0 + i)[head]);
      }
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < dk; ++j) chunk.transposed[j * kTile + i] = chunk.k[i * dk + j];
      for (int64_t j = 0; j < dk; ++j)
        std::fill(chunk.transposed + j * kTile + n, chunk.transposed + (j + 1) * kTile, 0.0f);
      for (int64_t i = 0; i < n; ++i) {
        float* decay = chunk.decays + i * kTile;
        for (int64_t j = 0; j < kTile; ++j) decay[j] = j <= i ? chunk.sums[i] - chunk.sums[j] : -__builtin_inff();
        kernels_.exp_sum_f32(decay, kTile, 0.0f);
      }

      // (I + A) [U | -W] = [diag(beta) V | -diag(beta exp(G)) K], row by row.
      kernels_.gemm_f32(size(n), kTile, size(dk), chunk.k, size(dk), chunk.transposed, kTile, chunk.products, kTile, 0);
      for (int64_t i = 0; i < n; ++i) {
        const float beta = chunk.gates[i], scaled = -beta * std::exp(chunk.sums[i]);
        const float* value = row(qkv, t0 + i) + 2 * key_width + head * dv;
        float* solved = chunk.solved + i * width;
        for (int64_t j = 0; j < dv; ++j) solved[j] = beta * value[j];
        for (int64_t j = 0; j < dk; ++j) solved[dv + j] = scaled * chunk.k[i * dk + j];
        float* minus_a = chunk.products + i * kTile;
        for (int64_t j = 0; j < i; ++j) minus_a[j] *= -beta * chunk.decays[i * kTile + j];
        kernels_.gemm_f32(1, size(width), size(i), minus_a, kTile, chunk.solved, size(width), solved, size(width), 1);
      }

      // V' = U - W S
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(chunk.values + i * dv, chunk.solved + i * width, size(dv) * sizeof(float));
      kernels_.gemm_f32(size(n), size(dv), size(dk), chunk.solved + dv, size(width), s, size(dv), chunk.values,
                        size(dv), 1);

      // Read out: the state's part, then the chunk's own.
      kernels_.gemm_f32(size(n), kTile, size(dk), chunk.q, size(dk), chunk.transposed, kTile, chunk.products, kTile, 0);
      for (int64_t i = 0; i < n; ++i) {
        const float decay = std::exp(chunk.sums[i]);
        for (int64_t j = 0; j < dk; ++j) chunk.q[i * dk + j] *= decay;
        for (int64_t j = 0; j < kTile; ++j) chunk.products[i * kTile + j] *= chunk.decays[i * kTile + j];
      }
      float* result = row(out, t0) + head * dv;
      const size_t stride = size(out.buffer->columns());
      kernels_.gemm_f32(size(n), size(dv), size(dk), chunk.q, size(dk), s, size(dv), result, stride, 0);
      kernels_.gemm_f32(size(n), size(dv), size(n), chunk.products, kTile, chunk.values, size(dv), result, stride, 1);

      // S <- exp(G_n) S + sum of decayed keys times V'
      const float kept = std::exp(chunk.sums[n - 1]);
      for (int64_t j = 0; j < dk * dv; ++j) s[j] *= kept;
      for (int64_t j = 0; j < dk; ++j)
        for (int64_t i = 0; i < n; ++i) chunk.transposed[j * kTile + i] *= chunk.decays[(n - 1) * kTile + i];
      kernels_.gemm_f32(size(dk), size(dv), size(n), chunk.transposed, kTile, chunk.values, size(dv), s, size(dv), 1);
    }
  });
}

}  // namespace clef::device::cpu
