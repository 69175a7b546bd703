// Scaling beyond the recorded pictures: against a plain computation of the definition, on its side, and its memory.
#include <algorithm>
#include <cmath>

#include "media/support.hpp"

namespace clef::test {
namespace {

using media::Image;

double cubic(double x) {
  x = std::fabs(x);
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}

// One line of samples, by the definition.
std::vector<uint8_t> scaled_line(const std::vector<uint8_t>& in, size_t out_size) {
  if (in.size() == out_size) return in;
  const double scale = double(in.size()) / double(out_size), wide = std::max(scale, 1.0);
  struct Tap {
    size_t first;
    std::vector<double> weights;
  };
  std::vector<Tap> taps;
  double largest = 0;
  for (size_t i = 0; i < out_size; ++i) {
    const double center = scale * (double(i) + 0.5);
    Tap tap{static_cast<size_t>(std::max(center - 2 * wide + 0.5, 0.0)), {}};
    const size_t end = std::min(static_cast<size_t>(center + 2 * wide + 0.5), in.size());
    double sum = 0;
    for (size_t j = tap.first; j < end; ++j) {
      tap.weights.push_back(cubic((double(j - tap.first) + (double(tap.first) - center) + 0.5) * (1 / wide)));
      sum += tap.weights.back();
    }
    for (double& weight : tap.weights) largest = std::max(largest, weight /= sum);
    taps.push_back(tap);
  }
  int precision = 0;
  while (precision < 22 && std::trunc(0.5 + std::ldexp(largest, precision + 1)) < 32768) ++precision;
  std::vector<uint8_t> out;
  for (const Tap& tap : taps) {
    int64_t sum = int64_t{1} << (precision - 1);
    for (size_t j = 0; j < tap.weights.size(); ++j) {
      const double weight = std::ldexp(tap.weights[j], precision);
      sum += in[tap.first + j] * static_cast<int64_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    out.push_back(static_cast<uint8_t>(std::clamp<int64_t>(sum >> precision, 0, 255)));
  }
  return out;
}

std::vector<uint8_t> by_definition(const Image& in, uint32_t width, uint32_t height) {
  std::vector<uint8_t> wide(size_t{3} * width * in.height), out(size_t{3} * width * height);
  for (size_t channel = 0; channel < 3; ++channel) {
    for (uint32_t y = 0; y < in.height; ++y) {
      std::vector<uint8_t> line;
      for (uint32_t x = 0; x < in.width; ++x) line.push_back(in.row(y)[3 * x + channel]);
      line = scaled_line(line, width);
      for (uint32_t x = 0; x < width; ++x) wide[3 * (size_t{y} * width + x) + channel] = line[x];
    }
    for (uint32_t x = 0; x < width; ++x) {
      std::vector<uint8_t> line;
      for (uint32_t y = 0; y < in.height; ++y) line.push_back(wide[3 * (size_t{y} * width + x) + channel]);
      line = scaled_line(line, height);
      for (uint32_t y = 0; y < height; ++y) out[3 * (size_t{y} * width + x) + channel] = line[y];
    }
  }
  return out;
}

struct Case {
  uint32_t width, height, to_width, to_height;
};
const Case kCases[] = {
    {1, 1, 64, 32},    {64, 48, 1, 1},     {3, 500, 3, 7},     {500, 3, 7, 3},     {64, 64, 64, 63},
    {64, 64, 65, 64},  {97, 53, 352, 192}, {300, 300, 32, 32}, {100, 70, 99, 69},  {200, 200, 200, 150},
    {200, 40, 64, 40}, {37, 90, 128, 32},  {90, 37, 32, 128},  {1, 300, 32, 2000}, {700, 9, 96, 32},
};

TEST_CASE("scaling by the definition") {
  for (const Case& c : kCases) {
    INFO(c.width << " x " << c.height << " to " << c.to_width << " x " << c.to_height);
    const Image in = noise(c.width, c.height);
    const std::vector<uint8_t> expected = by_definition(in, c.to_width, c.to_height);
    const std::string_view bytes(reinterpret_cast<const char*>(expected.data()), expected.size());
    const Image out = accepted(resized(image_of(c.width, c.height, pixels_of(in)), c.to_width, c.to_height));
    CHECK((pixels_of(out) == bytes));
  }
}

// As a picture that an orientation of 5 leaves behind.
Image transposed(const Image& shown) {
  Image stored = accepted(media::create_image(shown.height, shown.width, test_memory()));
  for (uint32_t y = 0; y < shown.height; ++y)
    for (uint32_t x = 0; x < shown.width; ++x) std::memcpy(stored.row(x) + 3 * y, shown.row(y) + 3 * x, 3);
  stored.transposed = true;
  return stored;
}

TEST_CASE("scaling a picture that lies on its side") {
  for (const Case& c : kCases) {
    INFO(c.width << " x " << c.height << " to " << c.to_width << " x " << c.to_height);
    const Image in = noise(c.width, c.height),
                expected = accepted(resized(noise(c.width, c.height), c.to_width, c.to_height));
    CHECK((pixels_of(accepted(resized(transposed(in), c.to_width, c.to_height))) == pixels_of(expected)));
    CHECK((pixels_of(upright(transposed(in))) == pixels_of(in)));
  }
}

TEST_CASE("scaling takes the decoded picture and a few rows") {
  const Case cases[] = {
      {1024, 1024, 1024, 992}, {1100, 1024, 1024, 1024}, {1024, 1024, 256, 256}, {512, 512, 1024, 1024}};
  for (const Case& c : cases)
    for (const bool turned : {false, true}) {
      INFO(c.width << " x " << c.height << " to " << c.to_width << " x " << c.to_height << ", turned " << turned);
      base::Memory memory{base::Allocator{}};
      Image in = accepted(media::create_image(c.width, c.height, memory));
      std::memset(in.pixels.data(), 77, in.pixels.size());
      in.transposed = turned;
      const uint64_t bytes = in.bytes();
      auto rows = accepted(media::ScaledRows::create(std::move(in), c.to_width, c.to_height, memory));
      std::vector<uint8_t> out(size_t{3} * c.to_width);
      for (uint32_t y = 0; y < c.to_height; ++y) rows.read(1, out.data());
      CHECK(out == std::vector<uint8_t>(out.size(), 77));
      CHECK(memory.peak() <= bytes + 300'000);
      memory.set_limit(memory.used() + 1000);
      refused(media::ScaledRows::create(noise(c.width, c.height), c.to_width, c.to_height, memory),
              base::Code::memory_limit);
    }
}

TEST_CASE("sizes that cannot be scaled") {
  refused(resized(Image{}, 10, 10), base::Code::invalid_argument);
  refused(resized(noise(4, 4), 0, 10), base::Code::invalid_argument);
  const Image same = accepted(resized(noise(4, 5), 4, 5));
  CHECK((pixels_of(same) == pixels_of(noise(4, 5))));
}

}  // namespace
}  // namespace clef::test
