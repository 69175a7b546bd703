// The same bits for any number of threads, any chunk, batch mates, a pass in two parts, and the checking device.
#include <cstring>

#include "decide/head.hpp"
#include "device/cpu/cpu.hpp"
#include "fixture.hpp"
#include "model/executor.hpp"
#include "support/checking_device.hpp"

using namespace clef;

namespace {

const char* const kQuestions =
    R"({"refund":{"type":"noul","instructions":"Is a refund requested?"},)"
    R"("team":{"type":"choice","instructions":"Which team?","criteria":{"billing":"Money","technical":null,"other":"Else"}},)"
    R"("urgency":{"type":"score","criteria":["low","medium","high"]}})";

// For prompts that all three questions would not fit into.
const char* const kOneQuestion = R"({"r":{"type":"noul","instructions":"Refund?"}})";

schema::Schema questions(const char* json = kQuestions) {
  auto schema = schema::parse_schema(json, {});
  REQUIRE(schema.ok());
  return std::move(schema).value();
}

// A state that makes the prompt exactly `tokens` long. One word more is at least one token more.
std::string state_of(const text::Tokenizer& tokenizer, const schema::Schema& schema, int64_t tokens) {
  const auto count = [&](const std::string& state) {
    auto counts = schema::count_tokens(tokenizer, state, schema, text::SpecialText::literal);
    REQUIRE(counts.ok());
    return counts.value().fixed + counts.value().state;
  };
  std::string unit, state;
  for (int i = 0; i < 40; ++i)
    unit += " I was charged twice on the 3rd and want order " + std::to_string(7 * i % 61) + " back.";
  while (count(state + unit) <= tokens) state += unit;
  for (int i = 0; count(state) < tokens; ++i) {
    static const char* const kWords[] = {" a", " refund", "7", ".", " please"};
    std::string longer = state + kWords[i % 5];
    if (count(longer) <= tokens) state = std::move(longer);
  }
  REQUIRE(count(state) == tokens);
  return state;
}

std::vector<float> logits(const decide::Decision& decision) {
  std::vector<float> all;
  for (const decide::Answer& answer : decision.answers)
    all.insert(all.end(), answer.logits.begin(), answer.logits.end());
  return all;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct Case {
  int64_t chunk;  // INT64_MAX = all
  uint32_t threads;
};

void check(const std::string& path, int64_t tokens, const std::vector<Case>& cases) {
  base::Memory memory{base::Allocator{}};
  const auto model = test::load(path, memory);
  const schema::Schema schema = questions(tokens < 300 ? kOneQuestion : kQuestions);
  const std::string state = state_of(model->tokenizer(), schema, tokens);
  std::vector<float> first;
  for (const Case& c : cases) {
    const auto executor = base::make_pool_executor(c.threads);
    decide::Session session(model, *executor, base::detect_isa(), memory);
    decide::Options options;
    options.chunk = c.chunk;
    const auto decision = session.decide(schema, state, options);
    if (!decision.ok()) FAIL(decision.status().message());
    REQUIRE(static_cast<int64_t>(decision.value().ids.size()) == tokens);
    if (first.empty()) first = logits(decision.value());
    INFO(path << " " << tokens << " tokens, chunk " << c.chunk << ", " << c.threads << " threads");
    REQUIRE(same(first, logits(decision.value())));
  }
}

}  // namespace

TEST_CASE("short prompts: every chunk and number of threads") {
  std::vector<Case> cases;
  for (const int64_t chunk : {int64_t{64}, int64_t{128}, int64_t{512}, INT64_MAX})
    for (const uint32_t threads : {1u, 2u, 5u}) cases.push_back({chunk, threads});
  // Around the first multiples of 64 that the questions leave room for.
  for (const std::string& path : {test::data_path("models/tiny-clef"), test::data_path("gguf/mini-q8_0.gguf")}) {
    base::Memory memory{base::Allocator{}};
    const auto counts =
        schema::count_tokens(test::load(path, memory)->tokenizer(), "", questions(), text::SpecialText::literal);
    REQUIRE(counts.ok());
    const int64_t tile = (counts.value().fixed + 127) / 64 * 64;
    for (const int64_t tokens : {tile - 1, tile, tile + 1}) check(path, tokens, cases);
  }
  for (const int64_t tokens : {255, 256, 257, 319, 320, 321, 1024, 2048})
    check(test::source_path("examples/clef-nano"), tokens, cases);
}

TEST_CASE("long prompts") {
  const std::vector<Case> cases = {{512, 1}, {512, 2}, {INT64_MAX, 1}, {INT64_MAX, 2}};
  for (const int64_t tokens : {8192, 16384}) check(test::source_path("examples/clef-nano"), tokens, cases);
}

namespace {

struct Backbone {
  explicit Backbone(const std::string& path)
      : memory(base::Allocator{}),
        model(test::load(path, memory)),
        executor(base::make_pool_executor(2)),
        device(device::make_cpu_device(base::detect_isa(), *executor, memory)) {}

