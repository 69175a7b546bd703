// Pictures that are not what they should be: refused with a message that names the format, without large allocations.
#include <random>

#include "media/files.hpp"
#include "media/support.hpp"

namespace clef::test {
namespace {

using base::Code;
using media::DecodeOptions;
using media::Image;

TEST_CASE("other kinds of pictures are refused by name") {
  const std::pair<std::string, const char*> kinds[] = {
      {"GIF89a.........", "GIF"},
      {"BM..............", "BMP"},
      {std::string("II*\0....", 8), "TIFF"},
      {std::string("MM\0*....", 8), "TIFF"},
      {std::string("\0\0\0\x1c"
                   "ftypavif....",
                   16),
       "AVIF"},
      {std::string("\0\0\0\x1c"
                   "ftypheic....",
                   16),
       "HEIC"},
      {std::string("\0\0\0\x1c"
                   "ftypisom....",
                   16),
       "MP4 video"},
      {"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG"},
      {"<?xml version='1.0'?>\n<!-- a -->\n<svg/>", "SVG"},
      {"\xff\x0a....", "JPEG XL"},
      {"%PDF-1.7", "PDF"},
  };
  for (const auto& [bytes, name] : kinds) {
    const std::string message = refused(media::decode(bytes_of(bytes), {}, test_memory()), Code::unsupported);
    CHECK(contains(message, name));
    CHECK(contains(message, "PNG, JPEG or WebP"));
    refused(media::probe(bytes_of(bytes)), Code::unsupported);
  }
  refused(media::decode({}, {}, test_memory()), Code::empty);
  for (const std::string_view bytes :
       {std::string_view("\0", 1), std::string_view("hello"), std::string_view("MM"), std::string_view("RIFF....WAVE"),
        std::string_view("\xff\xd8"), std::string_view("<html></html>")})
    refused(media::decode(bytes_of(bytes), {}, test_memory()), Code::invalid_value);
}

#ifndef CLEF_WITH_MEDIA
TEST_CASE("a build without decoders says so") {
  for (const std::string name : {"jpeg_1x1.jpg", "rgb_1x1.png", "webp_lossy_q20_70x50.webp"}) {
    const std::string file = picture_file(name);
    CHECK(contains(refused(media::decode(bytes_of(file), {}, test_memory()), Code::unsupported), "CLEF_WITH_MEDIA"));
    CHECK(contains(refused(media::probe(bytes_of(file)), Code::unsupported), "CLEF_WITH_MEDIA"));
  }
}
#else

// From a block of exactly that size, so that reading beyond it is noticed.
base::Result<Image> decode_exact(std::string_view file, base::Memory& memory, const DecodeOptions& options = {}) {
  const std::vector<char> copy(file.begin(), file.end());
  return media::decode(std::as_bytes(std::span(copy)), options, memory);
}

TEST_CASE("cut at every byte") {
  const std::string names[] = {
      "jpeg_420_16x16.jpg",
      "jpeg_1x1.jpg",
      "jpeg_gray_progressive_17x9.jpg",
      "jpeg_arithmetic_65x43.jpg",
      "exif6_40x24.jpg",
      "rgb_1x1.png",
      "palette4_interlaced_33x21.png",
      "gray_trns_40x30.png",
      "webp_lossy_alpha_48x48.webp",
      "webp_lossy_q20_70x50.webp",
      "webp_exif6_40x24.webp",
      "gray16_48x32.png",
  };
  for (const std::string& name : names) {
    const std::string file = picture_file(name);
    base::Memory memory{base::Allocator{}};
    const std::string whole = sha256(accepted(decode_exact(file, memory)));
    for (size_t size = 0; size < file.size(); ++size) {
      INFO(name << " cut to " << size << " bytes");
      const auto image = decode_exact(std::string_view(file).substr(0, size), memory);
      if (image.ok()) {
        // Only the end of a PNG may be missing, once all pixels are there.
        CHECK(contains(name, ".png"));
        CHECK(size + 12 >= file.size());
        CHECK(sha256(image.value()) == whole);
      } else if (size > 12) {
        CHECK(image.status().code() == Code::invalid_value);
        CHECK(contains(image.status().message(), contains(name, ".jpg")   ? "JPEG"
                                                 : contains(name, ".png") ? "PNG"
                                                                          : "WebP"));
      }
    }
    CHECK(memory.used() == 0);
  }
}

TEST_CASE("random bytes changed") {
  const std::string names[] = {
      "jpeg_420_65x43.jpg",    "jpeg_progressive_444_65x43.jpg", "jpeg_cmyk_65x43.jpg",
      "exif6_40x24.jpg",       "rgb_interlaced_53x41.png",       "palette_trns_50x36.png",
      "rgba16_48x32.png",      "webp_animated_32x24.webp",       "webp_lossless_alpha_48x48.webp",
      "webp_lossy_70x50.webp", "webp_lossy_alpha_48x48.webp"};
  std::minstd_rand random(7);
  DecodeOptions options;
  options.max_pixels = 1 << 20;
  for (const std::string& name : names) {
    const std::string file = picture_file(name);
    base::Memory memory{base::Allocator{}};
    for (int round = 0; round < 300; ++round) {
      INFO(name << ", round " << round);
      std::string changed = file;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
      const auto info = media::probe(bytes_of(changed), options);
      const auto image = decode_exact(changed, memory, options);
      if (!image.ok()) {
        CHECK_FALSE(image.status().message().empty());
        continue;
      }
      REQUIRE(info.ok());
      CHECK(image.value().shown_width() == info.value().width);
      CHECK(image.value().shown_height() == info.value().height);
    }
    CHECK(memory.used() == 0);
    CHECK(memory.peak() < 16 << 20);
  }
}

TEST_CASE("corrupted Huffman data are mended as the reference's loader does") {
  std::string file = picture_file("jpeg_420_65x43.jpg");
  const std::string before = sha256(decoded(file));
  const size_t scan = file.find("\xff\xda");
  REQUIRE(scan != std::string::npos);
  for (size_t i = scan + 300; i < scan + 320; ++i) file[i] = '\x55';
  const Image image = decoded(file);
  CHECK(image.width == 65);
  CHECK(sha256(image) != before);
}

TEST_CASE("huge headers take no memory") {
  std::string jpeg = picture_file("jpeg_1x1.jpg");
  const size_t frame = jpeg.find("\xff\xc0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\xff\xff\xff");
  std::string lossless = picture_file("webp_lossless_70x50.webp");
  const size_t vp8l = lossless.find("VP8L");
  REQUIRE(vp8l != std::string::npos);
  lossless.replace(vp8l + 9, 4, std::string("\xff\xff\xff\x0f", 4));
  const std::pair<std::string, const char*> bombs[] = {
      {jpeg, "65535 x 65535"},
      {Png{65535, 65535, 8, 2, std::string(100, '\0')}.file(), "65535 x 65535"},
      {Png{0x7fffffff, 0x7fffffff, 16, 6, std::string(100, '\0')}.file(), "2147483647 x 2147483647"},
      {Png{0xffffffff, 0xffffffff, 1, 0, ""}.file(), "4294967295 x 4294967295"},
      {lossless, "16384 x 16384"},
      {webp(vp8x(0x02, 1 << 20, 4095) + riff_chunk("ANIM", std::string(6, '\0'))), "1048576 x 4095"},
  };
  for (const auto& [file, size] : bombs) {
    base::Memory memory{base::Allocator{}};
    const std::string message = refused(decode_exact(file, memory), Code::too_many);
    CHECK(contains(message, size));
    CHECK(contains(message, "max_image_pixels"));
    CHECK(memory.peak() == 0);
    refused(media::probe(bytes_of(file)), Code::too_many);
  }
}

TEST_CASE("the limit of pixels is exact") {
  const std::string file = picture_file("rgb_97x53.png");
  DecodeOptions options;
  options.max_pixels = 97 * 53;
  CHECK(media::decode(bytes_of(file), options, test_memory()).ok());
  options.max_pixels -= 1;
  refused(media::decode(bytes_of(file), options, test_memory()), Code::too_many);
}

TEST_CASE("pictures without pixels") {
  std::string jpeg = picture_file("jpeg_1x1.jpg");
  jpeg.replace(jpeg.find("\xff\xc0") + 5, 2, std::string(2, '\0'));
  for (const std::string& file : {jpeg, Png{0, 5, 8, 2, "x"}.file(), Png{5, 0, 8, 2, "x"}.file()}) {
    refused(media::decode(bytes_of(file), {}, test_memory()), Code::invalid_value);
    refused(media::probe(bytes_of(file)), Code::invalid_value);
  }
}

TEST_CASE("memory limits hold while decoding") {
  for (const std::string name : {"jpeg_progressive_444_65x43.jpg", "rgb_300x300.png", "rgba_interlaced_53x41.png",
                                 "webp_lossless_alpha_48x48.webp", "exif6_40x24.jpg", "webp_animated_32x24.webp"}) {
    INFO(name);
    const std::string file = picture_file(name);
    base::Memory memory{base::Allocator{}};
    uint64_t limit = 1;
    for (;; limit += limit / 2 + 1) {
      memory.set_limit(limit);
      const auto image = decode_exact(file, memory);
      CHECK(memory.peak() <= limit);
      if (image.ok()) break;
      CHECK(image.status().code() != Code::ok);
      REQUIRE(limit < 4 << 20);
    }
    CHECK(limit >= decoded(file).bytes());
    CHECK(memory.used() == 0);
  }
  // What libjpeg holds by itself for several scans is part of the sum.
  const std::string progressive = picture_file("jpeg_progressive_444_65x43.jpg");
  base::Memory memory{base::Allocator{}};
  memory.set_limit(65 * 43 * 3 + 1000);
  CHECK(contains(refused(decode_exact(progressive, memory), Code::memory_limit), "JPEG"));
}

TEST_CASE("JPEG files with too many scans") {
  std::string file = picture_file("jpeg_progressive_444_65x43.jpg");
  const size_t last = file.rfind("\xff\xda"), end = file.rfind("\xff\xd9");
  const std::string scan = file.substr(last, end - last);
  for (int i = 0; i < 200; ++i) file.insert(end, scan);
  CHECK(contains(refused(media::decode(bytes_of(file), {}, test_memory()), Code::invalid_value), "scans"));
}

TEST_CASE("kinds of JPEG that are not read") {
  const std::string file = picture_file("jpeg_1x1.jpg");
  const size_t frame = file.find("\xff\xc0");
  std::string lossless = file, twelve_bits = file, two = file;
  lossless[frame + 1] = '\xc3';
  twelve_bits[frame + 4] = 12;
  two[frame + 9] = 2;
  CHECK(contains(refused(media::probe(bytes_of(lossless)), Code::unsupported), "lossless"));
  CHECK(contains(refused(media::probe(bytes_of(twelve_bits)), Code::unsupported), "12 bits"));
  CHECK(contains(refused(media::probe(bytes_of(two)), Code::unsupported), "2 colour components"));
}

TEST_CASE("broken PNG files") {
  const Png good{1, 1, 8, 2, std::string("\0abc", 4)};
  CHECK(pixels_of(decoded(good.file())) == "abc");
  const auto refuse = [](const std::string& file) {
    CHECK(contains(refused(media::decode(bytes_of(file), {}, test_memory()), Code::invalid_value), "PNG"));
  };
  std::string checksum = good.file();
  checksum[checksum.find("IDAT") + 12] ^= 1;
  refuse(checksum);
  Png other = good;
  other.depth = 3;
  refuse(other.file());
  other = good, other.colour = 3;  // no palette
  refuse(other.file());
  other = good, other.rows = "";
  refuse(other.file());
  other = good, other.rows[0] = 9;  // no such filter
  refuse(other.file());
  other = good, other.before = png_chunk("tRNS", "abc");  // of a wrong length: ignored, as what it says is unknown
  CHECK(pixels_of(decoded(other.file())) == "abc");
  other = good, other.before = png_chunk("CgBI", "abcd");  // a critical chunk that is not known
  refuse(other.file());
  other = good, other.before = png_chunk("iCCP", std::string(5000, '\xff')) + png_chunk("zTXt", "a");
  CHECK(pixels_of(decoded(other.file())) == "abc");
}

TEST_CASE("one transparent colour in PNG files") {
  const auto shown = [](const Png& png, bool drop = false) {
    DecodeOptions options;
    options.drop_alpha = drop;
    return std::string(pixels_of(decoded(png.file(), options)));
  };
  const auto key = [](const std::string& value) { return png_chunk("tRNS", value); };
  const std::string white(3, '\xff'), black(3, '\0');
  CHECK(shown({2, 1, 1, 0, std::string("\0\x40", 2), key(std::string("\0\0", 2))}) == white + white);
  CHECK(shown({2, 1, 1, 0, std::string("\0\x40", 2), key(std::string("\0\0", 2))}, true) == black + white);
  CHECK(shown({4, 1, 2, 0, std::string("\0\x1b", 2), key(std::string("\0\2", 2))}) ==
        black + std::string(3, '\x55') + white + white);
  // 16-bit grey is clipped; the colour is compared before.
  const std::string grey16("\0\0\5\1\0\0\xff", 7);
  CHECK(shown({3, 1, 16, 0, grey16}) == std::string(3, '\5') + white + white);
  CHECK(shown({3, 1, 16, 0, grey16, key(std::string("\0\5", 2))}) == white + white + white);
  CHECK(shown({3, 1, 16, 0, grey16, key(std::string("\0\5", 2))}, true) == std::string(3, '\5') + white + white);
  // 16-bit colours are compared whole and then cut to their high bytes.
  const std::string rgb16("\0\1\2\3\4\5\6\1\0\3\0\5\0", 13);
  CHECK(shown({2, 1, 16, 2, rgb16, key("\1\2\3\4\5\6")}) == white + "\1\3\5");
  CHECK(shown({2, 1, 16, 2, rgb16}) == "\1\3\5\1\3\5");
  // Beyond the palette: black.
  CHECK(shown({2, 1, 8, 3, std::string("\0\0\5", 3), png_chunk("PLTE", "abcdef")}) == "abc" + black);
}

int orientation(const std::string& exif, bool in_png = false) {
  const std::string file =
      in_png ? Png{1, 1, 8, 2, std::string("\0abc", 4), "", png_chunk("eXIf", exif)}.file()
             : jpeg_with(picture_file("jpeg_420_16x16.jpg"), '\xe1', std::string("Exif\0\0", 6) + exif);
  CHECK(media::decode(bytes_of(file), {}, test_memory()).ok());
  return accepted(media::probe(bytes_of(file))).orientation;
}

TEST_CASE("orientations and broken EXIF data") {
  for (const bool big_endian : {false, true}) {
    for (uint32_t value = 1; value <= 8; ++value) {
      const int expected = static_cast<int>(value);
      CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x112, 3, 1, value))) == expected);
      CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x112, 4, 1, value)), true) == expected);
    }
    for (const uint32_t value : {0u, 9u, 65535u})
      CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x112, 3, 1, value))) == 1);
    const std::string six = tiff_entry(big_endian, 0x112, 3, 1, 6);
    CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x10f, 2, 5, 1000000) + six)) == 6);
    CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x112, 1, 1, 6))) == 1);  // a byte
    CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x112, 3, 2, 6))) == 1);  // two values
    CHECK(orientation(tiff(big_endian, six, 0xffffffff)) == 1);                         // no directory there
    CHECK(orientation(tiff(big_endian, six, 22)) == 1);
    CHECK(orientation(tiff(big_endian, tiff_entry(big_endian, 0x8769, 4, 1, 8))) == 1);  // a directory in itself
    const std::string whole = tiff(big_endian, six);
    for (size_t size = 0; size < whole.size(); ++size) {
      const int found = orientation(whole.substr(0, size));
      CHECK(found == (size < 22 ? 1 : 6));
    }
  }
  CHECK(orientation("") == 1);
  CHECK(orientation("MM") == 1);
  // The first EXIF segment counts; one that is none is passed over.
  const std::string six = std::string("Exif\0\0", 6) + tiff(true, tiff_entry(true, 0x112, 3, 1, 6));
  const std::string other = jpeg_with(jpeg_with(picture_file("exif3_40x24.jpg"), '\xe1', six), '\xe1', "http://a");
  CHECK(accepted(media::probe(bytes_of(other))).orientation == 6);
}

