// The fused operations that the layers are written against. One implementation per kind of device.
//
// Three rules. Activations are opaque buffers: only upload and download see values, and the representation belongs to
// the device. `matmul` takes a list of weights that share one input. Operations only enqueue: nothing is done before
// sync or download returns, and host arrays given to an operation (ids, positions, spans) must stay valid until then.
// Errors found while working (a non-finite value, no memory) are kept and returned by the next sync or download.
//
// Thread-safety: one thread at a time. Row counts of 0 are allowed everywhere.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/hooks.hpp"
#include "base/status.hpp"
#include "quant/format.hpp"

namespace clef::device {

// What a buffer is for; the device picks its representation by it.
enum class Role : uint8_t {
  residual,      // rows that layers add to; f32 on every device
  matmul_input,  // normalised rows that weights are multiplied with
  activation,    // results of matmuls and what is computed from them
};

// Rows of activations. Made by Device::allocate, used with that device only.
class Buffer {
 public:
  virtual ~Buffer() = default;
  int64_t rows() const noexcept { return rows_; }
  int64_t columns() const noexcept { return columns_; }

 protected:
  Buffer(int64_t rows, int64_t columns) noexcept : rows_(rows), columns_(columns) {}

 private:
  int64_t rows_, columns_;
};

// One block of memory in which the buffers of different layers lie over each other.
class Arena {
 public:
  virtual ~Arena() = default;
};

// Keys and values of one attention layer and sequence, for positions [0, capacity).
class KvCache {
 public:
  virtual ~KvCache() = default;
};

// Running state of one delta-net layer and sequence: the matrices S of all value heads and the convolution's last
// inputs.
class DeltaState {
 public:
  virtual ~DeltaState() = default;
};

// Online softmax of a few queries over many rows.
class AttendState {
 public:
  virtual ~AttendState() = default;
};

// Rows [first, first + count) of a buffer.
struct Rows {
  Buffer* buffer = nullptr;
  int64_t first = 0, count = 0;
};

// A weight as it lies in the file. Vectors have out == 1 and, like biases, norms, convolutions and gates, are f32 and
// aligned; matrices may be of any format at any address. The bytes outlive the device's use.
using Weight = quant::Matrix;

enum class Epilogue : uint8_t {
  store,         // out = x W^T (+ bias)
  add_residual,  // out += x W^T (+ bias)
  silu_mul,      // out = silu(x W^T) * (x U^T), U = second
  gelu,          // out = gelu(x W^T + bias), exact erf form
  gelu_tanh,     // the same in the tanh form
};

struct Product {
  const Weight* weight = nullptr;
  Rows out;
  Epilogue epilogue = Epilogue::store;
  const Weight* bias = nullptr;
  const Weight* second = nullptr;
};

struct AttentionShape {
  int32_t heads = 0, kv_heads = 0, head_dim = 0;
  int32_t rotary_dims = 0;          // of head_dim, rotated in halves
  int32_t sections[3] = {0, 0, 0};  // interleaved M-RoPE: pairs on the axes time, height, width
  double rope_theta = 0;
  float norm_eps = 0;
};

struct DeltaShape {
  int32_t key_heads = 0, value_heads = 0;
  int32_t key_dim = 0, value_dim = 0;  // of one head
  int32_t conv_width = 0;
  bool tiled =
      false;  // key head of value head h: h mod key_heads when tiled (GGUF), else h / (value_heads / key_heads)
};

// Rows [first, first + count) of the input are added to row `out` of the sums; a divisor other than 0 then divides that
// row.
struct SpanPart {
  int64_t first = 0, count = 0, out = 0;
  float divisor = 0;
};

// Where an operation stands, for messages about non-finite values.
struct Place {
  int32_t layer = -1;  // -1: outside the layers
  const char* name = "";
};

class Device {
 public:
  virtual ~Device() = default;

  // ---- memory: errors at once ----
  virtual base::Result<std::unique_ptr<Buffer>> allocate(int64_t rows, int64_t columns, Role role) = 0;
  virtual base::Result<std::unique_ptr<Arena>> allocate_arena(uint64_t bytes) = 0;
  // A buffer of buffer_bytes(rows, columns, role) at an offset of an arena (a multiple of 64) that outlives it.
  virtual std::unique_ptr<Buffer> place(Arena& arena, uint64_t offset, int64_t rows, int64_t columns, Role role) = 0;
  virtual base::Result<std::unique_ptr<KvCache>> allocate_kv(const AttentionShape& shape, int64_t capacity) = 0;
  virtual base::Result<std::unique_ptr<DeltaState>> allocate_delta(const DeltaShape& shape) = 0;  // all zero
  virtual base::Result<std::unique_ptr<AttendState>> allocate_attend(int64_t queries, int32_t heads,
                                                                     int64_t columns) = 0;
  virtual uint64_t buffer_bytes(int64_t rows, int64_t columns, Role role) const noexcept = 0;
  virtual uint64_t kv_bytes(const AttentionShape& shape, int64_t capacity) const noexcept = 0;

