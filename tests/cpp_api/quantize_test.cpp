// Writing models as GGUF.
#include <fstream>

#include "shared.hpp"
#include "support/catch.hpp"

using namespace clef::test;
using clef::Status;

namespace {

clef::Source nano_source(const clef::Runtime& runtime) {
  clef::Source source = clef::Source::create(runtime).value();
  source.add_path(nano()).value();
  return source;
}

}  // namespace

TEST_CASE("a model is written, loaded again and decides") {
  const clef::Runtime runtime = clef::Runtime::create().value();
  clef::Source source = nano_source(runtime);
  const std::string out = temporary_directory() + "/nano.gguf";
  clef::QuantizeOptions options;
  options.type = "BF16";
  options.head_type = "BF16";
  options.tensor_types = {{"output.weight", "F32"}, {"token_embd.*", "F32"}};
  std::uint64_t done = 0, total = 0;
  options.on_progress = [&](const clef::Progress& progress) {
    CHECK(progress.stage == clef::Stage::quantize);
    done = progress.done, total = progress.total;
  };
  const std::string report = clef::quantize(runtime, source, out, options).value();
  CHECK(report.find("\"file\":\"nano.gguf\"") != report.npos);
  CHECK(done == total);
  CHECK(total == read_file(out).size());
  clef::LoadOptions exact;
  exact.compute = "exact";
  const clef::Model original = clef::Model::load(runtime, nano(), exact).value();
  const clef::Model model = clef::Model::load(runtime, out, exact).value();
  const double before = (*original.decide(nano_schema(), kText))["refund"].probability();
  const double after = (*model.decide(nano_schema(), kText))["refund"].probability();
  CHECK(after == before);
}

TEST_CASE("a conversion can be refused and stopped") {
  const clef::Runtime runtime = clef::Runtime::create().value();
  clef::Source source = nano_source(runtime);
  const std::string out = temporary_directory() + "/nano.gguf";
  const auto status = [&](const clef::QuantizeOptions& options) {
    const auto result = clef::quantize(runtime, source, out, options);
    return result ? Status::ok : result.error().status();
  };
  clef::QuantizeOptions options;
  options.type = "Q9";
  CHECK(status(options) == Status::invalid_value);
  options = {};
  options.architecture = "llama";
  CHECK(status(options) == Status::invalid_value);
  options = {};
  options.importance = "/nowhere/at/all";
  CHECK(status(options) == Status::not_found);
  options = {};
  const clef::Cancel cancel = clef::Cancel::create().value();
  cancel.trip();
  options.cancel = &cancel;
  CHECK(status(options) == Status::cancelled);
  options = {};
  options.cancelled = [] { return true; };
  CHECK(status(options) == Status::cancelled);
  CHECK(!std::ifstream(out));
  CHECK(status({}) == Status::ok);
  CHECK(status({}) == Status::invalid_argument);  // it is there
  CHECK(clef::quantize(runtime, source, "").error().status() == Status::invalid_argument);
}
