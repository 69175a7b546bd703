// Any bytes as EXIF data, bare and with their prefix: an orientation from 1 to 8, the same both ways.
#include "media/exif.hpp"

#include <string>
#include <vector>

namespace {

int orientation(const std::string& text) {
  const std::vector<char> copy(text.begin(), text.end());
  return clef::media::exif_orientation(std::as_bytes(std::span(copy)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size), prefix("Exif\0\0", 6);
  const int bare = orientation(bytes);
  if (bare < 1 || bare > 8) __builtin_trap();
  if (bytes.compare(0, 6, prefix) != 0 && orientation(prefix + bytes) != bare) __builtin_trap();
  return 0;
}
