// The class behind make_cpu_device; its operations are spread over the files of this folder.
#pragma once
#include <atomic>
#include <string>

#include "base/executor.hpp"
#include "base/memory.hpp"
#include "device/cpu/cpu.hpp"
#include "device/device.hpp"
#include "kernels/kernels.hpp"

namespace clef::device::cpu {

inline constexpr int64_t kTile = 64;  // K/V tiles and delta-rule chunks, at absolute multiples of it

class CpuBuffer final : public Buffer {
 public:
  CpuBuffer(int64_t rows, int64_t columns, base::Buffer memory) noexcept
      : Buffer(rows, columns), memory_(std::move(memory)), values_(memory_.as<float>()) {}
  CpuBuffer(int64_t rows, int64_t columns, float* values) noexcept : Buffer(rows, columns), values_(values) {}
  float* row(int64_t index) const noexcept { return values_ + index * columns(); }

 private:
  base::Buffer memory_;  // empty when the buffer lies in an arena
  float* values_;
};

struct CpuArena final : Arena {
  base::Buffer memory;
};

// Keys per head in tiles [head_dim][64] (the layout of a matmul's right-hand side), values per head in rows.
struct CpuKvCache final : KvCache {
  int64_t capacity = 0;  // a multiple of kTile
  int32_t heads = 0, head_dim = 0;
  base::Buffer key_memory, value_memory;
  float* key_tile(int32_t head, int64_t tile) const noexcept {
    return key_memory.as<float>() + (head * capacity + tile * kTile) * head_dim;
  }
  float* value_row(int32_t head, int64_t position) const noexcept {
    return value_memory.as<float>() + (head * capacity + position) * head_dim;
  }
};

struct CpuDeltaState final : DeltaState {
  int64_t matrix_floats = 0, tail_floats = 0;
  base::Buffer matrices;  // [value heads][key_dim][value_dim]
  base::Buffer tail;      // [conv_width - 1][channels], oldest first
};

struct CpuAttendState final : AttendState {
  int64_t queries = 0, columns = 0;
  int32_t heads = 0;
  base::Buffer memory;  // maxima [queries][heads], sums [queries][heads], weighted values [queries][columns]
  float* maxima() const noexcept { return memory.as<float>(); }
  float* sums() const noexcept { return maxima() + queries * heads; }
  float* values() const noexcept { return sums() + queries * heads; }
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const kernels::Table& kernels, base::Executor& executor, base::Memory& memory);

  base::Result<std::unique_ptr<Buffer>> allocate(int64_t rows, int64_t columns, Role role) override;
  base::Result<std::unique_ptr<Arena>> allocate_arena(uint64_t bytes) override;
  std::unique_ptr<Buffer> place(Arena& arena, uint64_t offset, int64_t rows, int64_t columns, Role role) override;
  base::Result<std::unique_ptr<KvCache>> allocate_kv(const AttentionShape& shape, int64_t capacity) override;
  base::Result<std::unique_ptr<DeltaState>> allocate_delta(const DeltaShape& shape) override;
  base::Result<std::unique_ptr<AttendState>> allocate_attend(int64_t queries, int32_t heads, int64_t columns) override;
  uint64_t buffer_bytes(int64_t rows, int64_t columns, Role role) const noexcept override;
  uint64_t kv_bytes(const AttentionShape& shape, int64_t capacity) const noexcept override;

  void upload(std::span<const float> values, Rows out) override;
  base::Status download(Rows in, std::span<float> values) override;
  base::Status sync() override;
  void copy_kv(const KvCache& from, KvCache& to, int64_t positions) override;
  void copy_delta(const DeltaState& from, DeltaState& to) override;
  void acquire(std::span<const Weight* const>) override {}
  void release(std::span<const Weight* const>) override {}

