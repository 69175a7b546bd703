// Canonical weights: equal whichever file they come from.
#include <cmath>

#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

// Index in HF order of what stands at index h of GGUF order.
int64_t grouped_index(const model::Config& config, int64_t h) {
  const int64_t keys = config.key_heads, ratio = config.value_heads / keys;
  return h % keys * ratio + h / keys;
}

// Rows [first, first + heads * block) of a matrix in tiled order, put back into grouped order.
std::vector<float> regroup_rows(const model::Config& config, const std::vector<float>& values, int64_t columns,
                                int64_t first, int64_t block) {
  std::vector<float> out = values;
  const auto size = static_cast<size_t>(block * columns);
  for (int64_t h = 0; h < config.value_heads; ++h) {
    const auto from = static_cast<size_t>((first + h * block) * columns);
    const auto to = static_cast<size_t>((first + grouped_index(config, h) * block) * columns);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), size,
                out.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return out;
}

std::vector<float> regroup_columns(const model::Config& config, const std::vector<float>& values, int64_t rows) {
  std::vector<float> out = values;
  const int64_t columns = static_cast<int64_t>(values.size()) / rows;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t h = 0; h < config.value_heads; ++h)
      for (int64_t i = 0; i < config.value_dim; ++i)
        out[static_cast<size_t>(row * columns + grouped_index(config, h) * config.value_dim + i)] =
            values[static_cast<size_t>(row * columns + h * config.value_dim + i)];
  return out;
}

// A GGUF weight in the order of the release.
std::vector<float> in_release_order(const model::Config& config, const std::string& name,
                                    const device::Weight& weight) {
  std::vector<float> values = decode(weight);
  const int64_t keys = 2 * int64_t{config.key_heads} * config.key_dim;
  if (name.ends_with(" qkv") || name.ends_with(" conv"))
    return regroup_rows(config, values, weight.in, keys, config.value_dim);
  if (name.ends_with(" z")) return regroup_rows(config, values, weight.in, 0, config.value_dim);
  if (name.ends_with(" a") || name.ends_with(" b")) return regroup_rows(config, values, weight.in, 0, 1);
  if (name.ends_with(" a_scale") || name.ends_with(" dt_bias")) return regroup_rows(config, values, 1, 0, 1);
  if (name.ends_with(" delta_out")) return regroup_columns(config, values, weight.out);
  return values;
}

void check_same_model(const std::string& directory, const std::string& file) {
  const model::Package release = must(model::open_package(at_path(data_path(directory))));
  const model::Package gguf = must(model::open_package(at_path(data_path(file))));
  CHECK_FALSE(release.conventions.value_heads_tiled);
  CHECK(gguf.conventions.value_heads_tiled);
  const Resolved a(release), b(gguf);
  const auto ours = list(a.weights()), theirs = list(b.weights());
  REQUIRE(ours.size() == theirs.size());
  CHECK(ours.size() > 150);
  for (size_t i = 0; i < ours.size(); ++i) {
    INFO(ours[i].first);
    REQUIRE(ours[i].first == theirs[i].first);
    REQUIRE(ours[i].second.out == theirs[i].second.out);
    REQUIRE(ours[i].second.in == theirs[i].second.in);
    const std::vector<float> x = decode(ours[i].second);
    const std::vector<float> y = in_release_order(gguf.config, theirs[i].first, theirs[i].second);
    REQUIRE(x.size() == y.size());
    // Norms and decays were computed by whoever wrote the file; all else must be the same number.
    const bool computed = ours[i].first.ends_with("norm") || ours[i].first.ends_with("a_scale");
    double worst = 0;
    for (size_t k = 0; k < x.size(); ++k)
      worst = std::max(worst, std::fabs(static_cast<double>(x[k]) - static_cast<double>(y[k])) /
                                  std::max(1.0, std::fabs(static_cast<double>(x[k]))));
    CHECK(worst <= (computed ? 1e-6 : 0.0));
  }
  CHECK(a.weights().head.prior_scale == Approx(b.weights().head.prior_scale).epsilon(1e-6));
  CHECK(a.weights().head.joint_scale == Approx(b.weights().head.joint_scale).epsilon(1e-6));
  CHECK(a.weights().head.gate == Approx(b.weights().head.gate).epsilon(1e-6));
}

const container::TensorView& tensor(const model::Package& package, std::string_view name) {
  const container::TensorView* found = package.find(name);
  INFO(name);
  REQUIRE(found != nullptr);
  return *found;
}

void check_equal(const model::Weights& a, const model::Weights& b) {
  const auto x = list(a), y = list(b);
  REQUIRE(x.size() == y.size());
  for (size_t i = 0; i < x.size(); ++i) {
    INFO(x[i].first);
    REQUIRE(decode(x[i].second) == decode(y[i].second));
  }
  CHECK(a.head.prior_scale == b.head.prior_scale);
  CHECK(a.head.joint_scale == b.head.joint_scale);
  CHECK(a.head.gate == b.head.gate);
}

