// clef quantize.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;
using Json = nlohmann::ordered_json;

namespace {
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("a model is written and decides as before") {
  const std::string out = temporary_directory() + "/nano.gguf", spam = nano() + "/examples/spam.json";
  const Outcome outcome = run({"quantize", nano(), out, "--type", "BF16", "--threads", "2"});
  REQUIRE(outcome.status == 0);
  CHECK(outcome.err == "");
  CHECK(has(outcome.out, "BF16"));
  CHECK(has(outcome.out, "bits per weight"));
  CHECK(has(outcome.out, "nano.gguf: "));
  CHECK(has(outcome.out, "pictures"));
  CHECK(!std::filesystem::exists(out + ".part"));
  Json before = Json::parse(run({"decide", nano(), spam, "--compute", "exact"}).out);
  Json after = Json::parse(run({"decide", out, spam, "--compute", "exact"}).out);
  CHECK(after["answers"] == before["answers"]);

  const Outcome again = run({"quantize", nano(), out});
  CHECK(again.status == 1);
  CHECK(again.out == "");
  CHECK(has(again.err, "nano.gguf: exists already"));
  CHECK(has(again.err, "--overwrite"));
  const Outcome replaced = run({"quantize", nano(), out, "--overwrite", "--type", "Q8_0", "--json", "--tensor-type",
                                "output.weight=F16", "--tensor-type", "blk.*.ffn_down.weight=BF16"});
  REQUIRE(replaced.status == 0);
  const Json report = Json::parse(replaced.out);
  CHECK(report["file"] == "nano.gguf");
  CHECK(report["file_bytes"] == std::filesystem::file_size(out));
  std::string types;
  for (const Json& type : report["types"]) types += type["type"].get<std::string>() + " ";
  for (const char* type : {"Q8_0", "F16", "BF16", "F32"}) CHECK(has(types, type));
}

TEST_CASE("what cannot be written is refused") {
  const std::string out = temporary_directory() + "/nano.gguf";
  const auto fails = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> arguments = {"quantize", nano(), out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.status == status);
    CHECK(outcome.out == "");
    CHECK(outcome.err.rfind("clef: ", 0) == 0);
    CHECK(!std::filesystem::exists(out));
    CHECK(!std::filesystem::exists(out + ".part"));
    return outcome.err;
  };
  CHECK(has(fails({"--type", "Q9"}, 1), "Q4_K_M"));
  CHECK(has(fails({"--tensor-type", "nothing*=Q8_0"}, 1), "blk.0.ffn_down.weight"));
  CHECK(has(fails({"--tensor-type", "nothing"}, 2), "PATTERN=TYPE"));
  CHECK(has(fails({"--imatrix", out + ".none"}, 1), "no such file"));
  CHECK(has(fails({"--imatrix", nano() + "/config.json"}, 1), "no importance matrix"));
  CHECK(has(fails({"--arch", "llama"}, 2), "llama"));
  CHECK(has(fails({"--head-type", "good"}, 1), "good"));
}

TEST_CASE("an importance matrix and the backbone alone") {
  const std::string directory = temporary_directory();
  const Outcome alone =
      run({"quantize", nano(), directory + "/alone.gguf", "--arch", "qwen35", "--type", "Q8_0", "--json"});
  REQUIRE(alone.status == 0);
  CHECK(has(alone.out, "backbone alone"));
  const Outcome refused = run({"inspect", directory + "/alone.gguf"});
  CHECK(refused.status == 1);
  CHECK(has(refused.err, "no decision head"));
  CHECK(run({"inspect", directory + "/alone.gguf", "--head", nano()}).status == 0);
}