  // ---- transfer ----
  virtual void upload(std::span<const float> values, Rows out) = 0;
  virtual base::Status download(Rows in, std::span<float> values) = 0;  // waits
  virtual base::Status sync() = 0;                                      // waits; the first error since the last one
  virtual void copy_kv(const KvCache& from, KvCache& to, int64_t positions) = 0;  // positions: a multiple of 64, or all
  virtual void copy_delta(const DeltaState& from, DeltaState& to) = 0;

  // Weights of a layer are leased around their use, so that a device may populate, stream or upload them.
  virtual void acquire(std::span<const Weight* const> weights) = 0;
  virtual void release(std::span<const Weight* const> weights) = 0;

  // ---- rows ----
  virtual void embed(const Weight& table, std::span<const int32_t> ids, Rows out) = 0;
  // out[i] = x / sqrt(mean(x^2) + eps) * scale
  virtual void rms_norm(Rows in, const Weight& scale, float eps, Rows out, Place place) = 0;
  // Where `out` has n times the columns of `in`, n normalised rows stand side by side in each of its rows.
  virtual void layer_norm(Rows in, const Weight& scale, const Weight& bias, float eps, Rows out, Place place) = 0;
  virtual void matmul(Rows in, std::span<const Product> products) = 0;
  // out[span.out] += rows, one after another in row order
  virtual void sum_spans(Rows in, std::span<const SpanPart> spans, Rows out) = 0;
  // out[i] = mean of the table's rows ids[spans[i].first ...]
  virtual void embed_mean(const Weight& table, std::span<const int32_t> ids, std::span<const SpanPart> spans,
                          Rows out) = 0;

  // out[i] += sum over its taps of weight * table row: ids and weights hold `taps` entries for each row
  virtual void add_weighted_rows(const Weight& table, std::span<const int32_t> ids, std::span<const float> weights,
                                 int64_t taps, Rows out) = 0;
  // Two-dimensional rotation of every head, in place: with d = columns / heads, pair j of d/2 turns by positions[i] of
  // its axis times theta^(-4 (j mod d/4) / d); the first d/4 pairs are on the axis of rows, the others on that of
  // columns. positions: in.count rows, then in.count columns.
  virtual void rotate_2d(Rows rows, std::span<const int32_t> positions, int32_t heads, double theta) = 0;

  // ---- full attention ----
  // Per head of q_gate ([query | gate] per head): rms norm and rotation of the query, in place. Keys are normalised and
  // rotated, keys and values stored at positions first ... of the cache. rope_positions: count values per axis, axes
  // one after another.
  virtual void attention_prepare(Rows q_gate, Rows keys, Rows values, const Weight& q_norm, const Weight& k_norm,
                                 std::span<const int32_t> rope_positions, const AttentionShape& shape, int64_t first,
                                 KvCache& cache, Place place) = 0;
  // Causal attention of rows first ... over the cache, times sigmoid(gate).
  virtual void attention(Rows q_gate, const KvCache& cache, const AttentionShape& shape, int64_t first, Rows out) = 0;

  // ---- gated delta rule ----
  // Depthwise causal convolution over time, then silu; keeps the last inputs in the state.
  virtual void causal_conv_silu(Rows in, const Weight& conv, const DeltaShape& shape, DeltaState& state, Rows out) = 0;
  // qkv: [q heads | k heads | v heads]; decay g = a_scale * softplus(a + dt_bias) with a_scale = -exp(A_log), beta =
  // sigmoid(b). `first`, the position of the first row, is a multiple of 64.
  virtual void delta_rule(Rows qkv, Rows a, Rows b, const Weight& a_scale, const Weight& dt_bias,
                          const DeltaShape& shape, int64_t first, DeltaState& state, Rows out, Place place) = 0;
  // Per head: rms norm with `scale`, times silu(z).
  virtual void gated_norm(Rows in, Rows z, const Weight& scale, float eps, int32_t head_dim, Rows out, Place place) = 0;

  // ---- attention of a few queries over many rows, no mask ----
  virtual void attend(Rows queries, Rows keys, Rows values, int32_t heads, AttendState& state) = 0;
  virtual void attend_finish(AttendState& state, Rows out) = 0;

  // Whose cancellation long operations look at; once tripped, results are undefined. Null: none.
  virtual void set_watch(const base::Watch* watch) = 0;
  // Names of the kernels in use, for people.
  virtual const char* description() const noexcept = 0;
};

}  // namespace clef::device
