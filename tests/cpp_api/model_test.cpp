// Runtimes, sources, models, tokenizers.
#include <atomic>
#include <fstream>
#include <memory>
#include <new>
#include <thread>

#include "shared.hpp"
#include "support/catch.hpp"

using namespace clef::test;
using clef::Status;

namespace {

const char* const kFiles[] = {"config.json",          "joint_head_config.json", "joint_head.safetensors",
                              "model.safetensors",    "processor_config.json",  "tokenizer.json",
                              "tokenizer_config.json"};

std::string answer(const clef::Model& model) {
  clef::Options options;
  options.rounding = false;
  const std::string json(model.decide(nano_schema(), kText, options).value().json());
  return json.substr(json.find("\"answers\""));  // the name of the model depends on where it came from
}

}  // namespace

TEST_CASE("a model from a path, from memory and through a reader gives the same answer") {
  const clef::Runtime runtime = clef::Runtime::create().value();
  const std::string expected = answer(nano_model());
  CHECK(answer(clef::Model::load(runtime, nano()).value()) == expected);
  CHECK(answer(clef::Model::load(nano() + "/model.safetensors").value()) == expected);

  std::vector<std::string> contents;
  for (const char* file : kFiles) contents.push_back(read_file(nano() + "/" + file));
  SECTION("memory") {
    clef::Source source = clef::Source::create(runtime).value();
    for (size_t i = 0; i < contents.size(); ++i)
      REQUIRE(source.add_memory(kFiles[i], contents[i].data(), contents[i].size()));
    const clef::Model model = clef::Model::load(runtime, source).value();
    contents.clear();  // copied
    CHECK(answer(model) == expected);
  }
  SECTION("borrowed memory") {
    clef::Source source = clef::Source::create(runtime).value();
    for (size_t i = 0; i < contents.size(); ++i)
      REQUIRE(source.add_memory_borrow(kFiles[i], contents[i].data(), contents[i].size()));
    CHECK(answer(clef::Model::load(runtime, source).value()) == expected);
  }
  SECTION("reader") {
    auto alive = std::make_shared<int>(0);
    {
      clef::Source source = clef::Source::create(runtime).value();
      for (size_t i = 0; i < contents.size(); ++i) {
        REQUIRE(source.add_reader(kFiles[i], contents[i].size(),
                                  [&text = contents[i], alive](std::uint64_t offset, void* out, std::size_t size) {
                                    if (offset > text.size() || size > text.size() - offset) return false;
                                    text.copy(static_cast<char*>(out), size, offset);
                                    return true;
                                  }));
      }
      CHECK(alive.use_count() == 1 + static_cast<long>(std::size(kFiles)));
      CHECK(answer(clef::Model::load(runtime, source).value()) == expected);
    }
    CHECK(alive.use_count() == 1);  // every function was released
  }
  SECTION("a reader that fails") {
    clef::Source source = clef::Source::create(runtime).value();
    for (size_t i = 0; i < contents.size(); ++i)
      REQUIRE(
          source.add_reader(kFiles[i], contents[i].size(), [](std::uint64_t, void*, std::size_t) { return false; }));
    CHECK(clef::Model::load(runtime, source).error().status() == Status::io);
  }
}

TEST_CASE("parents may go first") {
  auto session = [] {
    clef::Model model = [] {
      clef::Runtime runtime = clef::Runtime::create().value();
      return clef::Model::load(runtime, nano()).value();
    }();
    return model.session().value();
  }();
  auto decision = [&] {
    clef::Session used = std::move(session);
    return used.decide(nano_schema(), kText).value();
  }();
  CHECK(decision["team"].choice() == "billing");
}

TEST_CASE("errors of a load name the file") {
  const std::string notes = temporary_directory() + "/notes.gguf";
  std::ofstream(notes) << "no model";
  const auto foreign = clef::Model::load(notes);
  REQUIRE(!foreign);
  CHECK((foreign.error().file().find("notes.gguf") != std::string_view::npos ||
         foreign.error().message().find("notes.gguf") != std::string_view::npos));
  clef::LoadOptions options;
  options.compute = "fast";
  CHECK(clef::Model::load(nano(), options).error().status() == Status::invalid_value);
  options = {};
  options.device = "quantum";
  CHECK(!clef::Model::load(nano(), options));
}

TEST_CASE("a load and a decision can be followed and stopped") {
  int loads = 0;
  clef::LoadOptions load;
  load.on_progress = [&](const clef::Progress& progress) {
    CHECK(progress.stage == clef::Stage::load);
    CHECK(progress.done <= progress.total);
    ++loads;
  };
  const clef::Model model = clef::Model::load(nano(), load).value();
  CHECK(loads > 0);
  load = {};
  load.cancelled = [] { return true; };
  CHECK(clef::Model::load(nano(), load).error().status() == Status::cancelled);
  const clef::Cancel cancel = clef::Cancel::create().value();
  load = {};
  load.cancel = &cancel;
  cancel.trip();
  CHECK(clef::Model::load(nano(), load).error().status() == Status::cancelled);
  cancel.reset();
  CHECK(clef::Model::load(nano(), load));

  clef::Session session = model.session().value();
  const clef::Schema schema = nano_schema();
  auto held = std::make_shared<int>(0);
  std::uint64_t done = 0, total = 0;
  {
    clef::Options options;
    options.on_progress = [&, held](const clef::Progress& progress) { done = progress.done, total = progress.total; };
    REQUIRE(session.decide(schema, kText, options));
    CHECK(total > 0);
    CHECK(done == total);
    options.cancel = &cancel;
    options.on_progress = [&](const clef::Progress&) { cancel.trip(); };  // the one call that is allowed there
    CHECK(session.decide(schema, kText, options).error().status() == Status::cancelled);
  }
  CHECK(held.use_count() == 1);
  CHECK(session.decide(schema, kText));  // still usable
}

