#include "media/patch_stream.hpp"

#include <algorithm>
#include <string>

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

Result<PatchStream> PatchStream::create(std::vector<ScaledRows> frames, const Processor& processor,
                                        const Normalisation& normalisation, base::Memory& memory) {
  PatchStream stream(std::move(frames), processor, normalisation);
  const uint32_t side = processor.factor();
  for (const ScaledRows& frame : stream.frames_) {
    const ScaledRows& first = stream.frames_.front();
    if (frame.width() != first.width() || frame.height() != first.height())
      return Status(Code::invalid_argument, "the frames of a temporal patch differ in size");
    if (frame.width() % side != 0 || frame.height() % side != 0)
      return Status(Code::invalid_argument, "a picture of " + std::to_string(frame.width()) + " x " +
                                                std::to_string(frame.height()) + " cannot be cut into blocks of " +
                                                std::to_string(side));
    CLEF_ASSIGN_OR_RETURN(Image strip, create_image(frame.width(), side, memory));
    stream.strips_.push_back(std::move(strip));
  }
  if (stream.frames_.empty()) return Status(Code::invalid_argument, "a temporal patch without frames");
  stream.across_ = stream.frames_.front().width() / side;
  stream.down_ = stream.frames_.front().height() / side;
  stream.per_block_ = uint64_t{processor.merge_size} * processor.merge_size;
  return stream;
}

Status PatchStream::read(uint64_t count, std::span<float> out) {
  if (count > patches() - position_)
    return Status(Code::invalid_argument, std::to_string(count) + " patches are asked for; " +
                                              std::to_string(patches() - position_) + " are left");
  const uint64_t of_strip = across_ * per_block_;
  std::vector<const Image*> strips;
  for (const Image& strip : strips_) strips.push_back(&strip);
  while (count > 0) {
    const uint64_t first = position_ % of_strip, some = std::min(count, of_strip - first);
    if (first == 0)
      for (size_t i = 0; i < frames_.size(); ++i) frames_[i].read(strips_[i].height, strips_[i].row(0));
    CLEF_RETURN_IF_ERROR(write_patches(strips, *processor_, *normalisation_, first, some, out));
    out = out.subspan(static_cast<size_t>(some * patch_columns(*processor_)));
    position_ += some;
    count -= some;
  }
  return {};
}

}  // namespace clef::media
