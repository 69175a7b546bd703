// Recorded blocks of ggml's own quantizer and their values; only where the further reference sets are given.
#include <cstring>

#include "container/safetensors.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using clef::container::TensorView;
namespace quant = clef::quant;

namespace {

const TensorView* find(const clef::container::Safetensors& file, const std::string& name) {
  for (const TensorView& tensor : file.tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace

TEST_CASE("recorded blocks decode to the recorded bits") {
  const std::string path = clef::test::golden_path("quant/blocks.safetensors");
  if (path.empty()) {
    WARN("skipped: no further reference sets");
    return;
  }
  const auto source = clef::io::open_path(path);
  REQUIRE(source.ok());
  const auto file = clef::container::read_safetensors(source.value());
  REQUIRE(file.ok());
  for (const quant::Format* format : quant::formats()) {
    if (format->type == quant::Type::f32) continue;
    INFO(format->name);
    const TensorView* blocks = find(file.value(), std::string(format->name) + ".blocks");
    const TensorView* values = find(file.value(), std::string(format->name) + ".values");
    REQUIRE(blocks != nullptr);
    REQUIRE(values != nullptr);
    const auto count = static_cast<size_t>(values->elements());
    REQUIRE(blocks->bytes == quant::row_bytes(*format, count));
    std::vector<float> decoded(count);
    format->decode(blocks->data(), decoded.data(), count);
    CHECK(std::memcmp(decoded.data(), values->data(), count * sizeof(float)) == 0);
  }
}

TEST_CASE("Q8_0 is encoded as ggml encodes it") {
  const std::string path = clef::test::golden_path("quant/encode.safetensors");
  if (path.empty()) {
    WARN("skipped: no further reference sets");
    return;
  }
  const auto source = clef::io::open_path(path);
  REQUIRE(source.ok());
  const auto file = clef::container::read_safetensors(source.value());
  REQUIRE(file.ok());
  const TensorView* input = find(file.value(), "source");
  const TensorView* blocks = find(file.value(), "Q8_0.blocks");
  REQUIRE(input != nullptr);
  REQUIRE(blocks != nullptr);
  std::vector<float> values(static_cast<size_t>(input->elements()));
  std::memcpy(values.data(), input->data(), values.size() * sizeof(float));
  std::vector<std::byte> encoded(blocks->bytes);
  REQUIRE(quant::row_bytes(quant::format(quant::Type::q8_0), values.size()) == encoded.size());
  quant::format(quant::Type::q8_0).encode(values.data(), encoded.data(), values.size());
  CHECK(std::memcmp(encoded.data(), blocks->data(), encoded.size()) == 0);
}
