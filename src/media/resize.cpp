#include "media/resize.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "media/rows.hpp"

namespace clef::media {

using base::Buffer;
using base::Code;
using base::Memory;
using base::Result;
using base::Status;

namespace {

// True when no output row reaches into input rows that are still to be read, and not much of the block would be left.
bool fits_in_place(const Image& in, const Axis& horizontal, const Axis& vertical) noexcept {
  const uint64_t bytes = kChannels * horizontal.out() * vertical.out();
  if (bytes > in.pixels.size() || bytes < in.pixels.size() / 2) return false;
  for (uint32_t y = 0; y < vertical.out(); ++y) {
    const uint64_t read = vertical.changes() ? vertical.end(y) : y + 1;
    if (uint64_t{horizontal.out()} * (y + 1) > in.width * read) return false;
  }
  return true;
}

// Both passes, row by row. The horizontal one fills a ring of as many rows as the vertical one reads at a time.
class Scaler {
 public:
  Scaler(const Image& in, const Axis& horizontal, const Axis& vertical, bool in_place) noexcept
      : in_(in),
        horizontal_(horizontal),
        vertical_(vertical),
        row_bytes_(static_cast<size_t>(kChannels * horizontal.out())),
        keeps_rows_(vertical.changes() && (horizontal.changes() || in_place)) {}

  Status reserve(Memory& memory) {
    const uint64_t planes = horizontal_.changes() ? kChannels * plane_stride(horizontal_) * sizeof(int16_t) : 0;
    const uint64_t ring = keeps_rows_ ? uint64_t{row_bytes_} * vertical_.most() : 0;
    CLEF_ASSIGN_OR_RETURN(planes_, Buffer::create(memory, planes, "a row of a scaling"));
    if (planes > 0) std::memset(planes_.data(), 0, planes_.size());
    CLEF_ASSIGN_OR_RETURN(ring_, Buffer::create(memory, ring, "rows of a scaling"));
    const uint64_t pointers = uint64_t{vertical_.most()} * sizeof(const uint8_t*);
    CLEF_ASSIGN_OR_RETURN(rows_, Buffer::create(memory, pointers, "rows of a scaling"));
    return {};
  }

  void run(uint8_t* out) noexcept {
    uint32_t next = 0;  // input row
    for (uint32_t y = 0; y < vertical_.out(); ++y, out += row_bytes_) {
      if (!vertical_.changes()) {
        horizontal_row(in_.row(y), horizontal_, planes(), out);
        continue;
      }
      const auto** rows = rows_.as<const uint8_t*>();
      if (keeps_rows_)
        for (; next < vertical_.end(y); ++next) keep(next);
      for (uint32_t j = 0; j < vertical_.count(y); ++j) {
        const uint32_t row = vertical_.first(y) + j;
        rows[j] = keeps_rows_ ? kept(row) : in_.row(row);
      }
      vertical_row(rows, vertical_, y, row_bytes_, out);
    }
  }

 private:
  Planes planes() const noexcept { return {planes_.as<int16_t>(), plane_stride(horizontal_)}; }
  uint8_t* kept(uint32_t row) const noexcept { return ring_.as<uint8_t>() + row % vertical_.most() * row_bytes_; }
  void keep(uint32_t row) noexcept {
    if (horizontal_.changes()) {
      horizontal_row(in_.row(row), horizontal_, planes(), kept(row));
    } else {
      std::memcpy(kept(row), in_.row(row), row_bytes_);
    }
  }

  const Image& in_;
  const Axis& horizontal_;
  const Axis& vertical_;
  const size_t row_bytes_;
  const bool keeps_rows_;  // input rows are not read where they lie
  Buffer planes_;
  Buffer ring_;
  Buffer rows_;
};

}  // namespace

Result<Image> resize(Image image, uint32_t width, uint32_t height, Memory& memory) {
  if (width == 0 || height == 0 || image.width == 0 || image.height == 0) {
    return Status(Code::invalid_argument, "a picture of " + std::to_string(image.width) + " x " +
                                              std::to_string(image.height) + " cannot be scaled to " +
                                              std::to_string(width) + " x " + std::to_string(height));
  }
  if (image.width == width && image.height == height) return image;
  CLEF_ASSIGN_OR_RETURN(const Axis horizontal, Axis::create(image.width, width, memory));
  CLEF_ASSIGN_OR_RETURN(const Axis vertical, Axis::create(image.height, height, memory));
  const bool in_place = fits_in_place(image, horizontal, vertical);
  Scaler scaler(image, horizontal, vertical, in_place);
  CLEF_RETURN_IF_ERROR(scaler.reserve(memory));
  Image out{width, height, {}};
  if (!in_place) {
    CLEF_ASSIGN_OR_RETURN(out, create_image(width, height, memory));
  }
  scaler.run(in_place ? image.pixels.as<uint8_t>() : out.pixels.as<uint8_t>());
  if (in_place) out.pixels = std::move(image.pixels);
  return out;
}

}  // namespace clef::media
