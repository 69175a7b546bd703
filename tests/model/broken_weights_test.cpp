// Weights that are missing, of the wrong shape or type, damaged, or of another convention.
#include <cmath>

#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

bool is_needed(std::string_view name) {
  return !name.starts_with("model.visual.");
}

std::string file_of(const model::Package& package, std::string_view tensor) {
  return package.find(tensor)->source->name();
}

// A copy of the package with one tensor changed; the rest is shared.
template <class Edit>
base::ErrorDetail with_change(const model::Package& package, size_t index, Edit edit) {
  model::Package changed = package;
  edit(changed, changed.tensors[index]);
  return error_of(Resolved(changed).result);
}

std::vector<model::Package> packages() {
  std::vector<model::Package> all;
  for (const char* path : {"models/tiny-flash", "models/tiny-clef", "gguf/tiny-flash-bf16.gguf", "gguf/mini-q8_0.gguf",
                           "gguf/mini-bf16-00001-of-00003.gguf"})
    all.push_back(must(model::open_package(at_path(data_path(path)))));
  return all;
}

// The bytes of `values` in the type of the tensor.
std::string encode(const container::TensorView& tensor, const std::vector<float>& values) {
  std::string bytes(static_cast<size_t>(tensor.bytes), '\0');
  tensor.format->encode(values.data(), nullptr, reinterpret_cast<std::byte*>(bytes.data()), values.size());
  return bytes;
}

void set_values(container::TensorView& tensor, const std::vector<float>& values) {
  tensor.source = in_memory(encode(tensor, values), tensor.source->name());
  tensor.offset = 0;
}

bool is_shifted_norm(std::string_view name) {
  if (name.find("linear_attn") != name.npos || name.find("ssm_norm") != name.npos || name.find("visual") != name.npos)
    return false;
  for (const char* ending : {"layernorm.weight", "q_norm.weight", "k_norm.weight", "language_model.norm.weight",
                             "attn_norm.weight", "post_attention_norm.weight", "output_norm.weight"})
    if (name.ends_with(ending)) return !name.starts_with("dec.") && !name.starts_with("decision.");
  return false;
}

template <class Match, class Change>
model::Package transformed(const char* path, Match match, Change change) {
  model::Package package = must(model::open_package(at_path(data_path(path))));
  int changed = 0;
  for (container::TensorView& tensor : package.tensors) {
    if (!match(tensor.name)) continue;
    std::vector<float> values = decode(tensor);
    for (float& value : values) value = change(value);
    set_values(tensor, values);
    ++changed;
  }
  REQUIRE(changed > 2);
  return package;
}

}  // namespace

TEST_CASE("every tensor is needed, and its absence named") {
  for (const model::Package& package : packages()) {
    INFO(package.name);
    size_t needed = 0;
    for (size_t i = 0; i < package.tensors.size(); ++i) {
      const std::string name = package.tensors[i].name;
      if (!is_needed(name)) continue;
      INFO(name);
      const base::ErrorDetail error = with_change(package, i, [&](model::Package& p, const container::TensorView&) {
        p.tensors.erase(p.tensors.begin() + static_cast<std::ptrdiff_t>(i));
      });
      REQUIRE(error.code == Code::missing_part);
      REQUIRE(error.tensor == name);
      REQUIRE_FALSE(error.file.empty());
      if (package.kind == model::Kind::release && file_of(package, name) == "joint_head.safetensors")
        REQUIRE(error.file == "joint_head.safetensors");
      ++needed;
    }
    CHECK(needed > 100);
  }
}

TEST_CASE("every shape is checked, and both shapes named") {
  for (const model::Package& package : packages()) {
    INFO(package.name);
    for (size_t i = 0; i < package.tensors.size(); ++i) {
      const std::string name = package.tensors[i].name;
      if (!is_needed(name)) continue;
      INFO(name);
      const std::string file = file_of(package, name);
      const base::ErrorDetail error = with_change(package, i, [](model::Package&, container::TensorView& tensor) {
        tensor.shape.insert(tensor.shape.begin(), 7);
      });
      REQUIRE(error.code == Code::bad_file);
      REQUIRE(error.tensor == name);
      REQUIRE(error.file == file);
      REQUIRE(mentions(error, "[7"));
      REQUIRE(mentions(error, "asks for ["));
    }
  }
}

TEST_CASE("types that cannot be read are refused by name where they are needed") {
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  for (size_t i = 0; i < package.tensors.size(); ++i) {
    const std::string name = package.tensors[i].name;
    INFO(name);
    model::Package changed = package;
    changed.tensors[i].format = nullptr;
    changed.tensors[i].type_name = "F8_E4M3";
    const Resolved resolved(changed);
    if (!is_needed(name)) {
      REQUIRE(resolved.result.ok());
      continue;
    }
    const base::ErrorDetail error = error_of(resolved.result);
    REQUIRE(error.code == Code::unsupported);
    REQUIRE(error.tensor == name);
    REQUIRE(error.file == file_of(package, name));
    REQUIRE(mentions(error, "F8_E4M3"));
  }
}

