#include "model/executor.hpp"

#include <algorithm>
#include <string>

namespace clef::model {

using base::Code;
using base::Result;
using base::Status;
using device::Rows;

namespace {

constexpr uint64_t kScratchTarget = uint64_t{32} << 20;

// All buffers of one chunk: the layer kinds lie over each other.
struct Scratch {
  layers::BufferPtr normed;
  layers::AttentionBuffers attention;
  layers::DeltaNetBuffers delta_net;
  layers::MlpBuffers mlp;
  uint64_t bytes = 0;

  Scratch(const Config& config, device::Device& device, device::Arena* arena, int64_t rows) {
    layers::Placement placement(device, arena);
    normed = placement.place(rows, config.hidden, device::Role::matmul_input);
    const uint64_t mark = placement.mark();
    attention = layers::AttentionBuffers(placement, attention_shape(config), rows);
    placement.back_to(mark);
    delta_net = layers::DeltaNetBuffers(placement, delta_shape(config, false), rows);
    placement.back_to(mark);
    mlp = layers::MlpBuffers(placement, config.intermediate, rows);
    bytes = placement.size();
  }
};

}  // namespace

device::AttentionShape attention_shape(const Config& config) noexcept {
  device::AttentionShape shape;
  shape.heads = config.heads;
  shape.kv_heads = config.kv_heads;
  shape.head_dim = config.head_dim;
  shape.rotary_dims = config.rotary_dims;
  std::copy(std::begin(config.rope_sections), std::end(config.rope_sections), std::begin(shape.sections));
  shape.rope_theta = config.rope_theta;
  shape.norm_eps = config.norm_eps;
  return shape;
}

device::DeltaShape delta_shape(const Config& config, bool tiled) noexcept {
  device::DeltaShape shape;
  shape.key_heads = config.key_heads;
  shape.value_heads = config.value_heads;
  shape.key_dim = config.key_dim;
  shape.value_dim = config.value_dim;
  shape.conv_width = config.conv_width;
  shape.tiled = tiled;
  return shape;
}

uint64_t chunk_bytes(const Config& config, device::Device& device, int64_t chunk) {
  return Scratch(config, device, nullptr, chunk).bytes;
}

int64_t default_chunk(const Config& config, device::Device& device) {
  const uint64_t unit = std::max<uint64_t>(1, chunk_bytes(config, device, kChunkUnit));
  return std::clamp<int64_t>(static_cast<int64_t>(kScratchTarget / unit), 1, 16) * kChunkUnit;
}

Pass::Pass(const Config& config, const Weights& weights, bool tiled, device::Device& device)
    : config_(config),
      weights_(weights),
      device_(device),
      attention_shape_(attention_shape(config)),
      delta_shape_(delta_shape(config, tiled)) {}

Pass::~Pass() {
  if (!leased_.empty()) device_.release(leased_);
}

Result<std::unique_ptr<Pass>> Pass::create(const Config& config, const Weights& weights, bool value_heads_tiled,
                                           device::Device& device, std::vector<Sequence> sequences, int64_t chunk) {
  std::unique_ptr<Pass> pass(new Pass(config, weights, value_heads_tiled, device));
  int64_t rows = 0, longest = 0, longest_without_sink = 0, longest_end = 0;
  for (const Sequence& sequence : sequences) {
    const int64_t count = static_cast<int64_t>(sequence.ids.size());
    if (sequence.start % kChunkUnit != 0 || (sequence.initial ? sequence.initial->positions : 0) != sequence.start)
      return Status(Code::internal, "a sequence must start where its initial state ends, at a multiple of 64 tokens");
    for (const int32_t id : sequence.ids)
      if (id < 0 || id >= config.vocabulary)
        return Status(Code::internal, "token id " + std::to_string(id) + " is outside the vocabulary of " +
                                          std::to_string(config.vocabulary));
    pass->first_rows_.push_back(rows);
    rows += count;
    longest = std::max(longest, count);
    longest_end = std::max(longest_end, sequence.start + count);
    if (!sequence.sink) longest_without_sink = std::max(longest_without_sink, sequence.start + count);
  }
  const int64_t wanted = chunk > 0 ? std::min(chunk, longest_end) : default_chunk(config, device);
  pass->chunk_ = std::max(kChunkUnit, layers::round_up(std::min(wanted, std::max<int64_t>(longest, 1)), kChunkUnit));
  for (const Sequence& sequence : sequences)
    pass->total_ += (sequence.ids.size() + static_cast<size_t>(pass->chunk_) - 1) / static_cast<size_t>(pass->chunk_);
  pass->total_ *= config.layers.size();

  CLEF_ASSIGN_OR_RETURN(pass->hidden_memory_,
                        device.allocate_arena(device.buffer_bytes(rows, config.hidden, device::Role::residual)));
  pass->hidden_ = device.place(*pass->hidden_memory_, 0, rows, config.hidden, device::Role::residual);
  pass->scratch_rows_ = std::min(pass->chunk_, std::max<int64_t>(longest, 1));
  pass->shared_positions_ = longest_without_sink;
  for (const Sequence& sequence : sequences) {
    if (!sequence.sink) continue;
    sequence.sink->layers.clear();
    sequence.sink->layers.resize(config.layers.size());
    sequence.sink->positions = sequence.start + static_cast<int64_t>(sequence.ids.size());
  }
  pass->rope_.resize(static_cast<size_t>(3 * pass->scratch_rows_));
  pass->sequences_ = std::move(sequences);
  if (pass->total_ == 0) pass->layer_ = config.layers.size();
  return pass;
}

// Not before the first step, since the caller may need memory for the rows that it gives.
Status Pass::allocate_scratch() {
  CLEF_ASSIGN_OR_RETURN(scratch_, device_.allocate_arena(chunk_bytes(config_, device_, scratch_rows_)));
  Scratch scratch(config_, device_, scratch_.get(), scratch_rows_);
  normed_ = std::move(scratch.normed);
  attention_buffers_ = std::move(scratch.attention);
  delta_net_buffers_ = std::move(scratch.delta_net);
  mlp_buffers_ = std::move(scratch.mlp);
  const bool has_attention =
      std::find(config_.layers.begin(), config_.layers.end(), LayerKind::attention) != config_.layers.end();
  if (has_attention && shared_positions_ > 0) {
    CLEF_ASSIGN_OR_RETURN(shared_kv_, device_.allocate_kv(attention_shape_, shared_positions_));
  }
  return {};
}

std::vector<const device::Weight*> Pass::layer_weights() const {
  const LayerWeights& w = weights_.layers[layer_];
  std::vector<const device::Weight*> list = {&w.input_norm, &w.post_norm, &w.gate, &w.up, &w.down};
  const AttentionWeights& a = w.attention;
  const DeltaNetWeights& d = w.delta_net;
  if (config_.layers[layer_] == LayerKind::attention) {
    list.insert(list.end(), {&a.q_gate, &a.k, &a.v, &a.out, &a.q_norm, &a.k_norm});
  } else {
    list.insert(list.end(), {&d.qkv, &d.z, &d.a, &d.b, &d.conv, &d.a_scale, &d.dt_bias, &d.norm, &d.out});
  }
  return list;
}

Status Pass::begin_layer() {
  leased_ = layer_weights();
  device_.acquire(leased_);
  return {};
}

// The state of this layer and sequence: a copy of the initial one, or empty.
Status Pass::begin_sequence() {
  const Sequence& sequence = sequences_[sequence_];
  const SequenceState::Layer* initial = sequence.initial ? &sequence.initial->layers[layer_] : nullptr;
  if (config_.layers[layer_] == LayerKind::attention) {
    device::KvCache* cache = shared_kv_.get();
    if (sequence.sink) {
      const int64_t end = sequence.start + static_cast<int64_t>(sequence.ids.size());
      CLEF_ASSIGN_OR_RETURN(state_.kv, device_.allocate_kv(attention_shape_, end));
      cache = state_.kv.get();
    }
    if (initial) device_.copy_kv(*initial->kv, *cache, sequence.start);
  } else {
    CLEF_ASSIGN_OR_RETURN(state_.delta, device_.allocate_delta(delta_shape_));
    if (initial) device_.copy_delta(*initial->delta, *state_.delta);
  }
  return {};
}

void Pass::end_sequence() {
  if (sequences_[sequence_].sink) {
    sequences_[sequence_].sink->layers[layer_] = std::move(state_);
  }
  state_ = {};
}

// The rows between those that the caller has given.
void Pass::embed(const Sequence& sequence, int64_t first, int64_t count) {
  const auto rows = [&](int64_t begin, int64_t end) {
    if (begin >= end) return;
    device_.embed(weights_.embeddings,
                  sequence.ids.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin)),
                  {hidden_.get(), first_rows_[sequence_] + begin, end - begin});
  };
  const int64_t end = first + count;
  int64_t at = first;
  for (const TokenRange& range : sequence.given) {
    rows(at, std::min(range.begin, end));
    at = std::max(at, range.begin + range.count);
  }
  rows(at, end);
}

