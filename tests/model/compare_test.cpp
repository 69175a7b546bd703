// Two files of one model, weight by weight.
#include "model/compare.hpp"

#include <atomic>
#include <cmath>

#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

base::Result<model::Comparison> try_compare(const model::Package& a, const model::Package& b, base::Hooks hooks = {},
                                            uint32_t threads = 1) {
  base::Memory memory{base::Allocator{}};
  const auto executor = threads > 1 ? base::make_pool_executor(threads) : base::make_serial_executor();
  return model::compare(a, b, *executor, memory, hooks);
}

model::Package opened(const std::string& name) {
  return must(model::open_package(at_path(data_path(name))));
}

const model::TensorDifference& named(const model::Comparison& comparison, std::string_view name) {
  for (const model::TensorDifference& tensor : comparison.tensors)
    if (tensor.name == name) return tensor;
  FAIL("no tensor " << name);
  return comparison.tensors.front();
}

// The one tensor that differs.
const model::TensorDifference& only(const model::Comparison& comparison) {
  const model::TensorDifference* found = nullptr;
  for (const model::TensorDifference& tensor : comparison.tensors) {
    if (tensor.difference.differing == 0) continue;
    INFO(tensor.name);
    REQUIRE(found == nullptr);
    found = &tensor;
  }
  REQUIRE(found);
  return *found;
}

// Overwrites one BF16 value of a tensor of the release.
void set_value(Pack& pack, std::string_view name, int64_t index, uint16_t bits) {
  bool done = false;
  for (auto& [file, bytes] : pack.files) {
    if (!file.ends_with(".safetensors") || bytes.find(name) == std::string::npos) continue;
    edit_tensors(bytes, [&](RawTensor& tensor) {
      if (tensor.name != name) return true;
      REQUIRE(tensor.dtype == "BF16");
      std::memcpy(tensor.bytes.data() + 2 * index, &bits, 2);
      return done = true;
    });
  }
  REQUIRE(done);
}

constexpr uint16_t kHundred = 0x42c8, kNan = 0x7fc0;

}  // namespace

TEST_CASE("a release equals its GGUF file") {
  for (const std::string name : {"tiny-flash", "tiny-clef"}) {  // the second has three value heads per key head
    const model::Package release = opened("models/" + name), gguf = opened("gguf/" + name + "-bf16.gguf");
    REQUIRE(release.conventions.value_heads_tiled != gguf.conventions.value_heads_tiled);
    REQUIRE(release.config.value_heads == release.config.key_heads * (name == "tiny-clef" ? 3 : 2));
    for (const bool reversed : {false, true}) {
      const model::Comparison made = must(try_compare(reversed ? gguf : release, reversed ? release : gguf));
      CHECK(made.tensors.size() == (name == "tiny-clef" ? 216 : 269));
      for (const model::TensorDifference& tensor : made.tensors) {
        INFO(tensor.name);
        if (tensor.name == "decision.scales") {  // the exponential and the sigmoid, computed by different programs
          CHECK(tensor.difference.relative_error() <= 2e-7);
        } else {
          CHECK(tensor.difference.differing == 0);
          CHECK(tensor.difference.max_difference() == 0);
        }
        CHECK(tensor.difference.values > 0);
      }
    }
  }
}

TEST_CASE("every parameter of the model is compared") {
  const model::Package release = opened("models/tiny-flash");
  const model::Comparison made = must(try_compare(release, release));
  int64_t parameters = 0;
  for (const container::TensorView& tensor : release.tensors)
    if (!tensor.name.starts_with("model.visual.")) parameters += tensor.elements();
  CHECK(made.total.values == parameters);
  CHECK(made.total.differing == 0);
  CHECK(named(made, "blk.3.attn_q.weight").shape ==
        release.find("model.language_model.layers.3.self_attn.q_proj.weight")->shape);
  CHECK(named(made, "blk.0.ssm_dt.bias").shape ==
        release.find("model.language_model.layers.0.linear_attn.dt_bias")->shape);
  CHECK(named(made, "decision.scales").shape == std::vector<int64_t>{3});
  for (const model::TensorDifference& tensor : made.tensors) CHECK(tensor.type_a == "BF16");
}

