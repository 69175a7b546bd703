// The markers of a JPEG file, read without a library. Inside src/media only.
#pragma once
#include "media/codec.hpp"

namespace clef::media {

struct JpegHeader {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t components = 0;
  bool progressive = false;
  uint64_t samples = 0;   // of all components, fewer than width * height * components where chroma is subsampled
  Bytes exif;             // empty when there is none
  size_t first_scan = 0;  // offset of the first scan's marker
};

// Up to the first scan. Errors: invalid_value, unsupported (12 bits, lossless and other processes, by name).
base::Result<JpegHeader> read_jpeg_header(Bytes bytes);

// Walks over the compressed data to the end marker. The number of scans. Errors: invalid_value (no end: the file is cut
// off, as the reference's loader has it).
base::Result<uint32_t> count_jpeg_scans(Bytes bytes, const JpegHeader& header);

}  // namespace clef::media