void Pass::run_chunk(int64_t first, int64_t count) {
  const Sequence& sequence = sequences_[sequence_];
  const LayerWeights& w = weights_.layers[layer_];
  const int32_t layer = static_cast<int32_t>(layer_);
  const Rows hidden{hidden_.get(), first_rows_[sequence_] + first, count}, normed{normed_.get(), 0, count};
  const int64_t position = sequence.start + first;

  if (layer_ == 0) embed(sequence, first, count);
  device_.rms_norm(hidden, w.input_norm, config_.norm_eps, normed, {layer, "input norm"});
  if (config_.layers[layer_] == LayerKind::attention) {
    const size_t total = sequence.ids.size();
    for (size_t axis = 0; axis < 3; ++axis)
      for (int64_t i = 0; i < count; ++i)
        rope_[axis * static_cast<size_t>(count) + static_cast<size_t>(i)] =
            sequence.rope_positions.empty() ? static_cast<int32_t>(position + i)
                                            : sequence.rope_positions[axis * total + static_cast<size_t>(first + i)];
    device::KvCache& cache = state_.kv ? *state_.kv : *shared_kv_;
    layers::attention(device_, w.attention, attention_shape_, attention_buffers_, normed,
                      std::span<const int32_t>(rope_).first(static_cast<size_t>(3 * count)), position, cache, hidden,
                      layer);
  } else {
    layers::delta_net(device_, w.delta_net, delta_shape_, config_.norm_eps, delta_net_buffers_, normed, position,
                      *state_.delta, hidden, layer);
  }
  device_.rms_norm(hidden, w.post_norm, config_.norm_eps, normed, {layer, "post-attention norm"});
  layers::mlp(device_, w.gate, w.up, w.down, mlp_buffers_, normed, hidden);
}

