#include "media/exif.hpp"

namespace clef::media {
namespace {

struct Reader {
  Bytes bytes;
  bool big_endian;
  bool has(size_t at, size_t size) const noexcept { return at <= bytes.size() && size <= bytes.size() - at; }
  uint32_t u16(size_t at) const noexcept {
    return big_endian ? big16(bytes, at) : byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
  }
  uint32_t u32(size_t at) const noexcept { return big_endian ? big32(bytes, at) : little32(bytes, at); }
};

constexpr size_t kEntryBytes = 12;
constexpr uint32_t kOrientation = 0x0112, kShort = 3, kLong = 4;

}  // namespace

int exif_orientation(Bytes exif) noexcept {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (text_at(exif, 0, kPrefix.size()) == kPrefix) exif = exif.subspan(kPrefix.size());
  const std::string_view order = text_at(exif, 0, 4);
  const Reader reader{exif, order == std::string_view("MM\0*", 4)};
  if (!reader.big_endian && order != std::string_view("II*\0", 4)) return 1;
  if (!reader.has(4, 4)) return 1;
  const size_t directory = reader.u32(4);
  if (!reader.has(directory, 2)) return 1;
  const uint32_t entries = reader.u16(directory);
  int orientation = 1;
  for (uint32_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * kEntryBytes;
    if (!reader.has(entry, kEntryBytes)) break;
    if (reader.u16(entry) != kOrientation || reader.u32(entry + 4) != 1) continue;
    const uint32_t type = reader.u16(entry + 2);
    if (type != kShort && type != kLong) continue;
    const uint32_t value = type == kShort ? reader.u16(entry + 8) : reader.u32(entry + 8);
    orientation = value >= 1 && value <= 8 ? static_cast<int>(value) : 1;  // the last one counts
  }
  return orientation;
}

}  // namespace clef::media
