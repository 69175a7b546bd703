// Help, versions, wrong arguments, files that cannot be read.
#include "run.hpp"

#include <unistd.h>

#include <fstream>

#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;

namespace {
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
const char* const kCommands[] = {"ask", "decide", "prompt", "tokenize", "inspect", "quantize"};
}  // namespace

TEST_CASE("help and version") {
  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(help.err.empty());
  for (const char* command : kCommands) {
    CHECK(has(help.out, std::string("\n  ") + command));
    const Outcome own = run({command, "--help"});
    CHECK(own.status == 0);
    CHECK(own.err.empty());
    CHECK(has(own.out, "Examples:\n  "));
    CHECK(has(own.out, std::string("clef ") + command));
  }
  const Outcome version = run({"--version"});
  CHECK(version.status == 0);
  CHECK(version.out == "clef 0.1.0\n");
}

TEST_CASE("wrong arguments end with status 2 and say why on stderr") {
  const auto [arguments, part] = GENERATE(table<std::vector<std::string>, std::string>({
      {std::vector<std::string>(), "subcommand"},
      {{"divine"}, "divine"},
      {{"ask"}, "MODEL"},
      {{"ask", "m"}, "--state"},
      {{"ask", "m", "--state", "s"}, "--yes-no"},
      {{"ask", "m", "--state", "s", "--choice", "which?"}, "'='"},
      {{"ask", "m", "--state", "s", "--choice", "which?=a,,b"}, "empty option"},
      {{"ask", "m", "--state", "s", "--score", "=low,high"}, "question is empty"},
      {{"ask", "m", "--state", "s", "--yes-no", ""}, "question is empty"},
      {{"ask", "m", "--state", "s", "--yes-no", "q", "--json", "--table"}, "--table"},
      {{"decide", "m"}, "FILE"},
      {{"decide", "m", "f", "--compute", "fast"}, "fast"},
      {{"decide", "m", "f", "--max-tokens", "many"}, "many"},
      {{"decide", "m", "f", "--max-tokens", "-1"}, "-1"},
      {{"decide", "m", "f", "--truncate", "head"}, "head"},
      {{"decide", "m", "f", "--confidence", "high"}, "high"},
      {{"decide", "m", "f", "--wrong"}, "--wrong"},
      {{"tokenize", "m", "f", "--pre-tokenizer", "gpt2"}, "gpt2"},
      {{"prompt", "m"}, "REQUEST"},
      {{"inspect"}, "MODEL"},
      {{"quantize", "m"}, "OUT"},
  }));
  CAPTURE(arguments);
  const Outcome outcome = run(arguments);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.rfind("clef: ", 0) == 0);
  CHECK(has(outcome.err, part));
  CHECK(has(outcome.err, "--help"));
}

TEST_CASE("a model that cannot be loaded ends with status 1 and names the file") {
  const std::string request = nano() + "/examples/spam.json";
  const std::string foreign = temporary_file("notes.gguf", "These are my notes, not a model.");
  const std::string missing = temporary_directory() + "/absent.gguf";
  for (const std::string command : kCommands) {
    for (const std::string& model : {foreign, missing}) {
      std::vector<std::string> arguments = {command, model};
      if (command == "ask") arguments.insert(arguments.end(), {"--state", "s", "--yes-no", "q"});
      if (command == "decide" || command == "prompt" || command == "tokenize") arguments.push_back(request);
      if (command == "quantize") arguments.push_back(temporary_directory() + "/out.gguf");
      CAPTURE(arguments);
      const Outcome outcome = run(arguments);
      CHECK(outcome.status == 1);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.rfind("clef: ", 0) == 0);
      CHECK(has(outcome.err, model == foreign ? "notes.gguf" : "absent.gguf"));
    }
  }
}

TEST_CASE("a damaged model is named with file and tensor") {
  const std::string directory = temporary_directory();
  for (const char* file : {"config.json", "joint_head_config.json", "joint_head.safetensors", "tokenizer.json",
                           "tokenizer_config.json", "processor_config.json"})
    REQUIRE(symlink((nano() + "/" + file).c_str(), (directory + "/" + file).c_str()) == 0);
  std::string weights = read_file(nano() + "/model.safetensors");
  const std::string name = "model.language_model.norm.weight";
  const size_t at = weights.find('"' + name + '"');
  REQUIRE(at != std::string::npos);
  weights.replace(at + 1, name.size(), std::string(name.size(), 'x'));
  REQUIRE(std::ofstream(directory + "/model.safetensors", std::ios::binary).write(weights.data(), weights.size()));
  const Outcome outcome = run({"decide", directory, nano() + "/examples/spam.json"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(has(outcome.err, "safetensors"));
  CHECK(has(outcome.err, name));
}

TEST_CASE("files that cannot be read are named, the others are answered") {
  const std::string missing = temporary_directory() + "/absent.json";
  const std::string directory = temporary_directory();
  const Outcome outcome = run({"decide", nano(), missing, directory, nano() + "/examples/spam.json", missing + "l"});
  CHECK(outcome.status == 1);
  CHECK(lines_of(outcome.out).size() == 1);
  CHECK(has(outcome.err, "absent.json': No such file"));
  CHECK(has(outcome.err, "absent.jsonl': No such file"));
  CHECK(has(outcome.err, directory));
  CHECK(lines_of(outcome.err).size() == 3);
  for (const std::string command : {"prompt", "tokenize"}) {
    const Outcome other = run({command, nano(), missing});
    CHECK(other.status == 1);
    CHECK(other.out.empty());
    CHECK(has(other.err, "absent.json': No such file"));
  }
  const Outcome state = run({"ask", nano(), "--state", "@" + missing, "--yes-no", "q"});
  CHECK(state.status == 1);
  CHECK(has(state.err, "absent.json': No such file"));
}

TEST_CASE("output that cannot be written is a failure") {
  const Outcome outcome = run_into("/dev/full", {"inspect", nano(), "--json"});
  CHECK(outcome.status == 1);
  CHECK(has(outcome.err, "could not be written"));
}
