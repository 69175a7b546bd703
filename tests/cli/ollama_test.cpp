// Models by their names in Ollama's store.
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;

TEST_CASE("a model by its name in the store") {
  const std::string store = temporary_directory(), digest(64, 'c');
  const std::string gguf = data_path("gguf/mini-ollama-bf16.gguf");
  for (const char* place : {"registry.ollama.ai/library/mini", "hf.co/someone/mini"}) {
    const std::string directory = store + "/manifests/" + place;
    std::filesystem::create_directories(directory);
    for (const char* tag : {"latest", "9b"})
      std::ofstream(directory + "/" + tag)
          << R"({"schemaVersion":2,"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:)"
          << digest << R"(","size":)" << std::filesystem::file_size(gguf) << "}]}";
  }
  std::filesystem::create_directory(store + "/blobs");
  std::filesystem::copy_file(gguf, store + "/blobs/sha256-" + digest);
  REQUIRE(setenv("OLLAMA_MODELS", store.c_str(), 1) == 0);
  const auto ask = [](const std::string& model) {
    return run({"ask", model, "--json", "--state", "A text.", "--yes-no", "Is it?"});
  };
  const std::string plain = ask(gguf).out;
  const std::string answers = plain.substr(plain.find("\"answers\""));
  for (const char* name : {"mini", "mini:latest", "mini:9b", "library/mini:9b", "registry.ollama.ai/library/mini",
                           "hf.co/someone/mini:9b"}) {
    INFO(name);
    const Outcome outcome = ask(name);
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(outcome.out.find(answers) != std::string::npos);
    CHECK(outcome.out.find(std::string("\"model\":\"mini:") + (std::string(name).ends_with("9b") ? "9b" : "latest")) !=
          std::string::npos);
  }
  for (const char* name : {"mini:70b", "other", "hf.co/someone/other"}) {
    INFO(name);
    const Outcome outcome = ask(name);
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "clef: " + std::string(name) +
                             ": there is no such file or directory, and Ollama's store on this machine has no model of "
                             "that name; 'ollama pull " +
                             name + "' fetches it\n");
  }
  // No names: paths stay paths.
  for (const char* name : {"../mini", "a/b/c/d", "mini:", "./mini.gguf"}) {
    INFO(name);
    const Outcome outcome = ask(name);
    CHECK(outcome.status == 1);
    CHECK(outcome.err.find("ollama") == std::string::npos);
  }
  REQUIRE(unsetenv("OLLAMA_MODELS") == 0);
}
