// Any sizes and processors through everything behind the decoders: target sizes, pixels, scaling, patches, frames.
#include <algorithm>
#include <string>
#include <vector>

#include "media/patch_stream.hpp"
#include "media/pixels.hpp"
#include "media/video.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

struct Input {
  const uint8_t* data;
  size_t size;
  uint64_t number(size_t bytes) {
    uint64_t value = 0;
    for (; bytes > 0 && size > 0; --bytes, --size) value = value << 8 | *data++;
    return value;
  }
};

media::Processor read_processor(Input& in) {
  media::Processor p;
  if (in.number(1) % 2 == 0) return p;
  p.patch_size = static_cast<uint32_t>(in.number(2));
  p.merge_size = static_cast<uint32_t>(in.number(1));
  p.temporal_patch_size = static_cast<uint32_t>(in.number(1));
  p.image = {in.number(4), in.number(6)};
  p.video = {in.number(4), in.number(6)};
  p.fps = static_cast<double>(in.number(3)) / 256;
  p.min_frames = in.number(2);
  p.max_frames = in.number(3);
  return p;
}

void check_size(const base::Result<media::Size>& result, const media::Processor& p) {
  if (!result.ok()) return require(!result.status().message().empty());
  const media::Size& size = result.value();
  require(size.width > 0 && size.height > 0 && size.frames > 0);
  require(size.width % p.factor() == 0 && size.height % p.factor() == 0);
  require(size.patches() == size.tokens * p.merge_size * p.merge_size);
}

void check_frames(Input& in, const media::Processor& p) {
  const uint64_t total = in.number(2);
  media::VideoTiming timing;
  timing.fps = static_cast<double>(in.number(3)) / 100;
  std::vector<double> times;
  if (in.number(1) % 2 == 1)
    for (uint64_t i = 0; i < total; ++i) times.push_back(static_cast<double>(in.number(1)) / 8);
  timing.times = times;
  const auto indices = media::sample_frames(total, timing, in.number(1) % 2 == 0, p);
  if (!indices.ok()) return;
  require(!indices.value().empty() && indices.value().size() <= total);
  require(std::is_sorted(indices.value().begin(), indices.value().end()) && indices.value().back() < total);
  const auto texts = media::timestamps(indices.value(), total, timing, p);
  require(texts.ok());
  require(texts.value().size() == (indices.value().size() - 1) / p.temporal_patch_size + 1);
}

// The pixels begin with what is left of the input.
void check_pixels(Input& in, const media::Processor& p) {
  const auto width = static_cast<uint32_t>(in.number(1)), height = static_cast<uint32_t>(in.number(1));
  const size_t padding = in.number(1);
  const auto format = static_cast<media::PixelFormat>(in.number(1) % 6);
  const uint64_t blocks_across = in.number(1) % 8 + 1, blocks_down = in.number(1) % 8 + 1;
  std::vector<uint8_t> bytes(size_t{4} * width * height + 1, 200);
  std::copy_n(in.data, std::min(bytes.size(), in.size), bytes.data());
  base::Memory memory{base::Allocator{}};
  const media::PixelView view{bytes.data(), bytes.size(), width, height, padding == 0 ? 0 : width + padding, format};
  auto image = media::from_pixels(view, padding % 2 == 1, 1 << 16, memory);
  if (!image.ok()) return;
  const auto to_width = static_cast<uint32_t>(blocks_across * p.factor());
  const auto to_height = static_cast<uint32_t>(blocks_down * p.factor());
  if (uint64_t{to_width} * to_height > 1 << 16) return;
  image.value().transposed = in.number(1) % 2 == 1;
  auto rows = media::ScaledRows::create(std::move(image).value(), to_width, to_height, memory);
  require(rows.ok());
  std::vector<media::ScaledRows> frames;
  frames.push_back(std::move(rows).value());
  const media::Normalisation normalisation(p);
  auto stream = media::PatchStream::create(std::move(frames), p, normalisation, memory);
  require(stream.ok());
  require(stream.value().patches() == blocks_across * blocks_down * p.merge_size * p.merge_size);
  const uint64_t step = std::max<uint64_t>(in.number(1), 1);
  while (stream.value().position() < stream.value().patches()) {
    const uint64_t count = std::min(
        {stream.value().patches() - stream.value().position(), step, (uint64_t{1} << 20) / media::patch_columns(p)});
    if (count == 0) return;  // longer rows than this test holds
    std::vector<float> values(static_cast<size_t>(count * media::patch_columns(p)));
    require(stream.value().read(count, values).ok());
    for (const float value : values) require(value >= -1 && value <= 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input in{data, size};
  const media::Processor processor = read_processor(in);
  if (!media::validate(processor).ok()) return 0;
  const auto width = static_cast<uint32_t>(in.number(4)), height = static_cast<uint32_t>(in.number(4));
  check_size(media::image_size(width, height, processor), processor);
  check_size(media::video_size(in.number(3), width, height, processor), processor);
  check_frames(in, processor);
  check_pixels(in, processor);
  return 0;
}
