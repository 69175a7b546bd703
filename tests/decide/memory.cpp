// Scratch memory at the real widths of Clef-Flash, one layer of each kind: hidden rows, one layer's K/V and 64 MiB.
#include <sys/resource.h>

#include <cstring>
#include <vector>

#include "decide/head.hpp"
#include "device/cpu/cpu.hpp"
#include "fixture.hpp"
#include "model/executor.hpp"

using namespace clef;

namespace {

// Random weights; every matrix shares one block, since only sizes matter here.
struct WideModel {
  model::Config config;
  model::Weights weights;
  std::vector<uint16_t> block;
  std::vector<float> vector, decays;

  device::Weight matrix(int64_t out, int64_t in) {
    REQUIRE(static_cast<size_t>(out * in) <= block.size());
    return {&quant::format(quant::Type::bf16), reinterpret_cast<const std::byte*>(block.data()), out, in};
  }
  device::Weight small(int64_t n, int64_t in = 0) {
    return {&quant::format(quant::Type::f32), reinterpret_cast<const std::byte*>(vector.data()), in ? n : 1,
            in ? in : n};
  }

  WideModel() : block(size_t{12288} * 4096), vector(40000, 0.1f), decays(32, -0.1f) {
    uint32_t seed = 1;
    for (uint16_t& value : block) {
      seed = seed * 1664525u + 1013904223u;
      value = quant::f32_to_bf16((static_cast<float>(seed >> 16) / 32768.0f - 1.0f) * 0.02f);
    }
    model::Config& c = config;
    c.vocabulary = 1000, c.hidden = 4096, c.intermediate = 12288;
    c.layers = {model::LayerKind::delta_net, model::LayerKind::attention};
    c.heads = 16, c.kv_heads = 4, c.head_dim = 256;
    c.key_heads = 16, c.value_heads = 32, c.key_dim = 128, c.value_dim = 128, c.conv_width = 4;
    c.rope_theta = 1e7, c.rotary_dims = 64, c.max_positions = 262144;
    c.rope_sections[0] = 11, c.rope_sections[1] = 11, c.rope_sections[2] = 10;
    c.head.width = 1024, c.head.feedforward = 4096, c.head.heads = 16, c.head.routing_layers = 2,
    c.head.decoder_layers = 4;
    weights.embeddings = weights.lm_head = matrix(1000, 4096);
    weights.final_norm = small(4096);
    for (int i = 0; i < 2; ++i) {
      model::LayerWeights w;
      w.input_norm = w.post_norm = small(4096);
      w.gate = w.up = matrix(12288, 4096);
      w.down = matrix(4096, 12288);
      w.attention = {matrix(8192, 4096), matrix(1024, 4096), matrix(1024, 4096),
                     matrix(4096, 4096), small(256),         small(256)};
      const device::Weight decay{&quant::format(quant::Type::f32), reinterpret_cast<const std::byte*>(decays.data()), 1,
                                 32};
      w.delta_net = {matrix(8192, 4096), matrix(4096, 4096), matrix(32, 4096),  matrix(32, 4096), small(8192, 4), decay,
                     small(32),          small(128),         matrix(4096, 4096)};
      weights.layers.push_back(w);
    }
    model::HeadWeights& h = weights.head;
    const model::NormWeights norm{small(1024), small(1024)};
    h.hidden_norm = {small(4096), small(4096)};
    h.summary_norm = h.field_norm = h.option_norm = norm;
    h.memory = h.question = h.option_question = h.global = h.option_context = h.option_lexical = matrix(1024, 4096);
    h.types = small(3, 1024);
    const device::Weight square = matrix(1024, 1024), bias = small(1024);
    const model::HeadAttentionWeights attention{square, square, square, square, bias, bias, bias, bias};
    const model::HeadFeedForward feedforward{matrix(4096, 1024), small(4096), matrix(1024, 4096), bias};
    h.evidence.assign(2, {norm, norm, norm, attention, feedforward});
    h.decoder.assign(4, {norm, norm, norm, attention, attention, feedforward});
    h.scorer = matrix(1024, 4096), h.scorer_bias = bias;
    h.scorer_out = matrix(1, 1024), h.scorer_out_bias = small(1);
    h.prior_scale = 10, h.joint_scale = 1, h.gate = 0.1f;
  }
};

uint64_t peak_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

void check(int64_t tokens) {
  const WideModel wide;
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(2);
  const auto device = device::make_cpu_device(base::detect_isa(), *executor, memory);
  const uint64_t before = peak_resident();

  schema::Schema schema;
  schema::Prompt prompt;
  schema::Question question;
  question.id = "q";
  question.options = {{"true", ""}, {"false", ""}};
  question.request_order = {0, 1};
  schema.questions.assign(3, question);
  for (int64_t i = 0; i < tokens; ++i) prompt.ids.push_back(static_cast<int32_t>(i * 7919 % 1000));
  const int32_t end = static_cast<int32_t>(tokens);
  prompt.questions.assign(3, {{end - 60, end - 50}, {{end - 40, end - 30}, {end - 20, end - 10}}});

  model::Sequence sequence;
  sequence.ids = prompt.ids;
  auto pass = model::Pass::create(wide.config, wide.weights, false, *device, {sequence}, 0);
  REQUIRE(pass.ok());
  while (!pass.value()->finished()) {
    const base::Status status = pass.value()->step();
    INFO(status.message());
    REQUIRE(status.ok());
  }
  auto head = decide::Head::create(wide.config, wide.weights, *device, *pass.value(), schema, prompt);
  REQUIRE(head.ok());
  while (!head.value()->finished()) REQUIRE(head.value()->step().ok());

  const uint64_t hidden = static_cast<uint64_t>(tokens) * 4096 * 4,
                 kv = static_cast<uint64_t>(tokens) * 4 * 256 * 2 * 4;
  const uint64_t allowed = hidden + kv + (uint64_t{64} << 20);
  WARN(tokens << " tokens: " << (memory.peak() >> 20) << " MiB of scratch, " << ((peak_resident() - before) >> 20)
              << " MiB more resident, allowed " << (allowed >> 20));
  REQUIRE(memory.peak() <= allowed);
  REQUIRE(peak_resident() - before <= allowed);
  REQUIRE(memory.peak() <=
          decide::estimate_scratch(wide.config, static_cast<uint64_t>(tokens), 0, executor->concurrency()).value());
  head.value().reset();
  pass.value().reset();
}

}  // namespace

TEST_CASE("scratch of a short prompt at real widths") {
  check(512);
}
TEST_CASE("scratch of 16,384 tokens at real widths", "[.long]") {
  check(16384);
}
