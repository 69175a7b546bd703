#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <stdexcept>

namespace synth {
namespace {

using clef::quant::Format;
using clef::quant::Type;

constexpr size_t kPoolValues = size_t{1} << 19;
constexpr size_t kPiece = size_t{4} << 20;

// Where the 16-bit scale of a block lies, for types that clef decodes and does not write.
struct ScalePlace {
  Type type;
  size_t offset;
};
constexpr ScalePlace kScalePlaces[] = {{Type::iq1_s, 0},   {Type::iq2_xxs, 0}, {Type::iq2_xs, 0}, {Type::iq2_s, 0},
                                       {Type::iq3_xxs, 0}, {Type::iq3_s, 0},   {Type::iq4_nl, 0}, {Type::iq4_xs, 0},
                                       {Type::tq1_0, 52},  {Type::tq2_0, 64}};

void put(std::byte* at, uint16_t bits) {
  at[0] = static_cast<std::byte>(bits & 0xff), at[1] = static_cast<std::byte>(bits >> 8);
}

// Gives a block of random bits this scale.
void set_scale(const Format& format, std::byte* block, double scale) {
  const uint16_t bits = clef::quant::f32_to_f16(static_cast<float>(scale));
  if (format.type == Type::iq1_m) {  // a nibble in each of the last four words, lowest first
    for (size_t i = 0; i < 4; ++i) {
      std::byte& high = block[49 + 2 * i];
      high = (high & std::byte{0x0f}) | static_cast<std::byte>((bits >> (4 * i) & 15) << 4);
    }
    return;
  }
  const auto* place = std::find_if(std::begin(kScalePlaces), std::end(kScalePlaces),
                                   [&](const ScalePlace& each) { return each.type == format.type; });
  if (place == std::end(kScalePlaces)) throw std::runtime_error(std::string("cannot make up ") + format.name);
  put(block + place->offset, bits);
}

double rms(const Format& format, std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / format.block_bytes * format.block_values);
  format.decode(bytes.data(), values.data(), values.size());
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Blocks of random codes whose scales bring the values to the usual deviation.
void fill_random(const Format& format, Random& random, std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() >> 56);
  const size_t step = format.block_bytes;
  if (format.type == Type::mxfp4) {  // a power of two: 2^-8 or 2^-7
    for (size_t i = 0; i < bytes.size(); i += step) bytes[i] = static_cast<std::byte>(119 + random.below(2));
    return;
  }
  if (format.type == Type::nvfp4) {  // four 8-bit floats: 3 to 5 times 2^-9
    for (size_t i = 0; i < bytes.size(); i += step)
      for (size_t group = 0; group < 4; ++group) bytes[i + group] = static_cast<std::byte>(3 + random.below(3));
    return;
  }
  for (size_t i = 0; i < bytes.size(); i += step) set_scale(format, &bytes[i], 1);
  const double scale = kDeviation / rms(format, bytes);
  for (size_t i = 0; i < bytes.size(); i += step) set_scale(format, &bytes[i], scale * random.uniform(0.8, 1.2));
}

double made_up(Content content, size_t index, Random& random) {
  switch (content) {
    case Content::norm:
      return 1 + random.normal(0.1);
    case Content::conv:
      return random.normal(0.25);
    case Content::decay:
      return -std::exp(random.uniform(-0.7, 2));
    case Content::step:
      return random.uniform(-4, 0);
    case Content::scales:
      return index < 2 ? 4 : 0.5;
    case Content::matrix:
    case Content::small:
      break;
  }
  return random.normal(kDeviation);
}

}  // namespace

bool can_make(const Format& format) {
  if (format.encode || format.type == Type::iq1_m || format.type == Type::mxfp4 || format.type == Type::nvfp4)
    return true;
  return std::any_of(std::begin(kScalePlaces), std::end(kScalePlaces),
                     [&](const ScalePlace& each) { return each.type == format.type; });
}

const std::vector<std::byte>& Filler::pool(const Format& format) {
  std::vector<std::byte>& bytes = pools_[&format];
  if (!bytes.empty()) return bytes;
  bytes.resize(kPoolValues / format.block_values * format.block_bytes);
  if (!format.encode) {
    fill_random(format, random_, bytes);
  } else {
    std::vector<float> values(kPoolValues);
    for (float& value : values) value = static_cast<float>(random_.normal(kDeviation));
    format.encode(values.data(), nullptr, bytes.data(), values.size());
  }
  return bytes;
}

void Filler::write_values(const Tensor& tensor, const Sink& sink) {
  std::vector<float> values(tensor.values());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(made_up(tensor.content, i, random_));
  sink(std::as_bytes(std::span(values)));
}

void Filler::write(const Tensor& tensor, const Sink& sink) {
  if (tensor.content != Content::matrix) return write_values(tensor, sink);
  const std::vector<std::byte>& blocks = pool(*tensor.format);
  const size_t size = tensor.format->block_bytes, count = blocks.size() / size;
  const uint64_t longest = std::max<uint64_t>(8192 / size, 1);  // blocks of one run
  std::vector<std::byte> piece;
  piece.reserve(kPiece + 8192);
  for (uint64_t left = tensor.bytes / size; left > 0;) {
    const size_t run = static_cast<size_t>(std::min({left, longest, uint64_t{count}}));
    const size_t first = random_.below(count - run + 1);
    const auto begin = blocks.begin() + static_cast<ptrdiff_t>(first * size);
    piece.insert(piece.end(), begin, begin + static_cast<ptrdiff_t>(run * size));
    left -= run;
    if (piece.size() < kPiece && left > 0) continue;
    sink(piece);
    piece.clear();
  }
}

}  // namespace synth
