// Transparency: colours over white, as the reference lays them. Inside src/media only.
#pragma once
#include <cstdint>

namespace clef::media {

// (colour * alpha + 255 * (255 - alpha)) / 255, rounded.
inline uint8_t over_white(uint32_t colour, uint32_t alpha) noexcept {
  const uint32_t sum = colour * alpha + 255 * (255 - alpha) + 128;
  return static_cast<uint8_t>((sum + (sum >> 8)) >> 8);
}

// `count` pixels of RGBA to RGB; `out` may be `in` or lie before it.
inline void rgba_to_rgb(const uint8_t* in, uint8_t* out, uint64_t count, bool drop_alpha) noexcept {
  for (; count > 0; --count, in += 4, out += 3) {
    const uint32_t red = in[0], green = in[1], blue = in[2], alpha = drop_alpha ? 255 : in[3];
    out[0] = over_white(red, alpha);
    out[1] = over_white(green, alpha);
    out[2] = over_white(blue, alpha);
  }
}

}  // namespace clef::media
