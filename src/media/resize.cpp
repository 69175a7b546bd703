#include "media/resize.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "media/rows.hpp"

namespace clef::media {

using base::Buffer;
using base::Code;
using base::Memory;
using base::Result;
using base::Status;

namespace {

constexpr uint32_t kBandRows = 64;
constexpr uint32_t kLine = 64;  // bytes; keeps the rows of a band out of each other's cache sets

size_t band_stride(const Image& image) noexcept {
  return static_cast<size_t>((kChannels * image.shown_width() / kLine + 2) * kLine);
}

}  // namespace

Result<ScaledRows> ScaledRows::create(Image image, uint32_t width, uint32_t height, Memory& memory) {
  if (width == 0 || height == 0 || image.width == 0 || image.height == 0) {
    return Status(Code::invalid_argument, "a picture of " + std::to_string(image.shown_width()) + " x " +
                                              std::to_string(image.shown_height()) + " cannot be scaled to " +
                                              std::to_string(width) + " x " + std::to_string(height));
  }
  ScaledRows rows;
  CLEF_ASSIGN_OR_RETURN(rows.horizontal_, Axis::create(image.shown_width(), width, memory));
  CLEF_ASSIGN_OR_RETURN(rows.vertical_, Axis::create(image.shown_height(), height, memory));
  rows.image_ = std::move(image);
  rows.keeps_rows_ = rows.vertical_.changes() && (rows.horizontal_.changes() || rows.image_.transposed);
  CLEF_RETURN_IF_ERROR(rows.reserve(memory));
  return rows;
}

Status ScaledRows::reserve(Memory& memory) {
  const uint64_t planes = horizontal_.changes() ? kChannels * plane_stride(horizontal_) * sizeof(int16_t) : 0;
  const uint64_t ring = keeps_rows_ ? uint64_t{row_bytes()} * vertical_.most() : 0;
  const uint64_t pointers = uint64_t{vertical_.most()} * sizeof(const uint8_t*);
  const uint64_t band = image_.transposed ? uint64_t{band_stride(image_)} * kBandRows : 0;
  CLEF_ASSIGN_OR_RETURN(planes_, Buffer::create(memory, planes, "a row of a scaling"));
  if (planes > 0) std::memset(planes_.data(), 0, planes_.size());
  CLEF_ASSIGN_OR_RETURN(ring_, Buffer::create(memory, ring, "rows of a scaling"));
  CLEF_ASSIGN_OR_RETURN(rows_, Buffer::create(memory, pointers, "rows of a scaling"));
  CLEF_ASSIGN_OR_RETURN(band_, Buffer::create(memory, band, "rows of a turned picture"));
  return {};
}

// Rows [first, first + kBandRows) of the shown picture are columns of the stored one.
void ScaledRows::fill_band(uint32_t first) noexcept {
  const uint32_t count = std::min(kBandRows, image_.width - first);
  const size_t stride = band_stride(image_);
  // Four bytes at once: the fourth is overwritten by the next pixel. The last row of the picture has none behind it.
  const auto fill_column = [&](uint32_t x, auto size) {
    const uint8_t* from = image_.row(x) + kChannels * first;
    uint8_t* to = band_.as<uint8_t>() + kChannels * x;
    for (uint32_t y = 0; y < count; ++y, from += kChannels, to += stride) std::memcpy(to, from, size());
  };
  for (uint32_t x = 0; x + 1 < image_.height; ++x) fill_column(x, std::integral_constant<size_t, kChannels + 1>());
  fill_column(image_.height - 1, std::integral_constant<size_t, kChannels>());
  band_first_ = first;
}

const uint8_t* ScaledRows::input_row(uint32_t y) noexcept {
  if (!image_.transposed) return image_.row(y);
  const uint32_t first = y / kBandRows * kBandRows;
  if (first != band_first_) fill_band(first);
  return band_.as<uint8_t>() + band_stride(image_) * (y - first);
}

// Input row y, scaled in width.
void ScaledRows::scale_row(uint32_t y, uint8_t* out) noexcept {
  if (horizontal_.changes()) {
    horizontal_row(input_row(y), horizontal_, {planes_.as<int16_t>(), plane_stride(horizontal_)}, out);
  } else {
    std::memcpy(out, input_row(y), row_bytes());
  }
}

void ScaledRows::read(uint32_t count, uint8_t* out) noexcept {
  const auto kept = [&](uint32_t row) { return ring_.as<uint8_t>() + row % vertical_.most() * row_bytes(); };
  for (; count > 0; --count, ++row_, out += row_bytes()) {
    if (!vertical_.changes()) {
      scale_row(row_, out);
      continue;
    }
    if (keeps_rows_)
      for (; next_ < vertical_.end(row_); ++next_) scale_row(next_, kept(next_));
    const auto** rows = rows_.as<const uint8_t*>();
    for (uint32_t j = 0; j < vertical_.count(row_); ++j) {
      const uint32_t row = vertical_.first(row_) + j;
      rows[j] = keeps_rows_ ? kept(row) : image_.row(row);
    }
    vertical_row(rows, vertical_, row_, row_bytes(), out);
  }
}

}  // namespace clef::media
