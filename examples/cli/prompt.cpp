// clef prompt: what the model reads.
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

struct Arguments {
  ModelArguments model;
  DecisionArguments decision;
  std::string request;
  bool json = false;
};

int run(const Arguments& arguments) {
  std::optional<std::string> request = read_input(arguments.request);
  if (!request) return kFailed;
  std::optional<clef::Model> model = load_model(arguments.model);
  if (!model) return kFailed;
  auto prompt = model->prompt_json(*request, decision_options(arguments.decision));
  if (!prompt) {
    complain(prompt.error(), arguments.request == "-" ? "stdin" : arguments.request);
    return kFailed;
  }
  if (arguments.json) {
    print((is_terminal(stdout) ? pretty_json(*prompt) : *prompt) + "\n");
    return kOk;
  }
  const nlohmann::json parsed = nlohmann::json::parse(*prompt, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("pieces")) {
    complain("the prompt could not be read back");
    return kFailed;
  }
  for (const nlohmann::json& piece : parsed["pieces"]) print(piece.value("text", std::string()));
  if (is_terminal(stdout)) print("\n");
  return kOk;
}

}  // namespace

void add_prompt(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("prompt", "Show the prompt of a request exactly as the model reads it");
  add_model_arguments(*command, arguments->model);
  command->add_option("REQUEST", arguments->request, "A request (.json), or - for stdin")->required();
  command->add_flag("--json", arguments->json, "The pieces with role, text, token ids and whether they are scaffold");
  add_decision_arguments(*command, arguments->decision);
  command->footer(
      "The pieces are tokenized one by one; --json shows their ids. A cut state is shown whole, with the ids in use.\n"
      "\nExamples:\n"
      "  clef prompt clef-flash.gguf request.json\n"
      "  clef prompt clef-flash.gguf request.json --json | jq '.pieces[] | {role, n: (.ids | length)}'");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
