// Encoders of the block types, measured by what their blocks decode to.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "container/safetensors.hpp"
#include "json/json.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace quant = clef::quant;

namespace {

std::vector<const quant::Format*> block_formats() {
  std::vector<const quant::Format*> found;
  for (const quant::Format* format : quant::formats())
    if (format->encode != nullptr && format->block_values > 1) found.push_back(format);
  return found;
}

std::vector<float> round_trip(const quant::Format& format, const std::vector<float>& values,
                              const float* importance = nullptr) {
  std::vector<std::byte> blocks(static_cast<size_t>(quant::row_bytes(format, values.size())));
  REQUIRE(!blocks.empty());
  format.encode(values.data(), importance, blocks.data(), values.size());
  std::vector<float> decoded(values.size());
  format.decode(blocks.data(), decoded.data(), values.size());
  return decoded;
}

// Sums of the weighted squares of the differences and of the values.
struct Error {
  double difference = 0, value = 0;
  void add(const std::vector<float>& values, const std::vector<float>& decoded, const float* importance) {
    for (size_t i = 0; i < values.size(); ++i) {
      const double weight = importance != nullptr ? static_cast<double>(importance[i]) : 1.0;
      const double by = static_cast<double>(decoded[i]) - static_cast<double>(values[i]);
      difference += weight * by * by;
      value += weight * static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
  }
  double relative() const { return std::sqrt(difference / value); }
};

double relative_error(const quant::Format& format, const std::vector<float>& values) {
  Error error;
  error.add(values, round_trip(format, values), nullptr);
  return error.relative();
}

std::vector<float> normal_values(size_t count, float sigma, uint32_t seed = 1) {
  // Sums of twelve uniform numbers, so that every standard library gives the same.
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(generator()) / 4294967296.0;
    value = static_cast<float>(sum) * sigma;
  }
  return values;
}

constexpr size_t kRows = 8, kColumns = 512;

std::vector<float> recorded_source() {
  const auto source = clef::io::open_path(clef::test::data_path("quant/encode.safetensors"));
  REQUIRE(source.ok());
  const auto file = clef::container::read_safetensors(source.value());
  REQUIRE(file.ok());
  for (const auto& tensor : file.value().tensors) {
    if (tensor.name != "source") continue;
    REQUIRE(tensor.bytes == kRows * kColumns * sizeof(float));
    std::vector<float> values(kRows * kColumns);
    std::memcpy(values.data(), tensor.data(), tensor.bytes);
    return values;
  }
  FAIL("no source");
  return {};
}

std::vector<float> recorded_importance() {
  std::vector<float> importance(kColumns);
  for (size_t i = 0; i < kColumns; ++i) importance[i] = 1.0f + static_cast<float>(i * 7919 % 512) / 32.0f;
  return importance;
}

// Row by row, with the error counted by `measured`, which the encoder knows when `told`.
double recorded_rows_error(const quant::Format& format, const std::vector<float>& source, const float* measured,
                           bool told) {
  Error error;
  for (size_t row = 0; row < kRows; ++row) {
    const std::vector<float> values(source.begin() + static_cast<long>(row * kColumns),
                                    source.begin() + static_cast<long>((row + 1) * kColumns));
    error.add(values, round_trip(format, values, told ? measured : nullptr), measured);
  }
  return error.relative();
}

}  // namespace

TEST_CASE("encoders are as near to the values as ggml's, with and without importance") {
  const std::string text = clef::test::read_file(clef::test::data_path("quant/encoder_errors.json"));
  const auto document = clef::json::parse(text);
  REQUIRE(document.ok());
  const std::vector<float> source = recorded_source();
  const std::vector<float> importance = recorded_importance();
  size_t checked = 0;
  for (const quant::Format* format : block_formats()) {
    INFO(format->name);
    double plain = 0, weighted = 0;
    REQUIRE(document.value().root().find("plain")->find(format->name)->to_double(plain));
    REQUIRE(document.value().root().find("weighted")->find(format->name)->to_double(weighted));
    const double with_importance = recorded_rows_error(*format, source, importance.data(), true);
    CHECK(recorded_rows_error(*format, source, nullptr, false) <= 1.02 * plain);
    CHECK(with_importance <= 1.02 * weighted);
    if (format->type != quant::Type::q8_0)
      CHECK(with_importance < recorded_rows_error(*format, source, importance.data(), false));
    ++checked;
  }
  CHECK(checked == document.value().root().find("plain")->members().size());
}

TEST_CASE("only ratios of importance count, and useless ones count as none") {
  const std::vector<float> values = normal_values(1024, 0.02f);
  std::vector<float> importance(1024), larger(1024);
  for (size_t i = 0; i < importance.size(); ++i) {
    importance[i] = static_cast<float>(i % 37);
    larger[i] = 1024.0f * importance[i];
  }
  const std::vector<float> zeros(1024, 0.0f), negative(1024, -1.0f), nan(1024, NAN), infinite(1024, INFINITY);
  for (const quant::Format* format : block_formats()) {
    INFO(format->name);
    CHECK(round_trip(*format, values, importance.data()) == round_trip(*format, values, larger.data()));
    const std::vector<float> plain = round_trip(*format, values);
    for (const std::vector<float>& useless : {zeros, negative, nan, infinite})
      CHECK(round_trip(*format, values, useless.data()) == plain);
  }
}

