// The rows of the vision tower from decoded pictures, in order, a strip of pixels at a time.
#pragma once
#include <span>
#include <vector>

#include "media/patches.hpp"
#include "media/resize.hpp"

namespace clef::media {

class PatchStream {
 public:
  // The frames of one temporal patch as write_patches takes them, scaled to one size. Processor and normalisation outlive
  // the stream. Errors: invalid_argument (number, sizes), memory_limit, out_of_memory.
  static base::Result<PatchStream> create(std::vector<ScaledRows> frames, const Processor& processor,
                                          const Normalisation& normalisation, base::Memory& memory);

  uint64_t patches() const noexcept { return across_ * down_ * per_block_; }
  uint64_t position() const noexcept { return position_; }
  // The next `count` rows of the patch matrix. Errors: invalid_argument (more than are left, no room).
  base::Status read(uint64_t count, std::span<float> out);

 private:
  PatchStream(std::vector<ScaledRows> frames, const Processor& processor, const Normalisation& normalisation)
      : processor_(&processor), normalisation_(&normalisation), frames_(std::move(frames)) {}

  const Processor* processor_;
  const Normalisation* normalisation_;
  std::vector<ScaledRows> frames_;
  std::vector<Image> strips_;                       // one row of blocks of each frame
  uint64_t across_ = 0, down_ = 0, per_block_ = 0;  // blocks, and the patches of one
  uint64_t position_ = 0;
};

}  // namespace clef::media
