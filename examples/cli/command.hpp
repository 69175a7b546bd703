// What the subcommands share: arguments, files, errors. The command uses nothing but clef.h and include/clef.
#pragma once
#include <CLI/CLI.hpp>
#include <clef/clef.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Exit statuses of the command.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;  // refused, or something could not be read
inline constexpr int kUsage = 2;

// What a subcommand does once the arguments are parsed; set by its callback.
using Action = std::function<int()>;

void add_ask(CLI::App& app, Action& action);
void add_decide(CLI::App& app, Action& action);
void add_prompt(CLI::App& app, Action& action);
void add_tokenize(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_quantize(CLI::App& app, Action& action);

// Which files, and how they are loaded.
struct ModelArguments {
  std::string model, head, mmproj, compute, pre_tokenizer;
  std::uint32_t threads = 0;
};
void add_model_arguments(CLI::App& command, ModelArguments& arguments);
void add_pre_tokenizer(CLI::App& command, std::string& rule);
// Reports what went wrong on stderr and returns nothing.
std::optional<clef::Source> open_source(const clef::Runtime& runtime, const ModelArguments& arguments);
std::optional<clef::Model> load_model(const ModelArguments& arguments);

// How a prompt is made and a decision computed.
struct DecisionArguments {
  clef::Options options;
  std::string truncate, confidence, alpha;
  std::vector<std::string> images;
  bool no_exif = false;
};
// --image, and how pictures are read.
void add_picture_arguments(CLI::App& command, DecisionArguments& arguments, const std::string& help);
void add_decision_arguments(CLI::App& command, DecisionArguments& arguments);
clef::Options decision_options(const DecisionArguments& arguments);
// The pictures that were named; false after a complaint.
bool add_media(clef::State& state, const DecisionArguments& arguments);

// "clef: message" on stderr, with file, tensor and place where the message does not name them. `context` comes first.
void complain(std::string_view message);
void complain(const clef::Error& error, std::string_view context = {});
// A whole file, or stdin for "-"; complains and returns nothing when it cannot be read.
std::optional<std::string> read_input(const std::string& path);
// Calls `line` for each line of a file or of stdin that is not blank, with its number from 1. False (after a complaint)
// when the file cannot be read.
bool read_lines(const std::string& path, const std::function<void(std::size_t number, const std::string& line)>& line);
std::filesystem::path native(const std::string& utf8);
void print(std::string_view text);  // to stdout

}  // namespace cli
