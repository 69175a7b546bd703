// WebP by libwebp. The container is walked here, so that animations need no further library: of an animation the first
// frame is taken, on a canvas that is transparent where the frame does not reach.
#include <webp/decode.h>

#include <algorithm>
#include <cstring>

#include "media/alpha.hpp"
#include "media/exif.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

namespace {

constexpr size_t kRiffBytes = 12;  // "RIFF", size, "WEBP"
constexpr size_t kChunkHead = 8;
constexpr size_t kFrameHead = 16;
constexpr uint32_t kExifFlag = 0x08;

struct Frame {
  uint32_t x = 0, y = 0, width = 0, height = 0;
  Bytes data;
};

struct Container {
  Bytes bytes;  // without what follows the RIFF chunk
  Bytes exif;   // empty when there is none
  Frame frame;  // the first one of an animation
  WebPBitstreamFeatures features;
};

Frame read_frame(Bytes data) noexcept {
  if (data.size() < kFrameHead) return {};
  return {2 * little24(data, 0), 2 * little24(data, 3), little24(data, 6) + 1, little24(data, 9) + 1,
          data.subspan(kFrameHead)};
}

const char* reason(VP8StatusCode status) noexcept {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return "the decoder found no memory";
    case VP8_STATUS_BITSTREAM_ERROR:
      return "bad data";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature that libwebp does not know";
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "data are missing";
    default:
      return "it cannot be decoded";
  }
}

Status failure(Bytes bytes, VP8StatusCode status) {
  if (status == VP8_STATUS_OUT_OF_MEMORY) return Status(Code::out_of_memory, "no memory to decode the WebP picture");
  return broken(Format::webp, bytes, reason(status));
}

Result<Container> read_container(Bytes bytes) {
  if (bytes.size() < kRiffBytes + kChunkHead) return cut_off(Format::webp, bytes);
  const uint64_t whole = uint64_t{little32(bytes, 4)} + kChunkHead;
  if (whole > bytes.size()) return cut_off(Format::webp, bytes);
  if (whole < kRiffBytes + kChunkHead) return broken(Format::webp, bytes, "its container is too short");
  Container container{};
  container.bytes = bytes.first(static_cast<size_t>(whole));
  const VP8StatusCode status = WebPGetFeatures(reinterpret_cast<const uint8_t*>(container.bytes.data()),
                                               container.bytes.size(), &container.features);
  if (status != VP8_STATUS_OK) return failure(bytes, status);
  if (text_at(bytes, kRiffBytes, 4) != "VP8X") return container;
  const bool exif_flag = (byte_at(bytes, kRiffBytes + kChunkHead) & kExifFlag) != 0;
  for (size_t at = kRiffBytes; container.bytes.size() - at >= kChunkHead;) {
    const uint64_t size = little32(bytes, at + 4);
    const size_t left = container.bytes.size() - at - kChunkHead;
    if (size > left) return broken(Format::webp, bytes, "a chunk reaches beyond the end");
    const std::string_view name = text_at(bytes, at, 4);
    const Bytes data = bytes.subspan(at + kChunkHead, static_cast<size_t>(size));
    if (name == "EXIF" && exif_flag && container.exif.empty()) container.exif = data;
    if (name == "ANMF" && container.frame.data.empty()) container.frame = read_frame(data);
    at += kChunkHead + static_cast<size_t>(std::min<uint64_t>(size + size % 2, left));
  }
  return container;
}

// Decodes into `out`, rows `stride` bytes apart.
VP8StatusCode decode_into(Bytes data, bool alpha, uint8_t* out, uint64_t stride, uint32_t width, uint32_t height) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return VP8_STATUS_UNSUPPORTED_FEATURE;
  config.output.colorspace = alpha ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out;
  config.output.u.RGBA.stride = static_cast<int>(stride);
  config.output.u.RGBA.size = static_cast<size_t>(stride * (height - 1) + (alpha ? 4 : 3) * uint64_t{width});
  return WebPDecode(reinterpret_cast<const uint8_t*>(data.data()), data.size(), &config);
}

}  // namespace

Result<ImageInfo> probe_webp(Bytes bytes) {
  CLEF_ASSIGN_OR_RETURN(const Container container, read_container(bytes));
  ImageInfo info;
  info.format = Format::webp;
  info.width = static_cast<uint32_t>(container.features.width);
  info.height = static_cast<uint32_t>(container.features.height);
  info.orientation = exif_orientation(container.exif);
  info.alpha = container.features.has_alpha != 0;
  return info;
}

Result<Image> decode_webp(Bytes bytes, const ImageInfo& info, bool drop_alpha, base::Memory& memory) {
  CLEF_ASSIGN_OR_RETURN(const Container container, read_container(bytes));
  const bool animated = container.features.has_animation != 0;
  const bool alpha = info.alpha || animated;  // a frame may be smaller than its canvas
  const uint64_t pixels = uint64_t{info.width} * info.height;
  const uint64_t stride = (alpha ? 4 : kChannels) * info.width;
  Frame frame = container.frame;
  if (!animated) {
    frame = {0, 0, info.width, info.height, container.bytes};
  } else {
    WebPBitstreamFeatures features;
    if (frame.data.empty() || WebPGetFeatures(reinterpret_cast<const uint8_t*>(frame.data.data()), frame.data.size(),
                                              &features) != VP8_STATUS_OK)
      return broken(Format::webp, bytes, "the animation has no first frame");
    if (frame.width != static_cast<uint32_t>(features.width) ||
        frame.height != static_cast<uint32_t>(features.height) || frame.width > info.width ||
        frame.height > info.height || frame.x > info.width - frame.width || frame.y > info.height - frame.height)
      return broken(Format::webp, bytes, "the first frame does not fit its canvas");
  }
  if (stride > INT32_MAX) return broken(Format::webp, bytes, "its rows are too long");

  Image image{info.width, info.height, {}};
  CLEF_ASSIGN_OR_RETURN(image.pixels, base::Buffer::create(memory, stride * info.height, "the pixels of a picture"));
  CLEF_RETURN_IF_ERROR(check_room(memory, 4 * pixels, Format::webp));  // libwebp's own copy where it is lossless
  auto* out = image.pixels.as<uint8_t>();
  if (frame.width != info.width || frame.height != info.height) std::memset(out, 0, image.pixels.size());
  const VP8StatusCode status =
      decode_into(frame.data, alpha, out + stride * frame.y + 4 * uint64_t{frame.x}, stride, frame.width, frame.height);
  if (status != VP8_STATUS_OK) return failure(bytes, status);
  if (alpha) rgba_to_rgb(out, out, pixels, drop_alpha || !info.alpha);
  return image;
}

}  // namespace clef::media