// The chunks of the first frame of the recorded animation.
std::string recorded_frame() {
  const std::string file = picture_file("webp_animated_32x24.webp");
  const size_t at = file.find("ANMF");
  REQUIRE(at != std::string::npos);
  const uint32_t size =
      static_cast<unsigned char>(file[at + 4]) | static_cast<uint32_t>(static_cast<unsigned char>(file[at + 5])) << 8;
  return file.substr(at + 24, size - 16);
}

TEST_CASE("animations") {
  const std::string loop = riff_chunk("ANIM", std::string(6, '\0'));
  const std::string frame = recorded_frame();
  const std::string recorded = sha256(decoded(picture_file("webp_animated_32x24.webp")));
  std::string endless = vp8x(0x12, 32, 24) + loop;
  for (int i = 0; i < 1000; ++i) endless += animation_frame(0, 0, 32, 24, frame);
  CHECK(sha256(decoded(webp(endless))) == recorded);

  // A first frame that is smaller than the canvas: white around it, or black where transparency is dropped.
  const Image image = decoded(webp(vp8x(0x12, 40, 30) + loop + animation_frame(4, 2, 32, 24, frame)));
  const Image whole = decoded(picture_file("webp_animated_32x24.webp"));
  REQUIRE(image.width == 40);
  CHECK(image.row(0)[0] == 255);
  CHECK(image.row(29)[3 * 39] == 255);
  for (uint32_t y = 0; y < 24; ++y) CHECK(std::memcmp(image.row(y + 2) + 12, whole.row(y), 96) == 0);
  DecodeOptions drop;
  drop.drop_alpha = true;
  CHECK(decoded(webp(vp8x(0x12, 40, 30) + loop + animation_frame(4, 2, 32, 24, frame)), drop).row(0)[0] == 0);

  const auto refuse = [&](const std::string& chunks) {
    const std::string file = webp(chunks);
    CHECK(contains(refused(media::decode(bytes_of(file), {}, test_memory()), Code::invalid_value), "WebP"));
  };
  refuse(vp8x(0x12, 32, 24) + loop);
  refuse(vp8x(0x12, 32, 24) + loop + animation_frame(2, 0, 32, 24, frame));
  refuse(vp8x(0x12, 32, 24) + loop + animation_frame(0, 0, 30, 24, frame));
  refuse(vp8x(0x12, 20, 24) + loop + animation_frame(0, 0, 32, 24, frame));
  refuse(vp8x(0x12, 32, 24) + loop + animation_frame(0, 0, 32, 24, "VP8 "));
  refuse(vp8x(0x12, 32, 24) + loop + riff_chunk("ANMF", "short"));
  refuse(vp8x(0x12, 32, 24) + "ANMF\xff\xff\xff\x7f");
}
#endif

}  // namespace
}  // namespace clef::test