TEST_CASE("blocks do not depend on their neighbours or the address") {
  const std::vector<float> values = normal_values(1024, 1.0f);
  for (const quant::Format* format : block_formats()) {
    INFO(format->name);
    const auto bytes = static_cast<size_t>(quant::row_bytes(*format, values.size()));
    std::vector<std::byte> whole(bytes), parts(bytes + 1);
    format->encode(values.data(), nullptr, whole.data(), values.size());
    for (size_t block = 0; block < values.size() / format->block_values; ++block)
      format->encode(values.data() + block * format->block_values, nullptr,
                     parts.data() + 1 + block * format->block_bytes, format->block_values);
    CHECK(std::memcmp(whole.data(), parts.data() + 1, bytes) == 0);
    format->encode(nullptr, nullptr, nullptr, 0);
  }
}

TEST_CASE("zeros stay zeros, constants stay near") {
  for (const quant::Format* format : block_formats()) {
    INFO(format->name);
    for (const float zero : {0.0f, -0.0f, 1e-45f, -1e-30f})
      CHECK(round_trip(*format, std::vector<float>(256, zero)) == std::vector<float>(256, 0.0f));
    // The f16 of Q6_K is 1/4096 of these, which it still holds with 11 bits.
    for (const float constant : {0.37f, -0.37f, 1000.0f, -600.0f})
      for (const float value : round_trip(*format, std::vector<float>(256, constant)))
        if (!(std::fabs(value - constant) <= 1e-3f * std::fabs(constant))) FAIL_CHECK(constant << " became " << value);
    // Half of the block is zero.
    std::vector<float> half = normal_values(256, 1.0f);
    std::fill(half.begin(), half.begin() + 128, 0.0f);
    const std::vector<float> decoded = round_trip(*format, half);
    for (size_t i = 0; i < 128; ++i) CHECK(decoded[i] == 0.0f);
  }
}

TEST_CASE("a lonely outlier keeps its value") {
  for (const quant::Format* format : block_formats()) {
    for (const float outlier : {1000.0f, -1000.0f}) {
      INFO(format->name << " " << outlier);
      std::vector<float> values = normal_values(256, 1.0f);
      values[77] = outlier;
      CHECK(std::fabs(round_trip(*format, values)[77] - outlier) < 20.0f);
    }
  }
}

TEST_CASE("scales that f16 holds coarsely cost no more than its smallest step") {
  for (const quant::Format* format : block_formats()) {
    if (format->type == quant::Type::q8_0) continue;  // byte for byte as ggml
    const bool uneven = format->type == quant::Type::iq4_nl || format->type == quant::Type::iq4_xs;
    const double usual = relative_error(*format, normal_values(2048, 1.0f));
    for (const float sigma : {1e-4f, 1e-5f, 1e-6f, 1e-7f, 1e-8f, 1e-9f, 1e-38f}) {
      INFO(format->name << " " << sigma);
      // The numbers of IQ4 are up to 12 steps apart where the others have each multiple.
      const double step = 0x1p-25 * (uneven ? 12 : 1);
      CHECK(relative_error(*format, normal_values(2048, sigma)) <= 1.1 * usual + step / static_cast<double>(sigma));
    }
  }
}

TEST_CASE("values that f16 scales reach keep their precision, larger ones are cut and stay finite") {
  for (const quant::Format* format : block_formats()) {
    if (format->type == quant::Type::q8_0) continue;
    INFO(format->name);
    const double usual = relative_error(*format, normal_values(2048, 1.0f));
    CHECK(relative_error(*format, normal_values(2048, 2e4f)) <= 1.02 * usual);
    for (const float size : {1e7f, 1e20f, 3.4e38f}) {
      std::vector<float> values(256);
      for (size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? -size : size;
      const std::vector<float> decoded = round_trip(*format, values);
      for (size_t i = 0; i < values.size(); ++i) {
        CHECK(std::isfinite(decoded[i]));
        CHECK((i % 3 == 0 ? -decoded[i] : decoded[i]) >= 32752.0f);
      }
    }
  }
}

TEST_CASE("what is not finite counts as 0") {
  for (const quant::Format* format : block_formats()) {
    if (format->type == quant::Type::q8_0) continue;
    INFO(format->name);
    std::vector<float> values = normal_values(256, 1.0f), wild = values;
    for (const size_t i : {size_t{3}, size_t{64}, size_t{255}}) values[i] = 0.0f;
    wild[3] = NAN, wild[64] = INFINITY, wild[255] = -INFINITY;
    CHECK(round_trip(*format, wild) == round_trip(*format, values));
    CHECK(round_trip(*format, std::vector<float>(256, INFINITY)) == std::vector<float>(256, 0.0f));
  }
}

TEST_CASE("any bits as values and importance give blocks of finite values") {
  std::mt19937 generator(7);
  for (const quant::Format* format : block_formats()) {
    if (format->type == quant::Type::q8_0) continue;
    INFO(format->name);
    for (int round = 0; round < 40; ++round) {
      std::vector<float> values(512), importance(512);
      // Exponents over the whole range, then within a few powers of two.
      const uint32_t mask = round % 2 == 0 ? 0xffffffffu : 0x81ffffffu;
      const uint32_t base = round % 2 == 0 ? 0 : (generator() & 0x7e000000u);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = std::bit_cast<float>((static_cast<uint32_t>(generator()) & mask) | base);
        importance[i] = std::bit_cast<float>(static_cast<uint32_t>(generator()));
      }
      size_t bad = 0;
      for (const float value : round_trip(*format, values, round % 3 == 0 ? nullptr : importance.data()))
        bad += std::isfinite(value) ? 0 : 1;
      CHECK(bad == 0);
    }
  }
}
