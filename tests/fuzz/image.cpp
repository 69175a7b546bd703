// Any bytes as an encoded picture, under small limits: header and pixels agree, memory stays within its limit and is
// given back.
#include <vector>

#include "media/decode.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

constexpr uint64_t kMemory = 4 << 20;

// From a block of exactly that size, so that a reader that goes beyond it is caught.
void decode(const std::vector<std::byte>& bytes, const media::DecodeOptions& options) {
  base::Memory memory{base::Allocator{}};
  memory.set_limit(kMemory);
  const auto info = media::probe(bytes, options);
  require(info.ok() || !info.status().message().empty());
  {
    const auto image = media::decode(bytes, options, memory);
    require(memory.peak() <= kMemory);
    if (!image.ok()) {
      require(!image.status().message().empty());
      require(info.ok() || info.status().code() == image.status().code());
    } else {
      require(info.ok());
      require(image.value().shown_width() == info.value().width && image.value().shown_height() == info.value().height);
      require(uint64_t{image.value().width} * image.value().height <= options.max_pixels);
      require(image.value().pixels.size() >= image.value().bytes());
      uint32_t sum = 0;
      for (uint64_t i = 0; i < image.value().bytes(); ++i) sum += image.value().pixels.as<uint8_t>()[i];
      require(sum <= 255 * image.value().bytes());
    }
  }
  require(memory.used() == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> bytes(begin, begin + size);
  media::DecodeOptions options;
  options.max_pixels = 1 << 16;
  decode(bytes, options);
  options.exif_orientation = false;
  options.drop_alpha = true;
  decode(bytes, options);
  return 0;
}
