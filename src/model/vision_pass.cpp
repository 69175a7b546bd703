#include "model/vision_pass.hpp"

#include <algorithm>
#include <cmath>

namespace clef::model {

using base::Result;
using base::Status;
using device::Role;
using device::Rows;

namespace {

constexpr int64_t kUnit = 64;                            // patches; a multiple of every merge
constexpr int64_t kGroupPatches = 4096;                  // of small frames that go together
constexpr uint64_t kScratchTarget = uint64_t{16} << 20;  // bytes of a chunk
constexpr int64_t kTaps = 4;

// The rows of all frames that go together.
struct GroupRows {
  layers::BufferPtr hidden, keys, values;
  uint64_t bytes = 0;

  GroupRows(const VisionConfig& config, device::Device& device, device::Arena* arena, int64_t patches) {
    layers::Placement placement(device, arena);
    hidden = placement.place(patches, config.hidden, Role::residual);
    keys = placement.place(patches, config.hidden, Role::activation);
    values = placement.place(patches, config.hidden, Role::activation);
    bytes = placement.size();
  }
};

// The scratch of a chunk; the stages lie over each other.
struct Scratch {
  layers::BufferPtr pixels;
  layers::VisionBuffers block;
  layers::MergerBuffers merger;
  uint64_t bytes = 0;

