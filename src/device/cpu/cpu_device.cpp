#include "device/cpu/cpu_device.hpp"

#include <cstring>
#include <utility>

namespace clef::device::cpu {

using base::Result;
using base::Status;

namespace {
// a * b, or UINT64_MAX when that does not fit (no allocation of that size can succeed).
uint64_t times(uint64_t a, uint64_t b) noexcept {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}
int64_t round_up(int64_t value, int64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}
}  // namespace

CpuDevice::CpuDevice(const kernels::Table& kernels, base::Executor& executor, base::Memory& memory)
    : kernels_(kernels),
      executor_(executor),
      memory_(memory),
      description_(std::string("cpu ") + kernels.name + " f32") {}

uint64_t CpuDevice::buffer_bytes(int64_t rows, int64_t columns, Role) const noexcept {
  return times(times(static_cast<uint64_t>(rows), static_cast<uint64_t>(columns)), sizeof(float));
}

Result<std::unique_ptr<Buffer>> CpuDevice::allocate(int64_t rows, int64_t columns, Role role) {
  const char* what = role == Role::residual ? "hidden rows" : "activations";
  CLEF_ASSIGN_OR_RETURN(base::Buffer memory, base::Buffer::create(memory_, buffer_bytes(rows, columns, role), what));
  return std::unique_ptr<Buffer>(new CpuBuffer(rows, columns, std::move(memory)));
}

Result<std::unique_ptr<Arena>> CpuDevice::allocate_arena(uint64_t bytes) {
  auto arena = std::make_unique<CpuArena>();
  CLEF_ASSIGN_OR_RETURN(arena->memory, base::Buffer::create(memory_, bytes, "activations of one chunk"));
  return std::unique_ptr<Arena>(std::move(arena));
}

std::unique_ptr<Buffer> CpuDevice::place(Arena& arena, uint64_t offset, int64_t rows, int64_t columns, Role) {
  float* values = reinterpret_cast<float*>(static_cast<CpuArena&>(arena).memory.as<std::byte>() + offset);
  return std::make_unique<CpuBuffer>(rows, columns, values);
}

uint64_t CpuDevice::kv_bytes(const AttentionShape& shape, int64_t capacity) const noexcept {
  const uint64_t width = static_cast<uint64_t>(shape.kv_heads) * static_cast<uint64_t>(shape.head_dim);
  return times(times(static_cast<uint64_t>(round_up(capacity, kTile)), width), 2 * sizeof(float));
}

Result<std::unique_ptr<KvCache>> CpuDevice::allocate_kv(const AttentionShape& shape, int64_t capacity) {
  auto cache = std::make_unique<CpuKvCache>();
  cache->capacity = round_up(capacity, kTile);
  cache->heads = shape.kv_heads;
  cache->head_dim = shape.head_dim;
  const uint64_t half = kv_bytes(shape, capacity) / 2;
  CLEF_ASSIGN_OR_RETURN(cache->key_memory, base::Buffer::create(memory_, half, "keys of one attention layer"));
  CLEF_ASSIGN_OR_RETURN(cache->value_memory, base::Buffer::create(memory_, half, "values of one attention layer"));
  return std::unique_ptr<KvCache>(std::move(cache));
}

Result<std::unique_ptr<DeltaState>> CpuDevice::allocate_delta(const DeltaShape& shape) {
  auto state = std::make_unique<CpuDeltaState>();
  const int64_t channels = 2 * static_cast<int64_t>(shape.key_heads) * shape.key_dim +
                           static_cast<int64_t>(shape.value_heads) * shape.value_dim;
  state->matrix_floats = static_cast<int64_t>(shape.value_heads) * shape.key_dim * shape.value_dim;
  state->tail_floats = (shape.conv_width - 1) * channels;
  const uint64_t matrix_bytes = times(static_cast<uint64_t>(state->matrix_floats), sizeof(float));
  const uint64_t tail_bytes = times(static_cast<uint64_t>(state->tail_floats), sizeof(float));
  CLEF_ASSIGN_OR_RETURN(state->matrices, base::Buffer::create(memory_, matrix_bytes, "state of one delta-net layer"));
  CLEF_ASSIGN_OR_RETURN(state->tail, base::Buffer::create(memory_, tail_bytes, "state of one delta-net layer"));
  if (state->matrices.data()) std::memset(state->matrices.data(), 0, state->matrices.size());
  if (state->tail.data()) std::memset(state->tail.data(), 0, state->tail.size());
  return std::unique_ptr<DeltaState>(std::move(state));
}

Result<std::unique_ptr<AttendState>> CpuDevice::allocate_attend(int64_t queries, int32_t heads, int64_t columns) {
  auto state = std::make_unique<CpuAttendState>();
  state->queries = queries;
  state->heads = heads;
  state->columns = columns;
  const int64_t floats = queries * (2 * heads + columns);
  CLEF_ASSIGN_OR_RETURN(state->memory, base::Buffer::create(memory_, static_cast<uint64_t>(floats) * sizeof(float),
                                                            "attention of the head"));
  for (int64_t i = 0; i < queries * heads; ++i) state->maxima()[i] = -__builtin_inff(), state->sums()[i] = 0;
  for (int64_t i = 0; i < queries * columns; ++i) state->values()[i] = 0;
  return std::unique_ptr<AttendState>(std::move(state));
}

void CpuDevice::upload(std::span<const float> values, Rows out) {
  if (!values.empty()) std::memcpy(row(out, 0), values.data(), values.size_bytes());
}

Status CpuDevice::download(Rows in, std::span<float> values) {
  CLEF_RETURN_IF_ERROR(sync());
  if (!values.empty()) std::memcpy(values.data(), row(in, 0), values.size_bytes());
  return {};
}

Status CpuDevice::sync() {
  collect_non_finite();
  return std::exchange(error_, Status());
}

void CpuDevice::copy_kv(const KvCache& from, KvCache& to, int64_t positions) {
  const auto& source = static_cast<const CpuKvCache&>(from);
  auto& target = static_cast<CpuKvCache&>(to);
  const size_t bytes = static_cast<size_t>(round_up(positions, kTile) * source.head_dim) * sizeof(float);
  if (bytes == 0) return;
  for (int32_t head = 0; head < source.heads; ++head) {
    std::memcpy(target.key_tile(head, 0), source.key_tile(head, 0), bytes);
    std::memcpy(target.value_row(head, 0), source.value_row(head, 0), bytes);
  }
}

void CpuDevice::copy_delta(const DeltaState& from, DeltaState& to) {
  const auto& source = static_cast<const CpuDeltaState&>(from);
  auto& target = static_cast<CpuDeltaState&>(to);
  if (source.matrices.size()) std::memcpy(target.matrices.data(), source.matrices.data(), source.matrices.size());
  if (source.tail.size()) std::memcpy(target.tail.data(), source.tail.data(), source.tail.size());
}

float* CpuDevice::reserve_scratch(int64_t floats) {
  const uint64_t bytes = static_cast<uint64_t>(floats) * sizeof(float);
  if (scratch_.size() >= bytes) return scratch_.as<float>();
  scratch_.reset();
  auto memory = base::Buffer::create(memory_, bytes, "scratch of the threads");
  if (!memory.ok()) {
    error_ = std::move(memory).status();
    return nullptr;
  }
  scratch_ = std::move(memory).value();
  return scratch_.as<float>();
}

void CpuDevice::non_finite(Place place, int64_t row) noexcept {
  if (bad_value_.exchange(true, std::memory_order_relaxed)) return;
  bad_place_ = place;
  bad_row_ = row;
}

void CpuDevice::collect_non_finite() {
  if (!bad_value_.exchange(false, std::memory_order_relaxed) || !error_.ok()) return;
  std::string message = "a value is NaN or infinite ";
  if (bad_place_.layer >= 0) message += "in layer " + std::to_string(bad_place_.layer) + ", ";
  message += std::string(bad_place_.name) + ", row " + std::to_string(bad_row_) +
             "; the weights are damaged or were read with the wrong convention";
  error_ = Status(base::Code::non_finite, std::move(message));
}

}  // namespace clef::device::cpu

namespace clef::device {

std::unique_ptr<Device> make_cpu_device(base::IsaLevel level, base::Executor& executor, base::Memory& memory) {
  return std::make_unique<cpu::CpuDevice>(kernels::table(static_cast<int>(level)), executor, memory);
}

}  // namespace clef::device