TEST_CASE("the errors of quantization are measured") {
  const model::Package exact = opened("gguf/mini-f32.gguf"), rounded = opened("gguf/mini-q8_0.gguf");
  const model::Comparison made = must(try_compare(exact, rounded));
  size_t quantized = 0;
  for (const model::TensorDifference& tensor : made.tensors) {
    INFO(tensor.name);
    CHECK(tensor.type_a == exact.find(tensor.name)->type_name);
    CHECK(tensor.type_b == rounded.find(tensor.name)->type_name);
    if (tensor.type_b != "Q8_0") {
      CHECK(tensor.difference.differing == 0);
      continue;
    }
    ++quantized;
    CHECK(tensor.difference.relative_error() > 0.003);
    CHECK(tensor.difference.relative_error() < 0.007);
    // Against the plain definition.
    const std::vector<float> a = decode(*exact.find(tensor.name)), b = decode(*rounded.find(tensor.name));
    double error = 0, sum = 0, largest = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double d = static_cast<double>(b[i]) - static_cast<double>(a[i]);
      error += d * d, sum += static_cast<double>(a[i]) * static_cast<double>(a[i]);
      largest = std::max(largest, std::fabs(d));
    }
    CHECK(tensor.difference.relative_error() == Approx(std::sqrt(error / sum)).epsilon(1e-9));
    CHECK(tensor.difference.max_difference() == largest);
    REQUIRE(tensor.difference.outlier_count == 3);
    const model::Outlier& worst = tensor.difference.outliers[0];
    const auto at = static_cast<size_t>(worst.row * tensor.shape[1] + worst.column);
    CHECK(a[at] == worst.a);
    CHECK(b[at] == worst.b);
  }
  CHECK(quantized == 56);
  CHECK(made.total.relative_error() == Approx(0.0046).margin(0.0002));

  const model::Comparison threads = must(try_compare(exact, rounded, {}, 4));
  CHECK(threads.total.square_sum == Approx(made.total.square_sum).epsilon(1e-12));
  CHECK(threads.total.differing == made.total.differing);
  CHECK(threads.total.max_difference() == made.total.max_difference());
}

TEST_CASE("a changed weight is found in both orders of value heads") {
  const model::Package gguf = opened("gguf/tiny-clef-bf16.gguf");
  const model::Config& config = gguf.config;
  const int64_t dim = config.value_dim, heads = config.key_heads;
  REQUIRE(heads > 1);
  const int64_t keys = 2 * heads * config.key_dim, values = config.value_heads * dim;
  // Value head 1 of the release is the second of key head 0; in GGUF files it comes after the first of every key head.
  struct Case {
    std::string_view release, gguf;
    int64_t row, column, gguf_row, gguf_column, columns;
  };
  const Case cases[] = {
      {"in_proj_qkv.weight", "attn_qkv.weight", keys + dim + 5, 7, keys + heads * dim + 5, 7, config.hidden},
      {"in_proj_qkv.weight", "attn_qkv.weight", keys - 1, 3, keys - 1, 3, config.hidden},  // a key
      {"in_proj_z.weight", "attn_gate.weight", dim, 0, heads * dim, 0, config.hidden},
      {"in_proj_a.weight", "ssm_alpha.weight", 1, 2, heads, 2, config.hidden},
      {"in_proj_b.weight", "ssm_beta.weight", 1, 2, heads, 2, config.hidden},
      {"conv1d.weight", "ssm_conv1d.weight", keys + dim, 3, keys + heads * dim, 3, config.conv_width},
      {"dt_bias", "ssm_dt.bias", 0, 1, 0, heads, config.value_heads},
      {"out_proj.weight", "ssm_out.weight", 4, dim + 9, 4, heads * dim + 9, values},
  };
  for (const Case& c : cases) {
    INFO(c.release);
    Pack pack = tiny_clef();
    set_value(pack, "model.language_model.layers.0.linear_attn." + std::string(c.release), c.row * c.columns + c.column,
              kHundred);
    const model::Package changed = must(model::open_package(pack.sources()));
    const model::Comparison forward = must(try_compare(changed, gguf));
    const model::TensorDifference& found = only(forward);
    CHECK(found.name == "blk.0." + std::string(c.gguf));
    CHECK(found.difference.differing == 1);
    REQUIRE(found.difference.outlier_count == 1);
    CHECK(found.difference.outliers[0].row == c.row);
    CHECK(found.difference.outliers[0].column == c.column);
    CHECK(found.difference.outliers[0].a == 100);
    const model::Comparison backward = must(try_compare(gguf, changed));
    REQUIRE(only(backward).difference.outlier_count == 1);
    CHECK(only(backward).difference.outliers[0].row == c.gguf_row);
    CHECK(only(backward).difference.outliers[0].column == c.gguf_column);
    CHECK(only(backward).difference.outliers[0].b == 100);
  }
}