  Scratch(const VisionConfig& config, device::Device& device, device::Arena* arena, int64_t rows) {
    layers::Placement placement(device, arena);
    const uint64_t mark = placement.mark();
    pixels = placement.place(rows, config.patch_values(), Role::matmul_input);
    placement.back_to(mark);
    block = layers::VisionBuffers(placement, config.hidden, config.intermediate, rows);
    placement.back_to(mark);
    merger = layers::MergerBuffers(placement, config.merged_rows() * config.hidden, rows / config.merged_rows());
    bytes = placement.size();
  }
};

int64_t chunk_rows(const VisionConfig& config, device::Device& device, int64_t chunk, int64_t patches) {
  if (chunk <= 0) {
    const uint64_t unit = std::max<uint64_t>(1, Scratch(config, device, nullptr, kUnit).bytes);
    chunk = std::clamp<int64_t>(static_cast<int64_t>(kScratchTarget / unit), 1, 8) * kUnit;
  }
  return layers::round_up(std::min(chunk, patches), kUnit);
}

// Row and column of a patch in merge-block order.
struct Place {
  int32_t row, column;
};
Place place_of(int64_t patch, int32_t columns, int32_t merge) noexcept {
  const int64_t inner = patch % (merge * merge), block = patch / (merge * merge), across = columns / merge;
  return {static_cast<int32_t>(block / across * merge + inner / merge),
          static_cast<int32_t>(block % across * merge + inner % merge)};
}

// Where the grid of `size` patches lies on the axis of `grid` position embeddings, corners on corners.
struct Tap {
  int32_t low, high;
  float fraction;
};
Tap tap_of(int32_t index, int32_t size, int32_t grid) noexcept {
  const float step = size > 1 ? static_cast<float>(grid - 1) / static_cast<float>(size - 1) : 0.0f;
  const float at = index == size - 1 && size > 1 ? static_cast<float>(grid - 1) : static_cast<float>(index) * step;
  const auto low = std::min(static_cast<int32_t>(at), grid - 1);
  return {low, std::min(low + 1, grid - 1), at - static_cast<float>(low)};
}

}  // namespace

VisionPass::VisionPass(const Vision& vision, device::Device& device, std::vector<VisionFrame> frames)
    : vision_(vision),
      config_(vision.config),
      shape_{vision.config.heads, vision.config.norm_eps, vision.config.rope_theta},
      device_(device),
      frames_(std::move(frames)) {}

VisionPass::~VisionPass() {
  if (!leased_.empty()) device_.release(leased_);
}

Result<std::unique_ptr<VisionPass>> VisionPass::create(const Vision& vision, device::Device& device,
                                                       base::Memory& memory, std::vector<VisionFrame> frames,
                                                       int64_t chunk) {
  std::unique_ptr<VisionPass> pass(new VisionPass(vision, device, std::move(frames)));
  for (size_t i = 0; i < pass->frames_.size(); ++i) {
    const VisionFrame& frame = pass->frames_[i];
    const int32_t merge = vision.config.merge;
    if (frame.rows <= 0 || frame.columns <= 0 || frame.rows % merge != 0 || frame.columns % merge != 0 ||
        frame.out.count * vision.config.merged_rows() != frame.size())
      return Status(base::Code::internal, "a grid of patches that does not fit the merger");
    if (pass->groups_.empty() || pass->groups_.back().patches + frame.size() > kGroupPatches)
      pass->groups_.push_back({i, 0, 0});
    Group& group = pass->groups_.back();
    pass->starts_.push_back(group.patches);
    group.patches += frame.size();
    ++group.count;
  }
  CLEF_RETURN_IF_ERROR(pass->allocate(memory, chunk));
  if (!pass->finished()) pass->lease();
  return pass;
}

Status VisionPass::allocate(base::Memory& memory, int64_t chunk) {
  int64_t largest = 0;
  for (const Group& group : groups_) largest = std::max(largest, group.patches);
  if (largest == 0) return {};
  chunk_ = chunk_rows(config_, device_, chunk, largest);
  for (const Group& group : groups_)
    total_ += static_cast<uint64_t>((group.patches + chunk_ - 1) / chunk_ * (2 + 2 * config_.blocks));
  CLEF_ASSIGN_OR_RETURN(rows_memory_, device_.allocate_arena(GroupRows(config_, device_, nullptr, largest).bytes));
  GroupRows rows(config_, device_, rows_memory_.get(), largest);
  hidden_ = std::move(rows.hidden);
  keys_ = std::move(rows.keys);
  values_ = std::move(rows.values);
  CLEF_ASSIGN_OR_RETURN(scratch_, device_.allocate_arena(Scratch(config_, device_, nullptr, chunk_).bytes));
  Scratch scratch(config_, device_, scratch_.get(), chunk_);
  pixels_ = std::move(scratch.pixels);
  buffers_ = std::move(scratch.block);
  merger_buffers_ = std::move(scratch.merger);
  const auto bytes = static_cast<uint64_t>(chunk_ * config_.patch_values()) * sizeof(float);
  CLEF_ASSIGN_OR_RETURN(patches_, base::Buffer::create(memory, bytes, "patches of a picture"));
  return {};
}

template <class Function>
Status VisionPass::for_each_part(int64_t first, int64_t count, Function&& function) const {
  const Group& group = groups_[group_];
  for (size_t i = group.first; i < group.first + group.count; ++i) {
    const int64_t begin = std::max(first, starts_[i]), end = std::min(first + count, starts_[i] + frames_[i].size());
    if (begin < end) CLEF_RETURN_IF_ERROR(function(i, begin - starts_[i], end - begin, begin - first));
  }
  return {};
}

void VisionPass::lease() {
  if (!leased_.empty()) device_.release(leased_);
  const VisionWeights& w = vision_.weights;
  if (stage_ == Stage::embed) {
    leased_ = {&w.patch, &w.patch_bias, &w.positions};
  } else if (stage_ == Stage::merge) {
    const layers::MergerWeights& m = w.merger;
    leased_ = {&m.norm.scale, &m.norm.bias, &m.up, &m.up_bias, &m.down, &m.down_bias};
  } else {
    const layers::VisionBlockWeights& b = w.blocks[static_cast<size_t>(block_)];
    leased_ = {&b.norm1.scale, &b.norm1.bias, &b.norm2.scale, &b.norm2.bias, &b.q,  &b.k,       &b.v,    &b.out,
               &b.q_bias,      &b.k_bias,     &b.v_bias,      &b.out_bias,   &b.up, &b.up_bias, &b.down, &b.down_bias};
  }
  device_.acquire(leased_);
}

void VisionPass::fill_positions(int64_t first, int64_t count) {
  positions_.resize(static_cast<size_t>(2 * count));
  static_cast<void>(for_each_part(first, count, [&](size_t index, int64_t from, int64_t size, int64_t offset) {
    for (int64_t i = 0; i < size; ++i) {
      const Place place = place_of(from + i, frames_[index].columns, config_.merge);
      positions_[static_cast<size_t>(offset + i)] = place.row;
      positions_[static_cast<size_t>(count + offset + i)] = place.column;
    }
    return Status();
  }));
}

// hidden = patches * weights + the grid's embeddings, sampled bilinearly.
Status VisionPass::embed(int64_t first, int64_t count) {
  tap_ids_.resize(static_cast<size_t>(kTaps * count));
  tap_weights_.resize(tap_ids_.size());
  CLEF_RETURN_IF_ERROR(for_each_part(first, count, [&](size_t index, int64_t from, int64_t size, int64_t offset) {
    const VisionFrame& frame = frames_[index];
    for (int64_t i = 0; i < size; ++i) {
      const Place place = place_of(from + i, frame.columns, config_.merge);
      const Tap y = tap_of(place.row, frame.rows, config_.grid), x = tap_of(place.column, frame.columns, config_.grid);
      auto tap = static_cast<size_t>(kTaps * (offset + i));
      for (const auto& [row, row_weight] : {std::pair(y.low, 1.0f - y.fraction), std::pair(y.high, y.fraction)})
        for (const auto& [column, weight] : {std::pair(x.low, 1.0f - x.fraction), std::pair(x.high, x.fraction)}) {
          tap_ids_[tap] = row * config_.grid + column;
          tap_weights_[tap++] = row_weight * weight;
        }
    }
    return frame.patches(from, size, patches_.as<float>() + offset * config_.patch_values());
  }));
  const Rows pixels{pixels_.get(), 0, count}, hidden{hidden_.get(), first, count};
  device_.upload({patches_.as<float>(), static_cast<size_t>(count * config_.patch_values())}, pixels);
  const device::Product product[] = {
      {&vision_.weights.patch, hidden, device::Epilogue::store, &vision_.weights.patch_bias}};
  device_.matmul(pixels, product);
  device_.add_weighted_rows(vision_.weights.positions, tap_ids_, tap_weights_, kTaps, hidden);
  return {};
}

Status VisionPass::run_block(int64_t first, int64_t count) {
  std::vector<layers::VisionSpan> spans;
  CLEF_RETURN_IF_ERROR(for_each_part(first, count, [&](size_t index, int64_t, int64_t size, int64_t offset) {
    const int64_t start = starts_[index], all = frames_[index].size();
    spans.push_back({offset, size, {keys_.get(), start, all}, {values_.get(), start, all}});
    return Status();
  }));
  return layers::vision_block(device_, vision_.weights.blocks[static_cast<size_t>(block_)], shape_, buffers_,
                              {hidden_.get(), first, count}, positions_, spans, block_);
}

void VisionPass::merge(int64_t first, int64_t count) {
  const int64_t merged = config_.merged_rows();
  static_cast<void>(for_each_part(first, count, [&](size_t index, int64_t from, int64_t size, int64_t) {
    const Rows out = frames_[index].out;
    layers::merger(device_, vision_.weights.merger, config_.norm_eps, merger_buffers_,
                   {hidden_.get(), starts_[index] + from, size},
                   {out.buffer, out.first + from / merged, size / merged});
    return Status();
  }));
}

Status VisionPass::step() {
  if (finished()) return {};
  const int64_t count = std::min(chunk_, groups_[group_].patches - position_);
  switch (stage_) {
    case Stage::embed:
      CLEF_RETURN_IF_ERROR(embed(position_, count));
      break;
    case Stage::keys_values:
      fill_positions(position_, count);
      layers::vision_keys_values(device_, vision_.weights.blocks[static_cast<size_t>(block_)], shape_, buffers_,
                                 {hidden_.get(), position_, count}, positions_, {keys_.get(), position_, count},
                                 {values_.get(), position_, count}, block_);
      break;
    case Stage::block:
      fill_positions(position_, count);
      CLEF_RETURN_IF_ERROR(run_block(position_, count));
      break;
    case Stage::merge:
      merge(position_, count);
      break;
  }
  // What the host gave is overwritten by the next step.
  CLEF_RETURN_IF_ERROR(device_.sync());
  position_ += count;
  if (position_ == groups_[group_].patches) advance();
  return {};
}

void VisionPass::advance() {
  position_ = 0;
  switch (stage_) {
    case Stage::embed:
      block_ = 0;
      stage_ = Stage::keys_values;
      break;
    case Stage::keys_values:
      stage_ = Stage::block;
      return;  // the same weights
    case Stage::block:
      stage_ = ++block_ < config_.blocks ? Stage::keys_values : Stage::merge;
      break;
    case Stage::merge:
      stage_ = Stage::embed;
      ++group_;
      break;
  }
  if (!finished()) {
    lease();
  } else {
    device_.release(leased_);
    leased_.clear();
  }
}

}  // namespace clef::model
