// Decisions against the recorded f32 reference: ids and spans equal, logits within 1e-4 (relative above 1),
// probabilities within 1e-5, answers equal to the last printed digit.
#include <cmath>
#include <filesystem>

#include "check.hpp"
#include "container/safetensors.hpp"
#include "fixture.hpp"
#include "support/safetensors_writer.hpp"

using namespace clef;

namespace {

#ifdef CLEF_SANITIZED
constexpr size_t kMostTokens = 1100;  // longer prompts take minutes there and run through the same code
#else
constexpr size_t kMostTokens = SIZE_MAX;
#endif

void check_set(const std::string& model_path, const std::string& decisions, const std::string& file,
               size_t expected_count, base::IsaLevel isa, const std::string& head = {}) {
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(2);
  decide::Session session(test::load(model_path, memory, head), *executor, isa, memory);
  size_t count = 0;
  for (const test::Recorded& recorded : test::read_decisions(decisions)) {
    if (recorded.file != file || !recorded.request.images.empty()) continue;  // pictures: media.cpp
    ++count;
    if (recorded.get("ids").items().size() > kMostTokens) continue;
    const auto decision = session.decide(recorded.request.schema, recorded.request.state, recorded.options);
    if (!decision.ok()) FAIL(recorded.name << ": " << decision.status().message());
    test::check(recorded, decision.value());
  }
  REQUIRE(count == expected_count);
}

std::string release_set(const std::string& model) {
  return test::data_path("text/" + model + "/decisions.jsonl");
}

}  // namespace

TEST_CASE("tiny-flash in the release layout") {
  check_set(test::data_path("models/tiny-flash"), release_set("tiny-flash"), "", 87, base::detect_isa());
}

TEST_CASE("tiny-clef in the release layout") {
  check_set(test::data_path("models/tiny-clef"), release_set("tiny-clef"), "", 85, base::detect_isa());
}

TEST_CASE("clef-nano, on every level of kernels") {
  for (int level = 0; level <= static_cast<int>(base::detect_isa()); ++level)
    check_set(test::source_path("examples/clef-nano"), test::data_path("nano/decisions.jsonl"), "", 36,
              static_cast<base::IsaLevel>(level));
}

TEST_CASE("GGUF files") {
  for (const char* file : {"tiny-flash-bf16.gguf", "tiny-clef-bf16.gguf", "mini-f32.gguf", "mini-q8_0.gguf",
                           "mini-bf16-00001-of-00003.gguf", "mini-ollama-bf16.gguf"})
    check_set(test::data_path(std::string("gguf/") + file), test::data_path("gguf/decisions.jsonl"), file, 8,
              base::detect_isa());
}

TEST_CASE("a GGUF file without a head, and the head's files") {
  const std::string file = "mini-headless/mini-headless-f16.gguf";
  check_set(test::data_path("gguf/" + file), test::data_path("gguf/decisions.jsonl"), file, 8, base::detect_isa(),
            test::data_path("gguf/mini-headless/head"));
}

TEST_CASE("the place of the head changes no bit") {
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(2);
  const auto session = [&](const std::string& path, const std::string& head = {}) {
    return std::make_unique<decide::Session>(test::load(path, memory, head), *executor, base::detect_isa(), memory);
  };
  const std::string tiny = test::data_path("models/tiny-flash"), gguf = test::data_path("gguf/tiny-flash-bf16.gguf");
  const struct {
    const char* file;  // whose requests are asked
    std::unique_ptr<decide::Session> a, b;
  } pairs[] = {
      // Inside, as arch clef and as Ollama stores it.
      {"mini-f32.gguf", session(test::data_path("gguf/mini-bf16-00001-of-00003.gguf")),
       session(test::data_path("gguf/mini-ollama-bf16.gguf"))},
      // Inside, and the same head from its own files.
      {"tiny-flash-bf16.gguf", session(gguf), session(gguf, tiny)},
      {"tiny-flash-bf16.gguf", session(tiny), session(tiny, tiny)},
  };
  for (const auto& pair : pairs) {
    size_t count = 0;
    for (const test::Recorded& recorded : test::read_decisions(test::data_path("gguf/decisions.jsonl"))) {
      if (recorded.file != pair.file) continue;
      INFO(recorded.name);
      const auto x = pair.a->decide(recorded.request.schema, recorded.request.state, recorded.options);
      const auto y = pair.b->decide(recorded.request.schema, recorded.request.state, recorded.options);
      REQUIRE(x.ok());
      REQUIRE(y.ok());
      for (size_t q = 0; q < x.value().answers.size(); ++q)
        REQUIRE(x.value().answers[q].logits == y.value().answers[q].logits);
      ++count;
    }
    REQUIRE(count == 8);
  }
}

TEST_CASE("GGUF files of every block type") {
  const std::string further = test::golden_path("gguf");
  if (further.empty()) {
    WARN("skipped: no further reference sets");
    return;
  }
  for (const char* file :
       {"wide-q4_k_m.gguf", "narrow-q2_k.gguf", "narrow-iq2_xxs.gguf", "narrow-iq3_m.gguf", "narrow-mixed.gguf"})
    check_set(further + "/" + file, further + "/decisions.jsonl", file, 8, base::detect_isa());
}

TEST_CASE("quantized weights in the release layout") {
  const std::string decisions = test::data_path("hf-quant/decisions.jsonl");
  for (const char* folder : {"mlx-4bit", "awq"})
    check_set(test::data_path(std::string("hf-quant/") + folder), decisions, folder, 8, base::detect_isa());
  const std::string further = test::golden_path("hf-quant");
  if (further.empty()) {
    WARN("skipped: no further reference sets");
    return;
  }
  for (const char* folder : {"compressed-tensors-w4a16", "fp8-block"})
    check_set(further + "/" + folder, decisions, folder, 8, base::detect_isa());
}

namespace {

// The same tensors as F16. The models' BF16 values keep their bits but for the very smallest.
void write_as_f16(const std::string& from, const std::string& to) {
  const auto source = io::open_path(from);
  REQUIRE(source.ok());
  const auto file = container::read_safetensors(source.value());
  REQUIRE(file.ok());
  test::SafetensorsWriter writer;
  for (const container::TensorView& tensor : file.value().tensors) {
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    tensor.format->decode(tensor.data(), values.data(), values.size());
    std::string bytes(2 * values.size(), '\0');
    quant::format(quant::Type::f16)
        .encode(values.data(), nullptr, reinterpret_cast<std::byte*>(bytes.data()), values.size());
    writer.add_tensor(tensor.name, "F16", tensor.shape, bytes);
  }
  writer.write(to);
}

}  // namespace

TEST_CASE("F16 weights") {
  const std::string from = test::data_path("models/tiny-flash"), to = test::temporary_directory() + "/tiny-flash-f16";
  std::filesystem::create_directory(to);
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".safetensors") {
      write_as_f16(entry.path().string(), to + "/" + name);
    } else {
      std::filesystem::copy(entry.path(), to + "/" + name);
    }
  }
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(2);
  decide::Session session(test::load(to, memory), *executor, base::detect_isa(), memory);
  size_t count = 0;
  for (const test::Recorded& recorded : test::read_decisions(release_set("tiny-flash"))) {
    if (recorded.get("ids").items().size() > 700) continue;
    const auto decision = session.decide(recorded.request.schema, recorded.request.state, recorded.options);
    if (!decision.ok()) FAIL(recorded.name << ": " << decision.status().message());
    test::check(recorded, decision.value());
    ++count;
  }
  REQUIRE(count > 70);
}