TEST_CASE("values that are not finite are counted, and no part of the sums") {
  Pack pack = tiny_flash();
  set_value(pack, "model.language_model.layers.1.mlp.up_proj.weight", 5, kNan);
  const model::Package broken = must(model::open_package(pack.sources())), whole = opened("models/tiny-flash");
  const model::Comparison made = must(try_compare(whole, broken));
  const model::Difference& up = only(made).difference;
  CHECK(only(made).name == "blk.1.ffn_up.weight");
  CHECK(up.non_finite_a == 0);
  CHECK(up.non_finite_b == 1);
  CHECK(up.differing == 1);
  CHECK(up.relative_error() == 0);
  CHECK(made.total.non_finite_b == 1);
  // The same in both is equal.
  CHECK(must(try_compare(broken, broken)).total.differing == 0);
  CHECK(must(try_compare(broken, broken)).total.non_finite_a == 1);
}

TEST_CASE("the largest differences are kept in order") {
  model::Difference sum, next;
  CHECK(sum.relative_error() == 0);
  for (const float b : {1.0f, -4.0f, 2.0f, 3.0f, 2.5f}) next.add_outlier({7, static_cast<int64_t>(b), 0, b});
  sum.add_outlier({1, 0, 0, 3.5f});
  sum.add(next);
  REQUIRE(sum.outlier_count == 3);
  CHECK(sum.outliers[0].b == -4.0f);
  CHECK(sum.outliers[1].b == 3.5f);
  CHECK(sum.outliers[2].b == 3.0f);
  CHECK(sum.max_difference() == 4);
  sum.difference_square_sum = 1;
  CHECK(std::isinf(sum.relative_error()));
}

TEST_CASE("models of different geometries are refused by the name of the number") {
  const model::Package flash = opened("models/tiny-flash");
  const base::ErrorDetail error = error_of(try_compare(opened("models/tiny-clef"), flash));
  CHECK(error.code == Code::invalid_argument);
  CHECK(mentions(error, "layers is 4 in tiny-clef and 8 in tiny-flash"));
  model::Package other = flash;
  other.config.head.heads = 1;
  CHECK(mentions(error_of(try_compare(flash, other)), "head.heads is 2"));
  other = flash;
  std::swap(other.config.layers[2], other.config.layers[3]);
  CHECK(mentions(error_of(try_compare(flash, other)), "layer 2 is linear attention"));
}

TEST_CASE("a comparison reports its progress and can be cancelled") {
  const model::Package flash = opened("models/tiny-flash");
  struct Seen {
    uint64_t done = 0, total = 0;
    int polls = 0;
  } seen;
  base::Hooks hooks;
  hooks.progress = [](base::Stage, uint64_t done, uint64_t total, void* user) {
    auto& s = *static_cast<Seen*>(user);
    CHECK(done >= s.done);
    s.done = done, s.total = total;
  };
  hooks.progress_user = &seen;
  const model::Comparison made = must(try_compare(flash, flash, hooks));
  CHECK(seen.total == static_cast<uint64_t>(made.total.values));
  CHECK(seen.done == seen.total);

  const std::atomic<bool> cancel{true};
  base::Hooks tripped;
  tripped.cancel = &cancel;
  CHECK(error_of(try_compare(flash, flash, tripped)).code == Code::cancelled);
  seen = {};
  hooks.poll = [](void* user) { return ++static_cast<Seen*>(user)->polls > 700; };  // halfway through
  hooks.poll_user = &seen;
  CHECK(error_of(try_compare(flash, flash, hooks)).code == Code::cancelled);
  CHECK(seen.polls == 701);
  CHECK(seen.done > 0);
  CHECK(seen.done < seen.total);
}

TEST_CASE("a comparison as JSON, also of weights with scales of their own") {
  const model::Package package = opened("hf-quant/awq");
  const model::Comparison made = must(try_compare(package, package));
  const json::Document document = must(json::parse(model::describe(made, package, package)));
  const json::Value& root = document.root();
  CHECK(root.find("a")->find("kind")->text() == package.kind_name);
  CHECK(root.find("total")->find("equal")->boolean());
  CHECK(root.find("total")->find("parameters")->text() == std::to_string(made.total.values));
  REQUIRE(root.find("tensors")->items().size() == made.tensors.size());
  bool joined = false;
  for (const json::Value& tensor : root.find("tensors")->items()) {
    CHECK(tensor.find("equal")->boolean());
    CHECK(tensor.find("outliers")->items().empty());
    joined = joined || tensor.find("type_b")->text().starts_with("AWQ");
  }
  CHECK(joined);
}