  void embed(const Weight& table, std::span<const int32_t> ids, Rows out) override;
  void rms_norm(Rows in, const Weight& scale, float eps, Rows out, Place place) override;
  void layer_norm(Rows in, const Weight& scale, const Weight& bias, float eps, Rows out, Place place) override;
  void matmul(Rows in, std::span<const Product> products) override;
  void sum_spans(Rows in, std::span<const SpanPart> spans, Rows out) override;
  void embed_mean(const Weight& table, std::span<const int32_t> ids, std::span<const SpanPart> spans,
                  Rows out) override;
  void add_weighted_rows(const Weight& table, std::span<const int32_t> ids, std::span<const float> weights,
                         int64_t taps, Rows out) override;
  void rotate_2d(Rows rows, std::span<const int32_t> positions, int32_t heads, double theta) override;

  void attention_prepare(Rows q_gate, Rows keys, Rows values, const Weight& q_norm, const Weight& k_norm,
                         std::span<const int32_t> rope_positions, const AttentionShape& shape, int64_t first,
                         KvCache& cache, Place place) override;
  void attention(Rows q_gate, const KvCache& cache, const AttentionShape& shape, int64_t first, Rows out) override;

  void causal_conv_silu(Rows in, const Weight& conv, const DeltaShape& shape, DeltaState& state, Rows out) override;
  void delta_rule(Rows qkv, Rows a, Rows b, const Weight& a_scale, const Weight& dt_bias, const DeltaShape& shape,
                  int64_t first, DeltaState& state, Rows out, Place place) override;
  void gated_norm(Rows in, Rows z, const Weight& scale, float eps, int32_t head_dim, Rows out, Place place) override;

  void attend(Rows queries, Rows keys, Rows values, int32_t heads, AttendState& state) override;
  void attend_finish(AttendState& state, Rows out) override;

  void set_watch(const base::Watch* watch) override { watch_ = watch; }
  const char* description() const noexcept override { return description_.c_str(); }

 private:
  static float* row(Rows rows, int64_t index) noexcept {
    return static_cast<CpuBuffer*>(rows.buffer)->row(rows.first + index);
  }
  // Rows and key of an online softmax of one head: scores of `rows` x 64 keys become weights, sums and maxima follow,
  // accumulated values are rescaled.
  void softmax_tile(float* scores, int64_t rows, int64_t keys, int64_t first_valid, float* maxima, float* sums,
                    int64_t stride, float* values, int64_t value_stride, int64_t value_columns) const noexcept;

  // Calls function(tile, scratch) for each tile < tiles. Lanes, at most one per thread, take tiles from a counter; a
  // lane owns `scratch_floats` of memory that was taken before the start. Stops early when the call was cancelled.
  template <class Function>
  void for_each_tile(int64_t tiles, int64_t scratch_floats, Function&& function) {
    if (tiles <= 0 || !error_.ok()) return;
    const int64_t concurrency = executor_.concurrency();
    const int64_t lanes = tiles < concurrency ? tiles : concurrency;
    float* scratch = reserve_scratch(lanes * scratch_floats);
    if (scratch_floats > 0 && !scratch) return;
    std::atomic<int64_t> next{0};
    base::parallel_for(executor_, static_cast<size_t>(lanes), [&](size_t lane) {
      float* own = scratch_floats > 0 ? scratch + static_cast<int64_t>(lane) * scratch_floats : nullptr;
      for (int64_t tile; (tile = next.fetch_add(1, std::memory_order_relaxed)) < tiles;) {
        if (watch_ && watch_->tripped()) return;
        function(tile, own);
      }
    });
  }
  float* reserve_scratch(int64_t floats);
  void non_finite(Place place, int64_t row) noexcept;  // called by tasks: keeps the first
  void collect_non_finite();

  const kernels::Table& kernels_;
  base::Executor& executor_;
  base::Memory& memory_;
  const base::Watch* watch_ = nullptr;
  base::Buffer scratch_;
  base::Status error_;
  std::atomic<bool> bad_value_{false};
  Place bad_place_;
  int64_t bad_row_ = 0;
  std::string description_;
};

}  // namespace clef::device::cpu
