// The pass through the backbone: layer by layer, all tokens of all sequences through one layer in chunks, then the
// next. Only one layer's weights, one layer's K/V and the hidden rows are needed at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/hooks.hpp"
#include "base/status.hpp"
#include "device/device.hpp"
#include "layers/attention.hpp"
#include "layers/delta_net.hpp"
#include "layers/mlp.hpp"
#include "model/config.hpp"
#include "model/weights.hpp"

namespace clef::model {

// Chunks begin at multiples of this, and so do the places where a sequence may be split.
inline constexpr int64_t kChunkUnit = 64;

// What the layers keep of the first `positions` tokens of a sequence.
struct SequenceState {
  struct Layer {
    std::unique_ptr<device::KvCache> kv;        // attention layers
    std::unique_ptr<device::DeltaState> delta;  // delta-net layers
  };
  int64_t positions = 0;  // a multiple of kChunkUnit
  std::vector<Layer> layers;
};

// Tokens [begin, begin + count) of a sequence.
struct TokenRange {
  int64_t begin = 0, count = 0;
};

struct Sequence {
  std::span<const int32_t> ids;             // of the tokens to compute
  int64_t start = 0;                        // position of the first one, a multiple of kChunkUnit
  std::span<const int32_t> rope_positions;  // time, height, width: ids.size() values each; empty = the position itself
  std::span<const TokenRange> given;       // whose hidden rows the caller writes before the first step, in rising order
  const SequenceState* initial = nullptr;  // of the tokens before `start`; must hold exactly those
  SequenceState* sink = nullptr;           // gets the state after the last token
};

device::AttentionShape attention_shape(const Config& config) noexcept;
device::DeltaShape delta_shape(const Config& config, bool tiled) noexcept;

// Rows of a chunk when the caller gives none: as many as keep the scratch of a chunk near 32 MiB.
int64_t default_chunk(const Config& config, device::Device& device);
// Bytes of scratch of one chunk.
uint64_t chunk_bytes(const Config& config, device::Device& device, int64_t chunk);

// A pass in steps. Configuration, weights, device, ids and states outlive it.
class Pass {
 public:
  // `chunk` is rounded up to a multiple of kChunkUnit; 0 means default_chunk. The result does not depend on it.
  static base::Result<std::unique_ptr<Pass>> create(const Config& config, const Weights& weights,
                                                    bool value_heads_tiled, device::Device& device,
                                                    std::vector<Sequence> sequences, int64_t chunk);
  ~Pass();
  // Runs one chunk through one layer.
  base::Status step();
  bool finished() const noexcept { return layer_ == config_.layers.size(); }
  uint64_t done() const noexcept { return done_; }
  uint64_t total() const noexcept { return total_; }

  // Hidden rows: before the first step those that the caller gives, once finished those after the last layer, before the
  // final norm.
  device::Rows hidden(size_t sequence) const noexcept;
  // The memory of the hidden rows, which lie at its beginning.
  device::Arena& hidden_memory() noexcept { return *hidden_memory_; }
  int64_t chunk() const noexcept { return chunk_; }
  // Gives the chunk's scratch back; the hidden rows stay.
  void release_scratch() noexcept;

 private:
  Pass(const Config& config, const Weights& weights, bool tiled, device::Device& device);
  base::Status allocate_scratch();
  base::Status begin_layer();
  base::Status begin_sequence();
  void end_sequence();
  void embed(const Sequence& sequence, int64_t first, int64_t count);
  void run_chunk(int64_t first, int64_t count);
  std::vector<const device::Weight*> layer_weights() const;

  const Config& config_;
  const Weights& weights_;
  device::Device& device_;
  device::AttentionShape attention_shape_;
  device::DeltaShape delta_shape_;
  std::vector<Sequence> sequences_;
  std::vector<int64_t> first_rows_;  // of each sequence in the hidden rows
  int64_t chunk_ = 0;
  int64_t scratch_rows_ = 0, shared_positions_ = 0;

  std::unique_ptr<device::Arena> hidden_memory_, scratch_;
  std::unique_ptr<device::Buffer> hidden_, normed_;
  layers::AttentionBuffers attention_buffers_;
  layers::DeltaNetBuffers delta_net_buffers_;
  layers::MlpBuffers mlp_buffers_;
  std::unique_ptr<device::KvCache> shared_kv_;  // of sequences without a sink, one after another

  size_t layer_ = 0, sequence_ = 0;
  int64_t position_ = 0;  // next token of the sequence, counted from its start
  std::vector<const device::Weight*> leased_;
  SequenceState::Layer state_;  // of the current layer and sequence
  std::vector<int32_t> rope_;   // positions of the current chunk, three axes
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace clef::model