Status Pass::step() {
  if (finished()) return {};
  if (!scratch_) CLEF_RETURN_IF_ERROR(allocate_scratch());
  if (sequence_ == 0 && position_ == 0) CLEF_RETURN_IF_ERROR(begin_layer());
  if (position_ == 0) CLEF_RETURN_IF_ERROR(begin_sequence());
  const int64_t length = static_cast<int64_t>(sequences_[sequence_].ids.size());
  const int64_t count = std::min(chunk_, length - position_);
  if (count > 0) {
    run_chunk(position_, count);
    // The positions of this chunk live in rope_, which the next one overwrites; an error must not be hidden by more
    // work.
    CLEF_RETURN_IF_ERROR(device_.sync());
    position_ += count;
    ++done_;
  }
  if (position_ < length) return {};
  end_sequence();
  position_ = 0;
  if (++sequence_ < sequences_.size()) return {};
  device_.release(leased_);
  leased_.clear();
  sequence_ = 0;
  ++layer_;
  return {};
}

Rows Pass::hidden(size_t sequence) const noexcept {
  return {hidden_.get(), first_rows_[sequence], static_cast<int64_t>(sequences_[sequence].ids.size())};
}

void Pass::release_scratch() noexcept {
  attention_buffers_ = {};
  delta_net_buffers_ = {};
  mlp_buffers_ = {};
  normed_.reset();
  scratch_.reset();
  shared_kv_.reset();
}

}  // namespace clef::model