// The pack must outlive the files.
model::Files through_callbacks(const Pack&& pack) = delete;
model::Files through_callbacks(const Pack& pack) {
  model::Files files;
  for (const auto& file : pack.files) {
    const auto& bytes = file.second;  // clang 14 cannot capture a structured binding
    io::ReadCallbacks callbacks;
    callbacks.size = bytes.size();
    callbacks.read_at = [&bytes](uint64_t offset, void* out, size_t size) {
      std::memcpy(out, bytes.data() + offset, size);
      return 0;
    };
    files.entries.push_back({file.first, "", must(io::from_callbacks(std::move(callbacks), file.first))});
  }
  return files;
}

}  // namespace

TEST_CASE("release and GGUF of one model have the same weights") {
  check_same_model("models/tiny-flash", "gguf/tiny-flash-bf16.gguf");
  check_same_model("models/tiny-clef", "gguf/tiny-clef-bf16.gguf");
}

TEST_CASE("conventions of the release are undone") {
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  const Resolved resolved(package);
  const model::Weights& weights = resolved.weights();
  const std::string at = "model.language_model.layers.0.";
  const std::vector<float> norm = decode(tensor(package, at + "input_layernorm.weight"));
  const std::vector<float> gated = decode(tensor(package, at + "linear_attn.norm.weight"));
  const std::vector<float> a_log = decode(tensor(package, at + "linear_attn.A_log"));
  const std::vector<float> got_norm = decode(weights.layers[0].input_norm);
  const std::vector<float> got_scale = decode(weights.layers[0].delta_net.a_scale);
  for (size_t i = 0; i < norm.size(); ++i) REQUIRE(got_norm[i] == 1.0f + norm[i]);
  CHECK(decode(weights.layers[0].delta_net.norm) == gated);  // the gated norm is never shifted
  for (size_t i = 0; i < a_log.size(); ++i) CHECK(got_scale[i] == Approx(-std::exp(static_cast<double>(a_log[i]))));
  // 1.7890625, 2.203125 and 1.0 in the file.
  CHECK(weights.head.prior_scale == Approx(std::exp(1.7890625)));
  CHECK(weights.head.joint_scale == Approx(std::exp(2.203125)));
  CHECK(weights.head.gate == Approx(1 / (1 + std::exp(-1.0))));

  // The joined projection is split by rows in place.
  const container::TensorView& joined = tensor(package, "layers.2.multihead_attn.in_proj_weight");
  const model::HeadAttentionWeights& cross = weights.head.decoder[2].cross_attention;
  CHECK(cross.q.data == joined.data());
  CHECK(cross.k.data == joined.data() + joined.bytes / 3);
  CHECK(cross.v.data == joined.data() + joined.bytes / 3 * 2);
  const std::vector<float> bias = decode(tensor(package, "layers.2.multihead_attn.in_proj_bias"));
  CHECK(decode(cross.v_bias) == std::vector<float>(bias.begin() + 128, bias.end()));
}

TEST_CASE("a prior scale is limited to 100") {
  Pack pack = tiny_flash();
  edit_tensors(pack.files.at("joint_head.safetensors"), [](RawTensor& t) {
    if (t.name == "prior_logit_scale") t.bytes = {'\0', '\x41'};  // 8.0
    return true;
  });
  const model::Package package = must(model::open_package(pack.sources()));
  const Resolved resolved(package);
  CHECK(resolved.weights().head.prior_scale == Approx(100.0));
}

TEST_CASE("matrices stay in the file") {
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  const Resolved resolved(package);
  const model::Weights& weights = resolved.weights();
  CHECK(weights.copies.empty());
  CHECK(weights.copied_bytes == 0);
  CHECK(weights.sources.size() == 2);
  CHECK(weights.embeddings.data == tensor(package, "model.language_model.embed_tokens.weight").data());
  uint64_t matrices = 0;
  for (const container::TensorView& view : package.tensors)
    if (!view.name.starts_with("model.visual.") && view.shape.size() == 2) matrices += view.bytes;
  CHECK(weights.mapped_bytes == matrices);
  CHECK(resolved.memory.used() == 0);
}

TEST_CASE("weights can be held in memory") {
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  const Resolved mapped(package);
  const Resolved copied(package, {.copy = true});
  CHECK(copied.weights().mapped_bytes == 0);
  CHECK(copied.weights().copied_bytes == mapped.weights().mapped_bytes);
  CHECK(copied.memory.used() >= copied.weights().copied_bytes);
  check_equal(mapped.weights(), copied.weights());
}

