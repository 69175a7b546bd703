// From scaled pictures to the rows that the vision tower reads.
#pragma once
#include <cstdint>
#include <span>

#include "media/image.hpp"
#include "media/size.hpp"

namespace clef::media {

// The value of every byte of each channel: (byte - mean / rescale) / (std / rescale) in float32, as the reference fuses
// rescaling and normalising.
struct Normalisation {
  explicit Normalisation(const Processor& processor) noexcept;
  float values[3][256];
};

// Rows [first, first + count) of the patch matrix of one temporal patch, written to out, a float32 matrix
// [count, patch_columns(processor)]. `frames`: one picture (every time step shows it) or one per time step, fewer when
// the last is to be repeated; all of one size, sides multiples of patch_size * merge_size.
// Row order: blocks of merge_size x merge_size patches, left to right and down; inside a block its patches likewise.
// Order inside a row: channel, time step, y, x. Errors: invalid_argument (sizes, range).
base::Status write_patches(std::span<const Image* const> frames, const Processor& processor,
                           const Normalisation& normalisation, uint64_t first, uint64_t count, std::span<float> out);

// Length of a row: 3 * temporal_patch_size * patch_size * patch_size.
inline uint64_t patch_columns(const Processor& p) noexcept {
  return kChannels * p.temporal_patch_size * p.patch_size * p.patch_size;
}

}  // namespace clef::media