TEST_CASE("non-finite values in vectors and scalars are found") {
  for (const char* path : {"models/tiny-flash", "gguf/mini-q8_0.gguf"}) {
    const model::Package package = must(model::open_package(at_path(data_path(path))));
    int vectors = 0;
    for (size_t i = 0; i < package.tensors.size(); ++i) {
      const container::TensorView& tensor = package.tensors[i];
      if (!is_needed(tensor.name) || tensor.shape.size() > 1 || tensor.name == "decision.scorer_out.weight") continue;
      INFO(tensor.name);
      const bool infinite = vectors++ % 2 == 0;
      const base::ErrorDetail error = with_change(package, i, [&](model::Package&, container::TensorView& changed) {
        std::vector<float> values = decode(changed);
        values[values.size() / 2] = infinite ? -INFINITY : NAN;
        set_values(changed, values);
      });
      REQUIRE(error.code == Code::non_finite);
      REQUIRE(error.tensor == tensor.name);
      REQUIRE(error.file == tensor.source->name());
      REQUIRE(mentions(error, "index " + std::to_string(tensor.elements() / 2)));
    }
    CHECK(vectors > 50);
  }
}

TEST_CASE("a decay whose exponential overflows is refused") {
  const model::Package package = transformed(
      "models/tiny-flash", [](std::string_view name) { return name.ends_with("A_log"); }, [](float) { return 200.0f; });
  const base::ErrorDetail error = error_of(Resolved(package).result);
  CHECK(error.code == Code::non_finite);
  CHECK(error.tensor == "model.language_model.layers.0.linear_attn.A_log");
}

TEST_CASE("files of the wrong convention are recognised, and the check can be switched off") {
  const auto refused = [](const model::Package& package, std::string_view what) {
    const base::ErrorDetail error = error_of(Resolved(package).result);
    INFO(error.message);
    CHECK(error.code == Code::bad_file);
    CHECK(mentions(error, what));
    CHECK(mentions(error, "switch the check of weights off"));
    CHECK(Resolved(package, {.check_convention = false}).result.ok());
  };
  const auto a_log = [](std::string_view name) { return name.ends_with("A_log") || name.ends_with("ssm_a"); };
  for (const char* path : {"models/tiny-flash", "models/tiny-clef"}) {
    refused(transformed(path, is_shifted_norm, [](float w) { return w + 1; }), "norm weights lie around 1");
    refused(transformed(path, a_log, [](float w) { return -std::exp(w); }), "A_log are negative");
  }
  for (const char* path : {"gguf/tiny-flash-bf16.gguf", "gguf/mini-f32.gguf", "gguf/mini-q8_0.gguf"}) {
    refused(transformed(path, is_shifted_norm, [](float w) { return w - 1; }), "norm weights lie around 0");
    refused(transformed(path, a_log, [](float w) { return std::log(-w); }), "ssm_a hold positive values");
  }
}

TEST_CASE("the check of conventions is silent on right files") {
  std::vector<std::string> paths = {source_path("examples/clef-nano")};
  for (const char* path : {"models/tiny-flash", "models/tiny-clef", "gguf/tiny-flash-bf16.gguf",
                           "gguf/tiny-clef-bf16.gguf", "gguf/mini-f32.gguf", "gguf/mini-q8_0.gguf",
                           "gguf/mini-bf16-00001-of-00003.gguf", "hf-quant/mlx-4bit", "hf-quant/awq"})
    paths.push_back(data_path(path));
  for (const char* path : {"hf-quant/compressed-tensors-w4a16", "hf-quant/fp8-block"})
    if (const std::string further = golden_path(path); !further.empty()) paths.push_back(further);
  for (const std::string& path : paths) {
    INFO(path);
    const model::Package package = must(model::open_package(at_path(path)));
    CHECK(Resolved(package).result.ok());
  }
}

TEST_CASE("convolutions as MLX stores them go with norms that include 1") {
  Pack pack = tiny_flash();
  edit_tensors(pack.files.at("model.safetensors"), [](RawTensor& t) {
    if (t.name.ends_with("conv1d.weight")) t.shape = {t.shape[0], t.shape[2], 1};
    return true;
  });
  const model::Package package = must(model::open_package(pack.sources()));
  CHECK(package.kind_name == "MLX");
  CHECK_FALSE(package.conventions.norms_zero_centred);
  const base::ErrorDetail error = error_of(Resolved(package).result);
  CHECK(error.code == Code::bad_file);
  CHECK(mentions(error, "lie around 0"));
  // Of one kind or the other, never both.
  edit_tensors(pack.files.at("model.safetensors"), [](RawTensor& t) {
    if (t.name.ends_with("0.linear_attn.conv1d.weight")) t.shape = {t.shape[0], 1, t.shape[1]};
    return true;
  });
  const base::ErrorDetail mixed = error_of(Resolved(must(model::open_package(pack.sources()))).result);
  CHECK(mixed.code == Code::bad_file);
  CHECK(mixed.tensor == "model.language_model.layers.0.linear_attn.conv1d.weight");
}
