// JPEG by libjpeg-turbo's TurboJPEG interface, of which only what version 2.1 has is used.
#include <turbojpeg.h>

#include "media/jpeg_header.hpp"

namespace clef::media {

using base::Code;
using base::Result;

namespace {

// Real encoders write about ten; each is a pass over the whole picture.
constexpr uint32_t kMostScans = 100;

struct Decompressor {
  tjhandle handle = tjInitDecompress();
  Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  ~Decompressor() {
    if (handle) tjDestroy(handle);
  }
};

// 255 * 255 at most, divided by 255, rounded.
uint8_t scaled(uint32_t a, uint32_t b) noexcept {
  const uint32_t product = a * b + 128;
  return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// In place. Four components are taken as inverted (as Adobe writes them): a sample says how much light is left.
void cmyk_to_rgb(uint8_t* pixels, uint64_t count) noexcept {
  const uint8_t* in = pixels;
  for (; count > 0; --count, in += 4, pixels += 3) {
    const uint32_t cyan = in[0], magenta = in[1], yellow = in[2], black = in[3];
    pixels[0] = static_cast<uint8_t>(black - scaled(255 - cyan, black));
    pixels[1] = static_cast<uint8_t>(black - scaled(255 - magenta, black));
    pixels[2] = static_cast<uint8_t>(black - scaled(255 - yellow, black));
  }
}

}  // namespace

Result<Image> decode_jpeg(Bytes bytes, const ImageInfo& info, base::Memory& memory) {
  CLEF_ASSIGN_OR_RETURN(const JpegHeader header, read_jpeg_header(bytes));
  CLEF_ASSIGN_OR_RETURN(const uint32_t scans, count_jpeg_scans(bytes, header));
  if (scans > kMostScans)
    return broken(Format::jpeg, bytes, "it has " + std::to_string(scans) + " scans, more than any real picture");
  const uint64_t channels = header.components == 4 ? 4 : kChannels;
  const uint64_t pixels = uint64_t{info.width} * info.height;
  // With several scans the library holds all coefficients, 16 bits each.
  const uint64_t coefficients = header.progressive || scans > 1 ? 2 * header.samples : 0;

  Image image{info.width, info.height, {}};
  CLEF_ASSIGN_OR_RETURN(image.pixels, base::Buffer::create(memory, channels * pixels, "the pixels of a picture"));
  CLEF_RETURN_IF_ERROR(check_room(memory, coefficients, Format::jpeg));
  const Decompressor decompressor;
  if (!decompressor.handle) return base::Status(Code::out_of_memory, "a JPEG decoder could not be made");
  const int failed =
      tjDecompress2(decompressor.handle, reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<unsigned long>(bytes.size()), image.pixels.as<uint8_t>(), static_cast<int>(info.width),
                    static_cast<int>(channels * info.width), static_cast<int>(info.height),
                    channels == 4 ? TJPF_CMYK : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  // A warning is about data that libjpeg mends; the reference's loader takes such pictures too.
  if (failed != 0 && tjGetErrorCode(decompressor.handle) == TJERR_FATAL)
    return broken(Format::jpeg, bytes, tjGetErrorStr2(decompressor.handle));
  if (channels == 4) cmyk_to_rgb(image.pixels.as<uint8_t>(), pixels);
  return image;
}

}  // namespace clef::media
