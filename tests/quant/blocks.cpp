// Recorded blocks of ggml's own quantizer, random and extreme ones, and their values.
#include <algorithm>
#include <cstring>
#include <set>

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

clef::container::Safetensors recorded(const char* name) {
  const auto source = clef::io::open_path(clef::test::data_path(std::string("quant/") + name));
  REQUIRE(source.ok());
  auto file = clef::container::read_safetensors(source.value());
  REQUIRE(file.ok());
  return std::move(file).value();
}

}  // namespace

TEST_CASE("recorded blocks decode to the recorded bits") {
  const auto file = recorded("blocks.safetensors");
  std::set<std::string> checked;
  for (const quant::Format* format : quant::formats()) {
    if (format->ggml_id < 0 || format->type == quant::Type::f32) continue;
    INFO(format->name);
    const TensorView* blocks = find(file, std::string(format->name) + ".blocks");
    const TensorView* values = find(file, std::string(format->name) + ".values");
    REQUIRE(blocks != nullptr);
    REQUIRE(values != nullptr);
    checked.insert(format->name);
    const auto count = static_cast<size_t>(values->elements());
    REQUIRE(blocks->bytes == quant::row_bytes(*format, count));
    std::vector<float> decoded(count);
    format->decode(blocks->data(), decoded.data(), count);
    CHECK(std::memcmp(decoded.data(), values->data(), count * sizeof(float)) == 0);

    // At an odd address, and block by block.
    std::vector<std::byte> moved(blocks->bytes + 1);
    std::memcpy(moved.data() + 1, blocks->data(), blocks->bytes);
    std::fill(decoded.begin(), decoded.end(), -1.0f);
    for (size_t block = 0; block < count / format->block_values; ++block)
      format->decode(moved.data() + 1 + block * format->block_bytes, decoded.data() + block * format->block_values,
                     format->block_values);
    CHECK(std::memcmp(decoded.data(), values->data(), count * sizeof(float)) == 0);
    format->decode(nullptr, nullptr, 0);
  }
  CHECK(2 * checked.size() == file.tensors.size());
}

TEST_CASE("Q8_0 is encoded as ggml encodes it") {
  const auto file = recorded("encode.safetensors");
  const TensorView* input = find(file, "source");
  const TensorView* blocks = find(file, "Q8_0.blocks");
  REQUIRE(input != nullptr);
  REQUIRE(blocks != nullptr);
  std::vector<float> values(static_cast<size_t>(input->elements()));
  std::memcpy(values.data(), input->data(), values.size() * sizeof(float));
  std::vector<std::byte> encoded(blocks->bytes);
  REQUIRE(quant::row_bytes(quant::format(quant::Type::q8_0), values.size()) == encoded.size());
  quant::format(quant::Type::q8_0).encode(values.data(), nullptr, encoded.data(), values.size());
  CHECK(std::memcmp(encoded.data(), blocks->data(), encoded.size()) == 0);
}
