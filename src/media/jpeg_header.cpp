#include "media/jpeg_header.hpp"

#include <algorithm>
#include <cstring>

#include "media/exif.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

namespace {

// Second bytes of markers.
constexpr uint32_t kStartOfImage = 0xd8, kEndOfImage = 0xd9, kStartOfScan = 0xda, kApp1 = 0xe1, kTemporary = 0x01;
constexpr size_t kNone = SIZE_MAX;

bool is_restart(uint32_t marker) noexcept {
  return marker >= 0xd0 && marker <= 0xd7;
}
bool has_no_payload(uint32_t marker) noexcept {
  return marker == kStartOfImage || marker == kTemporary || is_restart(marker);
}
bool starts_frame(uint32_t marker) noexcept {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

// Offset of the next 0xff at or after `at`, or kNone.
size_t find_ff(Bytes bytes, size_t at) noexcept {
  if (at >= bytes.size()) return kNone;
  const void* found = std::memchr(bytes.data() + at, 0xff, bytes.size() - at);
  return found ? static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data()) : kNone;
}

// Offset of the second byte of the next marker, stray bytes and fill bytes skipped; kNone at the end.
size_t next_marker(Bytes bytes, size_t at) noexcept {
  for (at = find_ff(bytes, at); at != kNone; at = find_ff(bytes, at)) {
    while (at < bytes.size() && byte_at(bytes, at) == 0xff) ++at;
    if (at >= bytes.size()) return kNone;
    if (byte_at(bytes, at) != 0) return at;
  }
  return kNone;
}

// What follows the marker whose second byte is at `at`; empty data() when it does not fit into the file.
Bytes payload(Bytes bytes, size_t at) noexcept {
  if (bytes.size() - at < 3) return {};
  const uint32_t length = big16(bytes, at + 1);
  if (length < 2 || length > bytes.size() - at - 1) return {};
  return bytes.subspan(at + 3, length - 2);
}

Status read_frame(Bytes bytes, uint32_t marker, Bytes frame, JpegHeader& header) {
  const bool known = marker == 0xc0 || marker == 0xc1 || marker == 0xc2 || marker == 0xc9 || marker == 0xca;
  if (!known) {
    return Status(Code::unsupported,
                  "the JPEG picture is of a kind that is not read (lossless or hierarchical, frame " +
                      std::to_string(marker - 0xc0) + "); save it as a baseline JPEG");
  }
  if (frame.size() < 6) return broken(Format::jpeg, bytes, "the frame header is too short");
  if (byte_at(frame, 0) != 8) {
    return Status(Code::unsupported,
                  "the JPEG picture has " + std::to_string(byte_at(frame, 0)) + " bits per sample; save it with 8");
  }
  header.height = big16(frame, 1);
  header.width = big16(frame, 3);
  header.components = byte_at(frame, 5);
  header.progressive = marker == 0xc2 || marker == 0xca;
  if (header.components != 1 && header.components != 3 && header.components != 4) {
    return Status(Code::unsupported, "the JPEG picture has " + std::to_string(header.components) +
                                         " colour components; 1, 3 and 4 are read");
  }
  if (frame.size() < 6 + 3 * header.components) return broken(Format::jpeg, bytes, "the frame header is too short");
  uint32_t widest = 1, tallest = 1, samples = 0;
  for (uint32_t i = 0; i < header.components; ++i) {
    const uint32_t factors = byte_at(frame, 7 + 3 * i);
    widest = std::max(widest, factors >> 4);
    tallest = std::max(tallest, factors & 15);
    samples += (factors >> 4) * (factors & 15);
  }
  header.samples = uint64_t{header.width} * header.height * samples / (widest * tallest);
  return {};
}

}  // namespace

Result<JpegHeader> read_jpeg_header(Bytes bytes) {
  JpegHeader header;
  for (size_t at = 2;;) {
    at = next_marker(bytes, at);
    if (at == kNone) return cut_off(Format::jpeg, bytes);
    const uint32_t marker = byte_at(bytes, at);
    if (has_no_payload(marker)) {
      ++at;
      continue;
    }
    if (marker == kEndOfImage) return broken(Format::jpeg, bytes, "it ends before the picture begins");
    const Bytes data = payload(bytes, at);
    if (data.data() == nullptr) return cut_off(Format::jpeg, bytes);
    if (marker == kStartOfScan) {
      if (header.components == 0) return broken(Format::jpeg, bytes, "it has no frame header");
      header.first_scan = at - 1;
      return header;
    }
    if (starts_frame(marker)) {
      if (header.components != 0) return broken(Format::jpeg, bytes, "it has two frame headers");
      CLEF_RETURN_IF_ERROR(read_frame(bytes, marker, data, header));
    }
    if (marker == kApp1 && header.exif.empty() && text_at(data, 0, 6) == std::string_view("Exif\0\0", 6))
      header.exif = data;
    at += 3 + data.size();
  }
}

Result<uint32_t> count_jpeg_scans(Bytes bytes, const JpegHeader& header) {
  uint32_t scans = 0;
  for (size_t at = header.first_scan;;) {
    at = next_marker(bytes, at);
    if (at == kNone) return cut_off(Format::jpeg, bytes);
    const uint32_t marker = byte_at(bytes, at);
    if (marker == kEndOfImage) return scans;
    if (has_no_payload(marker)) {
      ++at;
      continue;
    }
    const Bytes data = payload(bytes, at);
    if (data.data() == nullptr) return cut_off(Format::jpeg, bytes);
    if (marker == kStartOfScan) ++scans;
    at += 3 + data.size();
  }
}

Result<ImageInfo> probe_jpeg(Bytes bytes) {
  CLEF_ASSIGN_OR_RETURN(const JpegHeader header, read_jpeg_header(bytes));
  ImageInfo info;
  info.format = Format::jpeg;
  info.width = header.width;
  info.height = header.height;
  info.orientation = exif_orientation(header.exif);
  return info;
}

}  // namespace clef::media
