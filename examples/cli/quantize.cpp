// clef quantize: a model as one GGUF file, smaller or in another type.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  ModelArguments model;  // only the paths and threads
  std::string out, type = "Q4_K_M", architecture, head_type, importance;
  std::vector<std::string> tensor_types;
  bool pure = false, overwrite = false, json = false;
};

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

void print_report(const Json& report) {
  std::vector<std::vector<std::string>> rows = {{"type", "tensors", "bytes", "bits per weight"}};
  const auto add = [&](const std::string& name, const Json& item, const char* bytes) {
    const double weights = std::max(item.value("weights", 0.0), 1.0), size = item.value(bytes, 0.0);
    rows.push_back({name, std::to_string(item.value("tensors", 0)), bytes_text(size), decimal(8 * size / weights)});
  };
  for (const Json& type : report.value("types", Json::array())) add(printable(type.value("type", "")), type, "bytes");
  add("all", report, "tensor_bytes");
  print_rows(rows, "  ");
  print("\n" + printable(report.value("file", "")) + ": " + bytes_text(report.value("file_bytes", 0.0)) + " in " +
        decimal(report.value("seconds", 0.0)) + " s\n");
  for (const Json& note : report.value("notes", Json::array())) print(printable(note.get<std::string>()) + "\n");
}

// PATTERN=TYPE, into views of the arguments; complains when it is something else.
bool split_rules(const Arguments& arguments, std::vector<clef::TensorType>& rules) {
  for (const std::string& rule : arguments.tensor_types) {
    const std::size_t equals = rule.rfind('=');
    if (equals == rule.npos || equals == 0 || equals + 1 == rule.size()) {
      complain("--tensor-type '" + rule + "': give PATTERN=TYPE, such as 'blk.*.ffn_down.weight=Q6_K'");
      return false;
    }
    rules.push_back({std::string_view(rule).substr(0, equals), std::string_view(rule).substr(equals + 1)});
  }
  return true;
}

int run(const Arguments& arguments) {
  clef::QuantizeOptions options;
  if (!split_rules(arguments, options.tensor_types)) return kUsage;
  clef::RuntimeOptions runtime_options;
  runtime_options.threads = arguments.model.threads;
  auto runtime = clef::Runtime::create(runtime_options);
  if (!runtime) {
    complain(runtime.error());
    return kFailed;
  }
  std::optional<clef::Source> source = open_source(*runtime, arguments.model);
  if (!source) return kFailed;
  ProgressLine progress;
  options.type = arguments.type;
  options.pure = arguments.pure;
  options.architecture = arguments.architecture;
  options.head_type = arguments.head_type;
  options.importance = arguments.importance;
  options.overwrite = arguments.overwrite;
  options.on_progress = progress.function();
  auto report = clef::quantize(*runtime, *source, arguments.out, options);
  progress.erase();
  if (!report) {
    complain(report.error());
    std::error_code ignored;
    if (report.error().status() == clef::Status::io &&
        std::filesystem::exists(native(arguments.out + ".part"), ignored))
      complain("what was written stays in " + arguments.out + ".part; the same command goes on with it");
    return kFailed;
  }
  if (arguments.json) {
    print((is_terminal(stdout) ? pretty_json(*report) : *report) + "\n");
    return kOk;
  }
  const Json parsed = Json::parse(*report, nullptr, false);
  if (parsed.is_object()) print_report(parsed);
  return kOk;
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("quantize", "Write a model as one GGUF file, quantized or not");
  command->add_option("SRC", arguments->model.model, "GGUF file, directory of a release, or NAME:TAG in Ollama's store")
      ->required();
  command->add_option("OUT", arguments->out, "The GGUF file to write")->required();
  command->add_option("--type", arguments->type,
                      "Q4_K_M (default), Q8_0, Q6_K, Q5_K_M, Q4_K_S, Q3_K_M, Q2_K, Q4_0,\n"
                      "IQ4_XS, BF16, F16, F32, ...: the mixtures of llama.cpp");
  command->add_flag("--pure", arguments->pure, "One type for all matrices, not the mixture of that name");
  command
      ->add_option("--tensor-type", arguments->tensor_types,
                   "Type of some matrices, by names of the file; * and ? stand for others; later ones win")
      ->type_name("PATTERN=TYPE")
      ->allow_extra_args(false);
  command->add_option("--head-type", arguments->head_type,
                      "Type of the decision head's matrices, or 'mixture'; by default it stays precise (Q8_0)");
  command->add_option("--imatrix", arguments->importance, "Importance matrix of llama.cpp (.dat or .gguf)");
  command->add_option("--arch", arguments->architecture, "clef, or qwen35: the backbone alone, for other programs")
      ->check(CLI::IsMember({"clef", "qwen35"}));
  command->add_option("--head", arguments->model.head, "Decision head, when it lies elsewhere (file or directory)");
  command->add_option("--threads", arguments->model.threads, "Threads to use; 0: what the machine allows")
      ->type_name("N")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  command->add_flag("--overwrite", arguments->overwrite, "Replace OUT when it exists");
  command->add_flag("--json", arguments->json, "The report as JSON");
  command->footer(
      "The work is done in OUT.part, which is read back and compared before it becomes OUT. When a run was stopped, "
      "the\n"
      "same command goes on where it was.\n"
      "\nExamples:\n"
      "  clef quantize clef-flash/ clef-flash-q4_k_m.gguf\n"
      "  clef quantize clef-flash/ clef-flash-q8_0.gguf --type Q8_0\n"
      "  clef quantize clef-flash-bf16.gguf small.gguf --type IQ4_XS --imatrix clef-flash.imatrix.gguf\n"
      "  clef quantize clef-flash/ mine.gguf --tensor-type 'blk.*.attn_*=Q8_0' --tensor-type output.weight=Q6_K");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
