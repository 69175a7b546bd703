#include "media/patches.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace clef::media {

using base::Code;
using base::Status;

Normalisation::Normalisation(const Processor& processor) noexcept {
  const auto scale = static_cast<float>(1.0 / processor.rescale_factor);
  for (int channel = 0; channel < 3; ++channel) {
    const float mean = static_cast<float>(processor.mean[channel]) * scale;
    const float deviation = static_cast<float>(processor.std[channel]) * scale;
    for (int byte = 0; byte < 256; ++byte) values[channel][byte] = (static_cast<float>(byte) - mean) / deviation;
  }
}

namespace {

// One time step of one patch whose top left pixel is at `pixels`; channels lie `channel_stride` floats apart.
void write_step(const uint8_t* pixels, uint64_t row_bytes, uint32_t side, const Normalisation& normalisation,
                uint64_t channel_stride, float* out) noexcept {
  for (uint32_t y = 0; y < side; ++y, pixels += row_bytes) {
    float* red = out + uint64_t{y} * side;
    float* green = red + channel_stride;
    float* blue = green + channel_stride;
    for (uint32_t x = 0; x < side; ++x) {
      red[x] = normalisation.values[0][pixels[3 * x]];
      green[x] = normalisation.values[1][pixels[3 * x + 1]];
      blue[x] = normalisation.values[2][pixels[3 * x + 2]];
    }
  }
}

Status check(std::span<const Image* const> frames, const Processor& p, uint64_t first, uint64_t count, uint64_t out) {
  if (frames.empty() || frames.size() > p.temporal_patch_size)
    return Status(Code::invalid_argument, "a temporal patch has " + std::to_string(frames.size()) + " frames; 1 to " +
                                              std::to_string(p.temporal_patch_size) + " are possible");
  const Image& image = *frames[0];
  for (const Image* frame : frames) {
    if (frame->width != image.width || frame->height != image.height)
      return Status(Code::invalid_argument, "the frames of a temporal patch differ in size");
    if (frame->pixels.size() < frame->bytes()) return Status(Code::invalid_argument, "a frame has too few pixels");
  }
  if (image.width == 0 || image.height == 0 || image.width % p.factor() != 0 || image.height % p.factor() != 0)
    return Status(Code::invalid_argument, "a picture of " + std::to_string(image.width) + " x " +
                                              std::to_string(image.height) + " cannot be cut into blocks of " +
                                              std::to_string(p.factor()) + "; scale it first");
  const uint64_t patches = uint64_t{image.width / p.patch_size} * (image.height / p.patch_size);
  if (first > patches || count > patches - first || out / patch_columns(p) < count)
    return Status(Code::invalid_argument, "patches " + std::to_string(first) + " to " + std::to_string(first + count) +
                                              " are asked for; there are " + std::to_string(patches) +
                                              ", with room for " + std::to_string(out / patch_columns(p)));
  return {};
}

}  // namespace

Status write_patches(std::span<const Image* const> frames, const Processor& processor,
                     const Normalisation& normalisation, uint64_t first, uint64_t count, std::span<float> out) {
  CLEF_RETURN_IF_ERROR(check(frames, processor, first, count, out.size()));
  const uint64_t side = processor.patch_size, merge = processor.merge_size, steps = processor.temporal_patch_size;
  const uint64_t step_size = side * side;
  const uint64_t blocks = frames[0]->width / processor.factor();
  float* row = out.data();
  for (uint64_t patch = first; patch < first + count; ++patch, row += patch_columns(processor)) {
    const uint64_t block = patch / (merge * merge), inner = patch % (merge * merge);
    const uint64_t y = (block / blocks * merge + inner / merge) * side;
    const uint64_t x = (block % blocks * merge + inner % merge) * side;
    for (uint64_t step = 0; step < steps; ++step) {
      float* to = row + step * step_size;
      if (step < frames.size()) {
        const Image& frame = *frames[step];
        write_step(frame.row(static_cast<uint32_t>(y)) + kChannels * x, frame.row_bytes(), processor.patch_size,
                   normalisation, steps * step_size, to);
        continue;
      }
      for (uint64_t channel = 0; channel < kChannels; ++channel, to += steps * step_size)
        std::memcpy(to, to - step_size, step_size * sizeof(float));
    }
  }
  return {};
}

}  // namespace clef::media
