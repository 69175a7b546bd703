// clef decide: requests as JSON, one response per request.
#include <memory>

#include "command.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

struct Arguments {
  ModelArguments model;
  DecisionArguments decision;
  std::vector<std::string> files;
  bool lines = false;
};

// Answers requests one by one and remembers whether one was refused.
class Responder {
 public:
  Responder(clef::Session session, const clef::Options& options, clef::State media)
      : session_(std::move(session)), options_(options), media_(std::move(media)) {
    options_.on_progress = progress_.function();
  }

  void respond(const std::string& request, const std::string& place) {
    auto decision = session_.decide_json(request, media_, options_);
    progress_.erase();
    if (!decision) {
      refused_ = true;
      if (!terminal_) complain(decision.error(), place);
      print_line(decision.error().json());
      return;
    }
    if (decision->tokens_dropped() != 0)
      complain(place + ": " + std::to_string(decision->tokens_dropped()) +
               " tokens of the state's end were not read (--truncate state-tail)");
    print_line(decision->json());
  }
  bool refused() const { return refused_; }

 private:
  void print_line(std::string_view json) {
    print(terminal_ ? pretty_json(json) + "\n" : std::string(json) + "\n");
    std::fflush(stdout);  // whoever reads a pipe gets each answer when it is there
  }

  clef::Session session_;
  clef::Options options_;
  clef::State media_;  // for every request
  ProgressLine progress_;
  bool terminal_ = is_terminal(stdout);
  bool refused_ = false;
};

int run(const Arguments& arguments) {
  std::optional<clef::Model> model = load_model(arguments.model);
  if (!model) return kFailed;
  auto session = model->session();
  if (!session) {
    complain(session.error());
    return kFailed;
  }
  auto media = clef::State::create();
  if (!media || !add_media(*media, arguments.decision)) return kFailed;
  Responder responder(std::move(*session), decision_options(arguments.decision), std::move(*media));
  bool unread = false;
  for (const std::string& file : arguments.files) {
    const bool lines = arguments.lines || (file.size() > 6 && file.compare(file.size() - 6, 6, ".jsonl") == 0);
    const std::string name = file == "-" ? "stdin" : file;
    if (lines) {
      unread |= !read_lines(file, [&](std::size_t number, const std::string& line) {
        responder.respond(line, name + ":" + std::to_string(number));
      });
    } else if (std::optional<std::string> request = read_input(file)) {
      responder.respond(*request, name);
    } else {
      unread = true;
    }
  }
  return unread || responder.refused() ? kFailed : kOk;
}

}  // namespace

void add_decide(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("decide", "Answer requests given as JSON");
  add_model_arguments(*command, arguments->model);
  command
      ->add_option("FILE", arguments->files,
                   "A request (.json, or - for stdin), or one request per line (.jsonl); blank lines are skipped")
      ->required();
  command->add_flag("--jsonl", arguments->lines, "Take every FILE, also stdin, as one request per line");
  command->add_flag("--detail", arguments->decision.options.detail,
                    "Add token ids, spans, logits and full probabilities to each response");
  command->add_option("--confidence", arguments->decision.confidence, "Formula of \"confidence\": max, jev, entropy")
      ->check(CLI::IsMember({"max", "jev", "entropy"}));
  add_decision_arguments(*command, arguments->decision);
  command->footer(
      "One response per request, on one line each (indented on a terminal). A refused request gets\n"
      "{\"error\":{\"code\",\"message\",\"at\"}} in its place, the others are answered, and the exit status is 1.\n"
      "\nExamples:\n"
      "  clef decide clef-flash.gguf request.json\n"
      "  clef decide clef-flash.gguf requests.jsonl --threads 8 > responses.jsonl\n"
      "  producer | clef decide clef-flash.gguf - --jsonl --truncate state-tail");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
