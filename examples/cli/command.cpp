#include "command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "ollama.hpp"
#include "terminal.hpp"

namespace cli {

std::filesystem::path native(const std::string& utf8) {
  return std::filesystem::path(std::u8string(utf8.begin(), utf8.end()));
}

namespace {

void complain_about(const std::string& path, int reason) {
  complain("cannot read '" + path + "': " + (reason != 0 ? std::strerror(reason) : "it is not a readable file"));
}

// Opens `path` in `file`, or stdin for "-"; complains and returns null when that fails.
std::istream* open_input(const std::string& path, std::ifstream& file) {
  if (path == "-") return &std::cin;
  std::error_code ignored;
  if (std::filesystem::is_directory(native(path), ignored)) {
    complain_about(path, EISDIR);
    return nullptr;
  }
  errno = 0;
  file.open(native(path), std::ios::binary);
  if (file) return &file;
  complain_about(path, errno);
  return nullptr;
}

}  // namespace

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void complain(std::string_view message) {
  const std::string line = "clef: " + printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain(const clef::Error& error, std::string_view context) {
  std::string text(context);
  if (!text.empty()) text += ": ";
  const std::string_view message = error.message();
  const auto named = [&](std::string_view what) { return what.empty() || message.find(what) != message.npos; };
  if (!named(error.file())) text.append(error.file()).append(": ");
  if (!named(error.tensor())) text.append("tensor '").append(error.tensor()).append("': ");
  if (error.at() && !named(*error.at())) text.append("at ").append(*error.at()).append(": ");
  complain(text.append(message));
}

std::optional<std::string> read_input(const std::string& path) {
  std::ifstream file;
  std::istream* in = open_input(path, file);
  if (in == nullptr) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(*in), {});
  if (!in->bad()) return text;
  complain_about(path, errno);
  return std::nullopt;
}

bool read_lines(const std::string& path, const std::function<void(std::size_t number, const std::string& line)>& line) {
  std::ifstream file;
  std::istream* in = open_input(path, file);
  if (in == nullptr) return false;
  std::string text;
  for (std::size_t number = 1; std::getline(*in, text); ++number) {
    if (text.find_first_not_of(" \t\r") != text.npos) line(number, text);
  }
  if (!in->bad()) return true;
  complain_about(path, errno);
  return false;
}

void add_pre_tokenizer(CLI::App& command, std::string& rule) {
  command.add_option("--pre-tokenizer", rule, "Rule for splitting text: auto (what the files state), qwen2, qwen35")
      ->check(CLI::IsMember({"auto", "qwen2", "qwen35"}));
}

void add_model_arguments(CLI::App& command, ModelArguments& arguments) {
  command.add_option("MODEL", arguments.model, "GGUF file, directory of a release, or NAME:TAG in Ollama's store")
      ->required();
  command.add_option("--head", arguments.head, "Decision head, when it lies elsewhere (file or directory)");
  command.add_option("--mmproj", arguments.mmproj, "Vision part, when it lies elsewhere");
  command.add_option("--compute", arguments.compute, "Arithmetic: auto, exact (f32), bf16, int8")
      ->check(CLI::IsMember({"auto", "exact", "bf16", "int8"}));
  command.add_option("--threads", arguments.threads, "Threads to use; 0: what the machine allows")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  add_pre_tokenizer(command, arguments.pre_tokenizer);
}

void add_picture_arguments(CLI::App& command, DecisionArguments& arguments, const std::string& help) {
  command.add_option("--image", arguments.images, help)
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  command.add_flag("--no-exif", arguments.no_exif, "Ignore the EXIF orientation of pictures");
  command.add_option("--alpha", arguments.alpha, "Transparent pictures: white (put on white), drop")
      ->check(CLI::IsMember({"white", "drop"}));
  command
      .add_option("--max-image-tokens", arguments.options.max_image_tokens,
                  "Most tokens of a picture, larger ones are scaled down; 0: as the model's processor has it")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  command
      .add_option("--max-image-pixels", arguments.options.max_image_pixels,
                  "Most pixels of a picture as it is given; 0: 16777216")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
}

bool add_media(clef::State& state, const DecisionArguments& arguments) {
  for (const std::string& path : arguments.images) {
    const std::optional<std::string> bytes = read_input(path);
    if (!bytes) return false;
    if (auto added = state.add_image(bytes->data(), bytes->size()); !added) {
      complain(added.error(), path);
      return false;
    }
  }
  return true;
}

void add_decision_arguments(CLI::App& command, DecisionArguments& arguments) {
  command.add_option("--max-tokens", arguments.options.max_tokens, "Most tokens of a prompt; 0: the model's limit")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  command
      .add_option("--truncate", arguments.truncate,
                  "What happens to a state that is too long: never (it is refused), state-tail (its end is dropped)")
      ->check(CLI::IsMember({"never", "state-tail"}));
  command.add_flag("--control-tokens", arguments.options.control_tokens,
                   "Text such as <|im_end|> becomes the control token");
  command.add_option("--chunk", arguments.options.chunk, "Tokens per chunk of a layer; never changes an answer")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  add_picture_arguments(command, arguments, "A picture (PNG, JPEG, WebP) before the text; may be given several times");
  command.add_flag("--strict", arguments.options.strict, "Refuse unknown fields and missing instructions");
}

clef::Options decision_options(const DecisionArguments& arguments) {
  clef::Options options = arguments.options;
  options.exif = !arguments.no_exif;
  if (arguments.truncate == "state-tail") options.truncation = clef::Truncation::state_tail;
  if (arguments.alpha == "drop") options.alpha = clef::Alpha::drop;
  if (arguments.confidence == "jev") options.confidence = clef::Confidence::jev;
  if (arguments.confidence == "entropy") options.confidence = clef::Confidence::entropy;
  return options;
}

std::optional<clef::Source> open_source(const clef::Runtime& runtime, const ModelArguments& arguments) {
  auto source = clef::Source::create(runtime);
  if (!source) {
    complain(source.error());
    return std::nullopt;
  }
  std::string missing;
  const std::string model = resolve_model(arguments.model, missing);
  if (!missing.empty()) {
    complain(missing);
    return std::nullopt;
  }
  for (const auto& [name, path] :
       {std::pair("", &model), std::pair("head", &arguments.head), std::pair("mmproj", &arguments.mmproj)}) {
    if (path->empty() && path != &model) continue;
    if (auto added = source->add_path(*path, name); !added) {
      complain(added.error());
      return std::nullopt;
    }
  }
  return std::move(*source);
}

std::optional<clef::Model> load_model(const ModelArguments& arguments) {
  clef::RuntimeOptions runtime_options;
  runtime_options.threads = arguments.threads;
  auto runtime = clef::Runtime::create(runtime_options);
  if (!runtime) {
    complain(runtime.error());
    return std::nullopt;
  }
  std::optional<clef::Source> source = open_source(*runtime, arguments);
  if (!source) return std::nullopt;
  ProgressLine progress;
  clef::LoadOptions options;
  options.compute = arguments.compute;
  options.pre_tokenizer = arguments.pre_tokenizer;
  options.on_progress = progress.function();
  auto model = clef::Model::load(*runtime, *source, options);
  progress.erase();
  if (!model) {
    complain(model.error());
    return std::nullopt;
  }
  return std::move(*model);
}

}  // namespace cli