  // The hidden rows of each sequence after the whole pass.
  std::vector<std::vector<float>> run(device::Device& on, const std::vector<model::Sequence>& sequences,
                                      int64_t chunk = 128) {
    auto pass = model::Pass::create(model->config(), model->weights(), model->package().conventions.value_heads_tiled,
                                    on, sequences, chunk);
    if (!pass.ok()) FAIL(pass.status().message());
    while (!pass.value()->finished()) REQUIRE(pass.value()->step().ok());
    REQUIRE(pass.value()->done() == pass.value()->total());
    std::vector<std::vector<float>> rows;
    for (size_t i = 0; i < sequences.size(); ++i) {
      std::vector<float> values(sequences[i].ids.size() * static_cast<size_t>(model->config().hidden));
      REQUIRE(on.download(pass.value()->hidden(i), values).ok());
      rows.push_back(std::move(values));
    }
    return rows;
  }

  std::vector<int32_t> ids(size_t count, uint32_t seed) const {
    std::vector<int32_t> list;
    for (size_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      list.push_back(static_cast<int32_t>((seed >> 8) % static_cast<uint32_t>(model->config().vocabulary)));
    }
    return list;
  }

  base::Memory memory;
  std::shared_ptr<const model::Model> model;
  std::unique_ptr<base::Executor> executor;
  std::unique_ptr<device::Device> device;
};

std::vector<model::Sequence> one(const std::vector<int32_t>& ids) {
  model::Sequence sequence;
  sequence.ids = ids;
  return {sequence};
}

}  // namespace

TEST_CASE("two sequences in one pass equal each alone") {
  Backbone b(test::data_path("models/tiny-flash"));
  const auto first = b.ids(333, 1), second = b.ids(70, 2);
  std::vector<model::Sequence> both = one(first);
  both.push_back(one(second).front());
  const auto together = b.run(*b.device, both);
  REQUIRE(same(together[0], b.run(*b.device, one(first))[0]));
  REQUIRE(same(together[1], b.run(*b.device, one(second))[0]));
}

TEST_CASE("a pass split at any multiple of 64 tokens equals the plain one") {
  for (const std::string& path : {test::data_path("models/tiny-flash"), test::data_path("gguf/tiny-clef-bf16.gguf")}) {
    Backbone b(path);
    const auto ids = b.ids(333, 3);
    const auto whole = b.run(*b.device, one(ids))[0];
    const size_t hidden = static_cast<size_t>(b.model->config().hidden);
    for (const size_t split : {64u, 128u, 192u, 256u, 320u}) {
      const std::span<const int32_t> all(ids);
      model::SequenceState state;
      model::Sequence head;
      head.ids = all.first(split);
      head.sink = &state;
      auto rows = b.run(*b.device, {head}, 64)[0];
      REQUIRE(state.positions == static_cast<int64_t>(split));
      model::Sequence tail;
      tail.ids = all.subspan(split);
      tail.start = static_cast<int64_t>(split);
      tail.initial = &state;
      const auto rest = b.run(*b.device, {tail}, 192)[0];
      rows.insert(rows.end(), rest.begin(), rest.end());
      REQUIRE(rows.size() == ids.size() * hidden);
      INFO("split at " << split);
      REQUIRE(same(rows, whole));
      REQUIRE(same(b.run(*b.device, {tail})[0], rest));  // the state is still whole: asked again, the same answer
    }
  }
}

TEST_CASE("a start that is no multiple of 64, or without its state, is refused") {
  Backbone b(test::data_path("models/tiny-flash"));
  const auto ids = b.ids(10, 4);
  model::Sequence sequence = one(ids).front();
  sequence.start = 64;
  REQUIRE(!model::Pass::create(b.model->config(), b.model->weights(), false, *b.device, {sequence}, 64).ok());
  std::vector<int32_t> outside = ids;
  outside[3] = static_cast<int32_t>(b.model->config().vocabulary);
  REQUIRE(!model::Pass::create(b.model->config(), b.model->weights(), false, *b.device, one(outside), 64).ok());
}

TEST_CASE("layers and head work on a device whose buffers the host cannot address and that works late") {
  Backbone b(test::data_path("models/tiny-clef"));
  const schema::Schema schema = questions();
  const auto prompt = schema::encode_prompt(b.model->tokenizer(), "I want my money back.", schema, {});
  REQUIRE(prompt.ok());
  const auto decide_on = [&](device::Device& device) {
    auto pass = model::Pass::create(b.model->config(), b.model->weights(), false, device, one(prompt.value().ids), 64);
    REQUIRE(pass.ok());
    while (!pass.value()->finished()) REQUIRE(pass.value()->step().ok());
    auto head =
        decide::Head::create(b.model->config(), b.model->weights(), device, *pass.value(), schema, prompt.value());
    REQUIRE(head.ok());
    while (!head.value()->finished()) REQUIRE(head.value()->step().ok());
    REQUIRE(head.value()->done() == head.value()->total());
    return head.value()->logits();
  };
  const auto plain = decide_on(*b.device);
  const auto checking = test::make_checking_device(*b.device);
  REQUIRE(same(plain, decide_on(*checking)));
  const auto ids = b.ids(200, 5);
  REQUIRE(same(b.run(*b.device, one(ids))[0], b.run(*checking, one(ids))[0]));
}
