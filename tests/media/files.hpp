// Small encoded pictures made by hand, broken ones too.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace clef::test {

inline std::string big(uint32_t value, int bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(value >> (8 * bytes) & 0xff);
  return out;
}
inline std::string little(uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// ---- PNG ----

inline uint32_t crc32(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

inline std::string png_chunk(const std::string& name, const std::string& data) {
  return big(static_cast<uint32_t>(data.size()), 4) + name + data + big(crc32(name + data), 4);
}

// One stored block; at most 65,535 bytes.
inline std::string zlib_stored(std::string_view bytes) {
  uint32_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  const auto size = static_cast<uint32_t>(bytes.size());
  return std::string("\x78\x01\x01", 3) + little(size, 2) + little(~size, 2) + std::string(bytes) + big(b << 16 | a, 4);
}

struct Png {
  uint32_t width, height, depth, colour;
  std::string rows;         // each with its filter byte
  std::string before = {};  // chunks before the pixels
  std::string after = {};

  std::string file() const {
    return "\x89PNG\r\n\x1a\n" +
           png_chunk("IHDR", big(width, 4) + big(height, 4) + big(depth, 1) + big(colour, 1) + std::string(3, '\0')) +
           before + png_chunk("IDAT", zlib_stored(rows)) + after + png_chunk("IEND", "");
  }
};

// ---- JPEG ----

// A copy of `file` with a segment behind its start.
inline std::string jpeg_with(const std::string& file, char marker, const std::string& data) {
  return file.substr(0, 2) + '\xff' + marker + big(static_cast<uint32_t>(data.size()) + 2, 2) + data + file.substr(2);
}

// ---- EXIF ----

// A TIFF block with one directory; entries of 12 bytes.
inline std::string tiff(bool big_endian, const std::string& entries, uint32_t directory = 8) {
  const auto number = [&](uint32_t value, int bytes) { return big_endian ? big(value, bytes) : little(value, bytes); };
  return (big_endian ? std::string("MM") : std::string("II")) + number(42, 2) + number(directory, 4) +
         number(static_cast<uint32_t>(entries.size() / 12), 2) + entries + number(0, 4);
}
inline std::string tiff_entry(bool big_endian, uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
  const auto number = [&](uint32_t v, int bytes) { return big_endian ? big(v, bytes) : little(v, bytes); };
  return number(tag, 2) + number(type, 2) + number(count, 4) +
         (type == 3 ? number(value, 2) + std::string(2, '\0') : number(value, 4));
}

// ---- WebP ----

inline std::string riff_chunk(const std::string& name, const std::string& data) {
  return name + little(static_cast<uint32_t>(data.size()), 4) + data + std::string(data.size() % 2, '\0');
}
inline std::string webp(const std::string& chunks) {
  return "RIFF" + little(static_cast<uint32_t>(chunks.size()) + 4, 4) + "WEBP" + chunks;
}
inline std::string vp8x(uint32_t flags, uint32_t width, uint32_t height) {
  return riff_chunk("VP8X", little(flags, 4) + little(width - 1, 3) + little(height - 1, 3));
}
inline std::string animation_frame(uint32_t x, uint32_t y, uint32_t width, uint32_t height, const std::string& chunks) {
  return riff_chunk("ANMF", little(x / 2, 3) + little(y / 2, 3) + little(width - 1, 3) + little(height - 1, 3) +
                                little(100, 3) + std::string(1, '\0') + chunks);
}

}  // namespace clef::test
