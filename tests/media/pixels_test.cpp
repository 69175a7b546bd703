// Pictures given as pixels.
#include "media/pixels.hpp"
#include "media/support.hpp"

namespace clef::test {
namespace {

using base::Code;
using media::Image;
using media::PixelFormat;
using media::PixelView;

constexpr uint64_t kMost = 1000;

Image copied(const PixelView& view, bool drop_alpha = false) {
  return accepted(media::from_pixels(view, drop_alpha, 1 << 20, test_memory()));
}

TEST_CASE("every pixel format") {
  const uint8_t rgb[] = {1, 2, 3, 4, 5, 6, 99, 99, 7, 8, 9, 10, 11, 12};
  const std::string expected("\1\2\3\4\5\6\7\10\11\12\13\14", 12);
  CHECK(pixels_of(copied({rgb, sizeof(rgb), 2, 2, 8, PixelFormat::rgb8})) == expected);
  const uint8_t bgr[] = {3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10};
  CHECK(pixels_of(copied({bgr, sizeof(bgr), 2, 2, 0, PixelFormat::bgr8})) == expected);
  const uint8_t rgba[] = {1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 10, 11, 12, 255};
  CHECK(pixels_of(copied({rgba, sizeof(rgba), 2, 2, 0, PixelFormat::rgba8})) == expected);
  const uint8_t bgra[] = {3, 2, 1, 255, 6, 5, 4, 255, 9, 8, 7, 255, 12, 11, 10, 255};
  CHECK(pixels_of(copied({bgra, sizeof(bgra), 2, 2, 0, PixelFormat::bgra8})) == expected);
  const uint8_t grey[] = {0, 128, 255};
  CHECK(pixels_of(copied({grey, sizeof(grey), 1, 3, 1, PixelFormat::gray8})) ==
        std::string_view("\0\0\0\x80\x80\x80\xff\xff\xff", 9));
}

TEST_CASE("every colour at every transparency") {
  std::vector<uint8_t> pixels;
  for (uint32_t alpha = 0; alpha < 256; ++alpha)
    for (uint32_t colour = 0; colour < 256; ++colour)
      pixels.insert(pixels.end(), {uint8_t(colour), uint8_t(255 - colour), 0, uint8_t(alpha)});
  const PixelView view{pixels.data(), pixels.size(), 256, 256, 0, PixelFormat::rgba8};
  const Image white = copied(view), dropped = copied(view, true);
  size_t wrong = 0;
  for (uint32_t alpha = 0; alpha < 256; ++alpha)
    for (uint32_t x = 0; x < 256; ++x)
      for (size_t channel = 0; channel < 3; ++channel) {
        const uint32_t colour = pixels[4 * (256 * alpha + x) + channel];
        const uint32_t sum = colour * alpha + 255 * (255 - alpha) + 128;
        wrong += white.row(alpha)[3 * x + channel] != ((sum + (sum >> 8)) >> 8);
        wrong += dropped.row(alpha)[3 * x + channel] != colour;
      }
  CHECK(wrong == 0);
}

TEST_CASE("pixels that cannot be") {
  const uint8_t bytes[64] = {};
  const auto code = [&](const PixelView& view) {
    return media::from_pixels(view, false, kMost, test_memory()).status().code();
  };
  CHECK(code({bytes, 12, 2, 2, 6, PixelFormat::rgb8}) == Code::ok);
  CHECK(code({bytes, 13, 2, 2, 7, PixelFormat::rgb8}) == Code::ok);  // no padding behind the last row
  CHECK(code({bytes, 12, 2, 2, 7, PixelFormat::rgb8}) == Code::invalid_argument);
  CHECK(code({bytes, 11, 2, 2, 0, PixelFormat::rgb8}) == Code::invalid_argument);
  CHECK(code({bytes, 64, 2, 2, 5, PixelFormat::rgb8}) == Code::invalid_argument);
  CHECK(code({nullptr, 64, 2, 2, 0, PixelFormat::rgb8}) == Code::invalid_argument);
  CHECK(code({bytes, 64, 2, 2, 0, static_cast<PixelFormat>(5)}) == Code::invalid_argument);
  CHECK(code({bytes, 64, 2, 2, 0, static_cast<PixelFormat>(-1)}) == Code::invalid_argument);
  CHECK(code({bytes, 64, 0, 2, 0, PixelFormat::rgb8}) == Code::invalid_value);
  CHECK(code({bytes, 64, 2, 0, 0, PixelFormat::rgb8}) == Code::invalid_value);
  const std::vector<uint8_t> many(1600);
  CHECK(code({many.data(), many.size(), 40, 40, 0, PixelFormat::gray8}) == Code::too_many);
  CHECK(code({bytes, 64, 4, 8, SIZE_MAX / 4, PixelFormat::gray8}) == Code::invalid_argument);
  const PixelView huge{bytes, SIZE_MAX, UINT32_MAX, UINT32_MAX, 0, PixelFormat::rgba8};
  CHECK(media::from_pixels(huge, false, UINT64_MAX, test_memory()).status().code() == Code::too_many);
  base::Allocator none;
  none.allocate = [](size_t, size_t, void*) -> void* { return nullptr; };
  none.free = [](void*, size_t, size_t, void*) {};
  base::Memory empty(none);
  const PixelView large{bytes, SIZE_MAX, 1u << 30, 1u << 30, 0, PixelFormat::gray8};
  CHECK(media::from_pixels(large, false, UINT64_MAX, empty).status().code() == Code::out_of_memory);
}

}  // namespace
}  // namespace clef::test