TEST_CASE("memory and callbacks give the weights of the files") {
  for (const Pack& pack : {tiny_flash(), tiny_clef()}) {
    const model::Package from_memory = must(model::open_package(pack.sources()));
    const model::Package from_callbacks = must(model::open_package(through_callbacks(pack)));
    const Resolved a(from_memory), b(from_callbacks);
    CHECK(a.weights().copied_bytes == 0);
    CHECK(b.weights().copied_bytes == a.weights().mapped_bytes);
    CHECK(b.weights().mapped_bytes == 0);
    check_equal(a.weights(), b.weights());
  }
  Pack gguf;
  gguf.files["mini-q8_0.gguf"] = read_file(data_path("gguf/mini-q8_0.gguf"));
  const model::Package from_path = must(model::open_package(at_path(data_path("gguf/mini-q8_0.gguf"))));
  const model::Package from_callbacks = must(model::open_package(through_callbacks(gguf)));
  const Resolved a(from_path), b(from_callbacks);
  check_equal(a.weights(), b.weights());
}

TEST_CASE("the parts of a split file hold the weights of the whole") {
  const model::Package whole = must(model::open_package(at_path(data_path("gguf/mini-f32.gguf"))));
  const model::Package parts = must(model::open_package(at_path(data_path("gguf/mini-bf16-00002-of-00003.gguf"))));
  const Resolved a(whole), b(parts);
  CHECK(b.weights().sources.size() == 3);
  check_equal(a.weights(), b.weights());
}

TEST_CASE("files of quantized weights have their odd shapes") {
  const model::Package package = must(model::open_package(at_path(data_path("gguf/mini-q8_0.gguf"))));
  REQUIRE(tensor(package, "decision.scorer_out.weight").shape.size() == 1);
  const Resolved resolved(package);
  const device::Weight& row = resolved.weights().head.scorer_out;
  CHECK(row.out == 1);
  CHECK(row.in == package.config.head.width);
  CHECK(row.format->type == quant::Type::bf16);
  CHECK(resolved.weights().layers[0].gate.format->type == quant::Type::q8_0);
}

TEST_CASE("a tied language head stands in for a missing one, and only then") {
  Pack pack = tiny_flash();
  edit_tensors(pack.files.at("model.safetensors"), [](RawTensor& t) { return t.name != "lm_head.weight"; });
  const base::ErrorDetail error = error_of(Resolved(must(model::open_package(pack.sources()))).result);
  CHECK(error.code == Code::missing_part);
  CHECK(error.tensor == "lm_head.weight");
  CHECK(error.file == "model.safetensors");
  pack.replace("config.json", "\"tie_word_embeddings\": false,\n  \"dtype\"",
               "\"tie_word_embeddings\": true,\n  \"dtype\"");
  const model::Package package = must(model::open_package(pack.sources()));
  const Resolved resolved(package);
  CHECK(resolved.weights().lm_head.data == resolved.weights().embeddings.data);
}

TEST_CASE("other spellings of the names, no vision tower, left-over tensors") {
  const model::Package plain = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  CHECK(plain.has_vision);
  const Resolved expected(plain);
  for (const char* prefix : {"language_model.model.", "model."}) {
    INFO(prefix);
    Pack pack = tiny_flash();
    edit_tensors(pack.files.at("model.safetensors"), [&](RawTensor& t) {
      if (t.name.starts_with("model.visual.")) return false;
      constexpr std::string_view kUsual = "model.language_model.";
      if (t.name.starts_with(kUsual)) t.name = prefix + t.name.substr(kUsual.size());
      return true;
    });
    std::vector<RawTensor> tensors = read_tensors(pack.files.at("model.safetensors"));
    tensors.push_back({"mtp.layers.0.input_layernorm.weight", "U8", {3}, "abc"});
    pack.files.at("model.safetensors") = write_tensors(tensors);
    const model::Package package = must(model::open_package(pack.sources()));
    CHECK_FALSE(package.has_vision);
    const Resolved resolved(package);
    check_equal(expected.weights(), resolved.weights());
  }
}

TEST_CASE("a long load reports its progress and can be cancelled") {
  const Pack pack = tiny_flash();
  const model::Package package = must(model::open_package(through_callbacks(pack)));
  struct Seen {
    uint64_t done = 0, total = 0;
    int calls = 0;
  } seen;
  base::Hooks hooks;
  hooks.progress = [](base::Stage stage, uint64_t done, uint64_t total, void* user) {
    auto* state = static_cast<Seen*>(user);
    CHECK(stage == base::Stage::load);
    CHECK(done >= state->done);
    state->done = done, state->total = total, ++state->calls;
  };
  hooks.progress_user = &seen;
  const Resolved resolved(package, {}, hooks);
  CHECK(seen.calls > 0);
  CHECK(seen.done == seen.total);
  CHECK(seen.total == resolved.weights().copied_bytes);

  int polls = 0;
  base::Hooks cancelling;
  cancelling.poll = [](void* user) { return ++*static_cast<int*>(user) > 5; };
  cancelling.poll_user = &polls;
  CHECK(error_of(Resolved(package, {}, cancelling).result).code == Code::cancelled);
  CHECK(polls == 6);
}

TEST_CASE("memory limits hold for copies") {
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  const Resolved resolved(package, {.copy = true}, {}, 100000);
  CHECK(error_of(resolved.result).code == Code::memory_limit);
  CHECK(resolved.memory.used() == 0);
}
