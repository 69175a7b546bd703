// clef ask: questions given as arguments, a table for people.
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

struct Question {
  clef::QuestionType type = clef::QuestionType::noul;
  std::string text;
  std::vector<std::string> options;  // as given; levels of a score
};

struct Arguments {
  ModelArguments model;
  DecisionArguments decision;
  std::string state;
  bool json = false, table = false;
  std::vector<std::string> raw;  // filled by the parser, read from its options
  std::vector<Question> questions;
};

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1));
}

// "text=a,b,c", split at the last '='.
Question parse_question(clef::QuestionType type, const std::string& argument, const std::string& flag) {
  Question question{type, trimmed(argument), {}};
  if (type != clef::QuestionType::noul) {
    const std::size_t equals = argument.rfind('=');
    if (equals == argument.npos)
      throw CLI::ValidationError(flag, "'" + argument + "' has no '=' before the options; write \"question=a,b,c\"");
    question.text = trimmed(std::string_view(argument).substr(0, equals));
    for (std::size_t begin = equals + 1; begin <= argument.size();) {
      const std::size_t end = std::min(argument.find(',', begin), argument.size());
      question.options.push_back(trimmed(std::string_view(argument).substr(begin, end - begin)));
      if (question.options.back().empty())
        throw CLI::ValidationError(flag, "'" + argument + "' has an empty option; write \"question=a,b,c\"");
      begin = end + 1;
    }
  }
  if (question.text.empty()) throw CLI::ValidationError(flag, "the question is empty");
  return question;
}

// Questions of all three kinds in the order of the command line, which is their order in the prompt.
std::vector<Question> parse_questions(const CLI::App& command) {
  static constexpr std::pair<const char*, clef::QuestionType> kFlags[] = {{"--yes-no", clef::QuestionType::noul},
                                                                          {"--choice", clef::QuestionType::choice},
                                                                          {"--score", clef::QuestionType::score}};
  std::vector<Question> questions;
  std::size_t used[3] = {0, 0, 0};
  for (const CLI::Option* option : command.parse_order()) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (option != command.get_option(kFlags[k].first)) continue;
      questions.push_back(parse_question(kFlags[k].second, option->results().at(used[k]++), kFlags[k].first));
    }
  }
  if (questions.empty()) throw CLI::RequiredError("at least one of --yes-no, --choice, --score");
  return questions;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::optional<clef::State> make_state(const std::string& argument) {
  const bool from_file = argument == "-" || (argument.size() > 1 && argument[0] == '@');
  const std::string path = argument == "-" ? argument : argument.substr(from_file ? 1 : 0);
  std::optional<std::string> text = from_file ? read_input(path) : argument;
  if (!text) return std::nullopt;
  auto state = from_file && ends_with(path, ".json") ? clef::State::json(*text) : clef::State::text(*text);
  if (!state) {
    complain(state.error(), from_file ? path : "");
    return std::nullopt;
  }
  return std::move(*state);
}

clef::Result<clef::Schema> make_schema(const std::vector<Question>& questions, const clef::Options& options) {
  clef::SchemaBuilder builder(options);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    const std::string id = "q" + std::to_string(i + 1);
    if (question.type == clef::QuestionType::noul) {
      builder.noul(id, question.text);
    } else if (question.type == clef::QuestionType::choice) {
      builder.choice(id, question.text,
                     std::vector<clef::ChoiceOption>(question.options.begin(), question.options.end()));
    } else {
      builder.score(id, question.text, std::vector<std::string_view>(question.options.begin(), question.options.end()));
    }
  }
  return builder.build();
}

