// clef tokenize: token ids of a text.
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"

namespace cli {

namespace {

struct Arguments {
  ModelArguments model;  // only the path and the rule
  std::string file;
  bool lines = false, control = false;
};

std::string joined(const std::vector<std::int32_t>& ids, const char* separator) {
  std::string out;
  for (std::size_t i = 0; i < ids.size(); ++i) out.append(i == 0 ? "" : separator).append(std::to_string(ids[i]));
  return out;
}

// Prints the error in place of the ids and says where on stderr.
void refuse(std::string_view json, const clef::Error* error, std::string_view message, const std::string& place) {
  print(std::string(json) + "\n");
  if (error != nullptr) {
    complain(*error, place);
  } else {
    complain(place + ": " + std::string(message));
  }
}

int tokenize_lines(const Arguments& arguments, const clef::Tokenizer& tokenizer) {
  bool refused = false;
  const std::string name = arguments.file == "-" ? "stdin" : arguments.file;
  const bool read = read_lines(arguments.file, [&](std::size_t number, const std::string& line) {
    const std::string place = name + ":" + std::to_string(number);
    const nlohmann::json text = nlohmann::json::parse(line, nullptr, false);
    if (!text.is_string()) {
      refused = true;
      refuse(R"({"error":{"code":"invalid_json","message":"the line is not a JSON string"}})", nullptr,
             "the line is not a JSON string", place);
      return;
    }
    auto ids = tokenizer.encode(text.get_ref<const std::string&>(), arguments.control);
    if (!ids) {
      refused = true;
      refuse(ids.error().json(), &ids.error(), {}, place);
      return;
    }
    print("[" + joined(*ids, ",") + "]\n");
  });
  return read && !refused ? kOk : kFailed;
}

int run(const Arguments& arguments) {
  auto runtime = clef::Runtime::create();
  if (!runtime) {
    complain(runtime.error());
    return kFailed;
  }
  std::optional<clef::Source> source = open_source(*runtime, arguments.model);
  if (!source) return kFailed;
  const std::string rule = arguments.model.pre_tokenizer.empty() ? "auto" : arguments.model.pre_tokenizer;
  auto tokenizer = clef::Tokenizer::load(*runtime, *source, rule);
  if (!tokenizer) {
    complain(tokenizer.error());
    return kFailed;
  }
  if (arguments.lines) return tokenize_lines(arguments, *tokenizer);
  std::optional<std::string> text = read_input(arguments.file);
  if (!text) return kFailed;
  auto ids = tokenizer->encode(*text, arguments.control);
  if (!ids) {
    complain(ids.error(), arguments.file == "-" ? "stdin" : arguments.file);
    return kFailed;
  }
  print(joined(*ids, " ") + "\n" + std::to_string(ids->size()) + (ids->size() == 1 ? " token\n" : " tokens\n"));
  return kOk;
}

}  // namespace

void add_tokenize(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("tokenize", "Token ids of a text");
  command
      ->add_option("MODEL", arguments->model.model, "Model, directory with a tokenizer.json, tokenizer.json, or GGUF")
      ->required();
  command->add_option("FILE", arguments->file, "A text, or - for stdin")->required();
  command->add_flag("--jsonl", arguments->lines, "One JSON string per line in, one array of ids per line out");
  command->add_flag("--control-tokens", arguments->control, "Text such as <|im_end|> becomes the control token");
  add_pre_tokenizer(*command, arguments->model.pre_tokenizer);
  command->footer(
      "Prints the ids on one line and their number on the next. The text is taken as it is, a final newline included.\n"
      "\nExamples:\n"
      "  printf 'Hello there' | clef tokenize clef-flash.gguf -\n"
      "  clef tokenize tokenizer.json texts.jsonl --jsonl > ids.jsonl");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
