// clef decide: requests as JSON, one response per request.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

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

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) group = group << 8 | (j < left ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= left ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

// The pictures as the value of "images"; empty without any.
bool read_images(const std::vector<std::string>& paths, std::string& value) {
  for (const std::string& path : paths) {
    const std::optional<std::string> bytes = read_input(path);
    if (!bytes) return false;
    value += (value.empty() ? "[\"" : ",\"") + base64(*bytes) + "\"";
  }
  if (!value.empty()) value += "]";
  return true;
}

// Adds the member to the text as it stands, so that no number of the request is rewritten.
bool put_images(std::string& request, const std::string& value) {
  const nlohmann::json parsed = nlohmann::json::parse(request, nullptr, false);
  const std::size_t end = request.find_last_not_of(" \t\r\n");
  if (!parsed.is_object() || parsed.contains("images") || end == request.npos || request[end] != '}') return false;
  request.insert(end, (parsed.empty() ? "\"images\":" : ",\"images\":") + value);
  return true;
}

// Answers requests one by one and remembers whether one was refused.
class Responder {
 public:
  Responder(clef::Session session, const clef::Options& options, std::string images)
      : session_(std::move(session)), options_(options), images_(std::move(images)) {
    options_.on_progress = progress_.function();
  }

  void respond(std::string request, const std::string& place) {
    if (!images_.empty() && !put_images(request, images_)) {
      refused_ = true;
      complain(place + ": has images of its own, or is no JSON object; --image cannot add to it");
      return;
    }
    auto decision = session_.decide_json(request, options_);
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
  std::string images_;  // the value of "images", for every request
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
  std::string images;
  if (!read_images(arguments.decision.images, images)) return kFailed;
  Responder responder(std::move(*session), decision_options(arguments.decision), std::move(images));
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