std::string number(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// What the options of a question are called in the table.
std::vector<std::string> option_names(const Question& question) {
  if (question.type == clef::QuestionType::noul) return {"yes", "no"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < question.options.size(); ++i)
    names.push_back((question.type == clef::QuestionType::score ? std::to_string(i) + "  " : "") +
                    printable(question.options[i]));
  return names;
}

// The answer's options, its winner marked, names padded to `widest`.
void print_answer(const Question& question, const clef::Answer& answer, std::size_t widest, std::size_t bar_width) {
  std::string title = printable(question.text);
  if (question.type == clef::QuestionType::score)
    title += "  (" + number(answer.score(), 2) + " on 0 to " + std::to_string(question.options.size() - 1) + ")";
  print(title + "\n");
  const std::vector<std::string> names = option_names(question);
  const clef::View<float> probabilities = answer.probabilities().values();
  for (std::size_t i = 0; i < names.size() && i < probabilities.size(); ++i) {
    const double p = static_cast<double>(probabilities[i]);
    std::string line = i == answer.top() ? "> " : "  ";
    const std::string percent = number(100 * p, 1);
    line.append(fitted(names[i], widest)).append(2 + (percent.size() < 5 ? 5 - percent.size() : 0), ' ');
    line.append(percent).append(" %  ").append(bar(p, bar_width));
    print(line.erase(line.find_last_not_of(' ') + 1) + "\n");
  }
  print("\n");
}

void print_table(const Arguments& arguments, const clef::Decision& decision) {
  const std::size_t width = std::clamp<std::size_t>(terminal_width(), 40, 100);
  std::size_t widest = 0;
  for (const Question& question : arguments.questions)
    for (const std::string& name : option_names(question)) widest = std::max(widest, columns(name));
  widest = std::min(widest, width / 2);
  const std::size_t bar_width = std::min<std::size_t>(40, width - widest - 14);
  for (std::size_t i = 0; i < arguments.questions.size(); ++i)
    print_answer(arguments.questions[i], decision[i], widest, bar_width);
  const nlohmann::json response = nlohmann::json::parse(decision.json(), nullptr, false);
  std::string footer;
  if (response.is_object() && response.contains("model") && response["model"].is_string())
    footer = printable(response["model"].get<std::string>()) + ", ";
  footer += std::to_string(decision.input_tokens()) + " tokens";
  if (decision.tokens_dropped() != 0)
    footer += " (" + std::to_string(decision.tokens_dropped()) + " more of the state's end were not read)";
  using clef::Stage;
  std::chrono::nanoseconds time{};
  for (const Stage stage : {Stage::decode, Stage::scale, Stage::vision, Stage::prefill, Stage::head})
    time += decision.time(stage);
  const double milliseconds = std::chrono::duration<double, std::milli>(time).count();
  footer += milliseconds < 1000 ? ", " + number(milliseconds, milliseconds < 10 ? 1 : 0) + " ms\n"
                                : ", " + number(milliseconds / 1000, 1) + " s\n";
  print(footer);
}

int run(const Arguments& arguments) {
  clef::Options options = decision_options(arguments.decision);
  std::optional<clef::State> state = make_state(arguments.state);
  if (!state || !add_media(*state, arguments.decision)) return kFailed;
  auto schema = make_schema(arguments.questions, options);
  if (!schema) {
    complain(schema.error());
    return kFailed;
  }
  std::optional<clef::Model> model = load_model(arguments.model);
  if (!model) return kFailed;
  ProgressLine progress;
  options.on_progress = progress.function();
  auto decision = model->decide(*schema, *state, options);
  progress.erase();
  if (!decision) {
    complain(decision.error());
    return kFailed;
  }
  const bool terminal = is_terminal(stdout);
  if (arguments.table || (terminal && !arguments.json)) {
    print_table(arguments, *decision);
  } else {
    print((terminal ? pretty_json(decision->json()) : std::string(decision->json())) + "\n");
  }
  return kOk;
}

}  // namespace

void add_ask(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("ask", "Ask questions about one text, with or without pictures");
  add_model_arguments(*command, arguments->model);
  command->add_option(
      "--state", arguments->state,
      "What is judged: a text, @FILE (a .json file is taken as JSON), or - for stdin; may be left out with "
      "--image");
  const auto add_question = [&](const char* flag, const char* help, const char* form) {
    command->add_option(flag, arguments->raw, help)
        ->type_name(form)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->allow_extra_args(false);
  };
  add_question("--yes-no", "A yes/no question", "TEXT");
  add_question("--choice", "A question with options; the text ends at the last '='", "TEXT=A,B,...");
  add_question("--score", "A question with levels from low to high", "TEXT=LOW,...,HIGH");
  command->add_flag("--json", arguments->json, "Print the response as JSON (the default when stdout is no terminal)");
  command->add_flag("--table", arguments->table, "Print the table in any case")->excludes("--json");
  add_decision_arguments(*command, arguments->decision);
  command->footer(
      "Questions are decided jointly, in the order given, under the ids q1, q2, ... (ids are part of the prompt).\n"
      "\nExamples:\n"
      "  clef ask clef-flash.gguf --state \"I was charged twice.\" --yes-no \"Is a refund requested?\"\n"
      "  clef ask clef-flash.gguf --state @mail.txt --choice \"Which team?=billing,technical,shipping\" \\\n"
      "       --score \"How urgent is it?=can wait,this week,today\"\n"
      "  clef ask clef-flash/ --image invoice.jpg --yes-no \"Is the total above 100 euros?\"\n"
      "  cat mail.txt | clef ask clef-flash.gguf --state - --yes-no \"Is this spam?\" --json");
  command->callback([command, arguments, &action] {
    if (command->count("--state") == 0 && arguments->decision.images.empty()) throw CLI::RequiredError("--state");
    arguments->questions = parse_questions(*command);
    action = [arguments] { return run(*arguments); };
  });
}

}  // namespace cli