TEST_CASE("a runtime takes the host's threads, memory and log") {
  std::atomic<int> loops{0};
  static std::atomic<std::uint64_t> allocated{0};
  clef_allocator_hooks allocator = {};
  allocator.struct_size = sizeof(allocator);
  allocator.allocate = [](size_t size, size_t alignment, void*) -> void* {
    allocated += size;
    return ::operator new(size, std::align_val_t(alignment));
  };
  allocator.free = [](void* pointer, size_t, size_t alignment, void*) {
    ::operator delete(pointer, std::align_val_t(alignment));
  };
  clef::RuntimeOptions options;
  options.parallel_for = [&](std::size_t count, clef::Task task) {
    ++loops;
    for (std::size_t i = count; i-- > 0;) task(i);  // in any order
  };
  options.concurrency = [] { return 3u; };
  options.allocator = &allocator;
  options.log = [](clef::LogLevel, std::string_view) {};
  options.isa = "baseline";
  const clef::Runtime runtime = clef::Runtime::create(options).value();
  const clef::Model model = clef::Model::load(runtime, nano()).value();
  CHECK(model.decide(nano_schema(), kText).value()["team"].choice() == "billing");
  CHECK(loops > 0);
  CHECK(allocated > 0);
  CHECK(runtime.memory().peak > 0);
  CHECK(runtime.memory().peak >= runtime.memory().used);
  CHECK(runtime.describe().find("\"version\"") != std::string_view::npos);
  options = {};
  options.isa = "mmx";
  CHECK(clef::Runtime::create(options).error().status() == Status::invalid_value);
}

TEST_CASE("one model serves many threads") {
  const std::string expected = answer(nano_model());
  std::atomic<int> same{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      if (answer(nano_model()) == expected) ++same;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(same == 4);
}

TEST_CASE("numbers of a model") {
  const clef::Model& model = nano_model();
  CHECK(model.digest().size() == 64);
  CHECK(model.limit(clef::Limit::questions) == 64);
  CHECK(model.limit(clef::Limit::options) == 255);
  CHECK(model.limit(clef::Limit::levels) == 10);
  CHECK(model.limit(clef::Limit::vocabulary) > 2000);
  CHECK(model.limit(clef::Limit::tokens) > 500);
  CHECK(model.limit(static_cast<clef::Limit>(99)) == 0);
  CHECK(model.describe().front() == '{');
  const clef::Estimate small = model.estimate(256).value(), large = model.estimate(4096).value();
  CHECK(small.scratch > 0);
  CHECK(large.scratch > small.scratch);
  CHECK(small.weights > 1000000);
  const clef::Schema schema = nano_schema();
  const clef::State state = clef::State::text(kText).value();
  const clef::TokenCounts counts = model.count_tokens(schema, state).value();
  CHECK(counts.fixed + counts.state == model.decide(schema, state).value().input_tokens());
  CHECK(counts.state == model.tokenizer().value().encode(kText).value().size());
}

TEST_CASE("a tokenizer alone") {
  const clef::Tokenizer tokenizer = clef::Tokenizer::load(nano() + "/tokenizer.json").value();
  const std::string text = std::string("caf\xc3\xa9 <|im_end|> a\0b", 20);
  const std::vector<std::int32_t> ids = tokenizer.encode(text).value();
  CHECK(tokenizer.decode(ids).value() == text);
  CHECK(tokenizer.encode("<|im_end|>", true).value().size() == 1);
  CHECK(tokenizer.encode("<|im_end|>").value().size() > 1);
  CHECK(tokenizer.encode("").value().empty());
  CHECK(tokenizer.encode("\xff").error().status() == Status::invalid_unicode);
  const auto unknown_rule = clef::Tokenizer::load(nano(), "gpt2");
  REQUIRE(!unknown_rule);
  CHECK(unknown_rule.error().message().find("gpt2") != std::string_view::npos);
}

TEST_CASE("what a source is") {
  const clef::Runtime runtime = clef::Runtime::create().value();
  clef::Source source = clef::Source::create(runtime).value();
  CHECK(source.describe(runtime).error().status() != Status::ok);  // nothing in it
  REQUIRE(source.add_path(nano()));
  const std::string description = source.describe(runtime).value();
  CHECK(description.find("model.safetensors") != std::string::npos);
  CHECK(description.find("\"tensors\"") != std::string::npos);
}

TEST_CASE("two sources are compared") {
  const clef::Runtime runtime = clef::Runtime::create().value();
  clef::Source source = clef::Source::create(runtime).value(), same = clef::Source::create(runtime).value();
  REQUIRE(source.add_path(nano()));
  CHECK(source.compare(runtime, same).error().status() == Status::invalid_argument);  // nothing in it
  REQUIRE(same.add_path(nano()));
  clef::LoadOptions options;
  std::uint64_t done = 0, total = 0;
  options.on_progress = [&](const clef::Progress& progress) { done = progress.done, total = progress.total; };
  const std::string comparison = source.compare(runtime, same, options).value();
  CHECK(comparison.find("\"equal\":true,\"differing\":0,\"relative_error\":0.0") != std::string::npos);
  CHECK(total > 0);
  CHECK(done == total);
  clef::LoadOptions stopped;
  stopped.cancelled = [] { return true; };
  CHECK(source.compare(runtime, same, stopped).error().status() == Status::cancelled);
}
