// The pass of pictures through the vision tower: a few frames at a time, block by block, in chunks of patches.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "model/vision.hpp"

namespace clef::model {

// One picture, or the frames of a video that share their patches. Patches come in merge-block order: block by block of
// merge x merge neighbours, in raster order outside and inside.
struct VisionFrame {
  int32_t rows = 0, columns = 0;  // of the grid of patches, multiples of merge
  // Fills rows [first, first + count) of the patch matrix, [count, VisionConfig::patch_values()].
  std::function<base::Status(int64_t first, int64_t count, float* out)> patches;
  device::Rows out;  // gets one row for each merge x merge patches

  int64_t size() const noexcept { return int64_t{rows} * columns; }
};

// The model's vision part, the device and the frames' buffers outlive it.
class VisionPass {
 public:
  // `chunk` patches at once, rounded up to a multiple of 64; 0: chosen by memory. The result does not depend on it.
  // `memory` holds the pixels of a chunk on the host.
  static base::Result<std::unique_ptr<VisionPass>> create(const Vision& vision, device::Device& device,
                                                          base::Memory& memory, std::vector<VisionFrame> frames,
                                                          int64_t chunk);
  ~VisionPass();

  // One chunk of one layer.
  base::Status step();
  bool finished() const noexcept { return group_ == groups_.size(); }
  uint64_t total() const noexcept { return total_; }
  // The patches in work, as the steps so far have left them: those of the first frames, if there are few.
  device::Rows hidden() const noexcept { return {hidden_.get(), 0, finished() ? 0 : groups_[group_].patches}; }

 private:
  // Frames [first, first + count) that go through the tower together.
  struct Group {
    size_t first = 0, count = 0;
    int64_t patches = 0;
  };
  enum class Stage : uint8_t { embed, keys_values, block, merge };
  VisionPass(const Vision& vision, device::Device& device, std::vector<VisionFrame> frames);
  base::Status allocate(base::Memory& memory, int64_t chunk);
  base::Status embed(int64_t first, int64_t count);
  base::Status run_block(int64_t first, int64_t count);
  void merge(int64_t first, int64_t count);
  void fill_positions(int64_t first, int64_t count);
  // Calls function(frame, first of the frame, count, offset in the chunk) for each part of a frame in patches
  // [first, first + count) of the group.
  template <class Function>
  base::Status for_each_part(int64_t first, int64_t count, Function&& function) const;
  void lease();
  void advance();

  const Vision& vision_;
  const VisionConfig& config_;
  const layers::VisionShape shape_;
  device::Device& device_;
  std::vector<VisionFrame> frames_;
  std::vector<Group> groups_;
  std::vector<int64_t> starts_;  // of each frame in its group
  std::vector<const Weight*> leased_;

  std::unique_ptr<device::Arena> rows_memory_, scratch_;
  layers::BufferPtr hidden_, keys_, values_, pixels_;
  layers::VisionBuffers buffers_;
  layers::MergerBuffers merger_buffers_;
  base::Buffer patches_;
  std::vector<float> tap_weights_;
  std::vector<int32_t> tap_ids_, positions_;

  int64_t chunk_ = 0, position_ = 0;
  size_t group_ = 0;
  int32_t block_ = 0;
  Stage stage_ = Stage::embed;
  uint64_t total_ = 0;
};

}  // namespace clef::model
