#include "media/decode.hpp"

#include "media/codec.hpp"
#include "media/content.hpp"
#include "media/orient.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

Status broken(Format format, Bytes bytes, std::string_view reason) {
  return Status(Code::invalid_value, "the " + std::string(format_name(format)) + " picture (" +
                                         std::to_string(bytes.size()) + " bytes) is broken: " + std::string(reason));
}

Status cut_off(Format format, Bytes bytes) {
  return Status(Code::invalid_value, "the " + std::string(format_name(format)) + " picture is cut off: " +
                                         std::to_string(bytes.size()) + " bytes are too few; send the whole file");
}

Status check_room(const base::Memory& memory, uint64_t bytes, Format format) {
  const base::Memory* limited = bytes <= SIZE_MAX ? memory.limiting(static_cast<size_t>(bytes)) : &memory;
  if (limited == nullptr) return {};
  return Status(Code::memory_limit,
                "decoding the " + std::string(format_name(format)) + " picture takes about " + std::to_string(bytes) +
                    " bytes, which exceed the memory limit of " + std::to_string(limited->limit()) + " bytes (" +
                    std::to_string(limited->used()) + " are in use); raise the limit or make the picture smaller");
}

namespace {

Result<ImageInfo> probe_stored(Bytes bytes, const DecodeOptions& options) {
  CLEF_ASSIGN_OR_RETURN(const Format format, recognise(bytes));
  auto found = format == Format::jpeg  ? probe_jpeg(bytes)
               : format == Format::png ? probe_png(bytes)
                                       : probe_webp(bytes);
  if (!found.ok()) return found;
  const ImageInfo& info = found.value();
  CLEF_RETURN_IF_ERROR(
      check_size(info.width, info.height, options.max_pixels, "the " + std::string(format_name(format)) + " picture"));
  return found;
}

}  // namespace

Result<ImageInfo> probe(Bytes bytes, const DecodeOptions& options) {
  CLEF_ASSIGN_OR_RETURN(ImageInfo info, probe_stored(bytes, options));
  if (options.exif_orientation && swaps_sides(info.orientation)) std::swap(info.width, info.height);
  return info;
}

Result<Image> decode(Bytes bytes, const DecodeOptions& options, base::Memory& memory) {
  CLEF_ASSIGN_OR_RETURN(const ImageInfo info, probe_stored(bytes, options));
  auto image = info.format == Format::jpeg  ? decode_jpeg(bytes, info, memory)
               : info.format == Format::png ? decode_png(bytes, info, options.drop_alpha, memory)
                                            : decode_webp(bytes, info, options.drop_alpha, memory);
  if (image.ok() && options.exif_orientation) apply_orientation(image.value(), info.orientation);
  return image;
}

}  // namespace clef::media
