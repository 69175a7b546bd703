// clef-bench prefill
#include <cstdio>
#include <map>
#include <memory>

#include "commands.hpp"
#include "peaks.hpp"
#include "prefill.hpp"
#include "report.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model, tokens = "128,512,2048", threads = default_threads(), compute = "auto", svg;
  unsigned repeats = 3;
  bool json = false, copy = false;
};

struct Row {
  Pass pass;
  unsigned threads = 0;
  std::string asked, compute;  // the kind asked for, and what the model says it uses
  double gops = 0, share = 0;  // share of the peak; 0: there is none to compare with
  double tokens_per_second() const { return pass.tokens / pass.seconds; }
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

class Measurement {
 public:
  explicit Measurement(const Arguments& arguments) : arguments_(arguments) {}

  // The exit status.
  int run() {
    const std::vector<unsigned> lengths = parse_list(arguments_.tokens, "--tokens");
    bool complete = true;
    for (const unsigned threads : parse_list(arguments_.threads, "--threads")) {
      peaks_[threads] = measure_peaks(threads);
      for (const std::string& compute : split(arguments_.compute)) complete &= measure(threads, compute, lengths);
    }
    if (arguments_.json) {
      std::puts(json().dump(2).c_str());
    } else {
      print();
    }
    if (!arguments_.svg.empty()) complete &= write_file(arguments_.svg, picture());
    return complete ? 0 : 1;
  }

 private:
  bool measure(unsigned threads, const std::string& compute, const std::vector<unsigned>& lengths) {
    clef::RuntimeOptions runtime_options;
    runtime_options.threads = threads;
    auto runtime = clef::Runtime::create(runtime_options);
    if (!runtime) return failed(runtime.error());
    clef::LoadOptions load;
    load.compute = compute;
    load.copy_weights = arguments_.copy;
    auto model = clef::Model::load(*runtime, arguments_.model, load);
    if (!model) return failed(model.error());
    auto session = model->session();
    if (!session) return failed(session.error());
    about_ = nlohmann::json::parse(model->describe());
    operations_ = operations_per_token(about_.at("geometry"));
    for (const unsigned tokens : lengths) {
      Row row;
      row.pass = measure_pass(*model, *session, tokens, arguments_.repeats);
      row.threads = threads, row.asked = compute;
      row.compute = about_.value("compute", compute);
      row.gops = row.tokens_per_second() * operations_ / 1e9;
      const Peak* peak = peak_for(peaks_[threads], row.compute);
      if (peak) row.share = row.gops * 1e9 / peak->per_second;
      rows_.push_back(std::move(row));
    }
    return true;
  }
  static bool failed(const clef::Error& error) { return complain(std::string(error.message())), false; }

  Json json() const {
    Json rows = Json::array(), peaks = Json::array();
    for (const Row& row : rows_) {
      const Pass& pass = row.pass;
      rows.push_back({{"tokens", pass.tokens},
                      {"threads", row.threads},
                      {"compute", row.compute},
                      {"asked", row.asked},
                      {"seconds", pass.seconds},
                      {"tokens_per_second", row.tokens_per_second()},
                      {"gops", row.gops},
                      {"share_of_peak", row.share > 0 ? Json(row.share) : Json()},
                      {"prefill_seconds", pass.prefill_seconds},
                      {"head_seconds", pass.head_seconds},
                      {"peak_bytes", pass.peak},
                      {"estimate_bytes", pass.estimate},
                      {"scratch_bytes", pass.scratch},
                      {"estimate_scratch_bytes", pass.estimate_scratch},
                      {"major_faults", pass.best.major_faults},
                      {"minor_faults", pass.best.minor_faults},
                      {"system_seconds", pass.best.system_seconds},
                      {"first_seconds", pass.first_seconds},
                      {"first_major_faults", pass.first.major_faults},
                      {"first_minor_faults", pass.first.minor_faults},
                      {"first_system_seconds", pass.first.system_seconds}});
    }
    for (const auto& [threads, list] : peaks_)
      for (const Peak& peak : list)
        peaks.push_back(
            {{"kind", peak.kind}, {"threads", threads}, {"how", peak.how}, {"per_second", peak.per_second}});
    return {{"model", about_.value("name", "")},
            {"kernels", about_.value("kernels", "")},
            {"gop_per_token", operations_ / 1e9},
            {"peaks", peaks},
            {"rows", rows}};
  }

  void print() const {
    if (rows_.empty()) return;
    std::printf("%s, kernels %s, %.3f GOP per token\n", about_.value("name", "").c_str(),
                about_.value("kernels", "").c_str(), operations_ / 1e9);
    for (const auto& [threads, list] : peaks_) {
      std::string text = "peaks, " + std::to_string(threads) + (threads == 1 ? " thread:" : " threads:");
      for (const Peak& peak : list)
        text += "  " + peak.kind + " " + number("%.0f", peak.per_second / 1e9) + (peak.kind == "memory" ? " GB/s" : "");
      std::puts((text + " (GOP/s)").c_str());
    }
    std::vector<std::vector<std::string>> table = {{"tokens", "threads", "compute", "s", "tokens/s", "GOP/s", "of peak",
                                                    "first s", "its faults", "its system s", "faults", "peak MiB",
                                                    "scratch MiB", "estimated"}};
    const auto mebibytes = [](uint64_t bytes) { return number("%.0f", static_cast<double>(bytes) / 1048576); };
    const auto faults = [](const Usage& usage) {
      return std::to_string(usage.minor_faults) + "+" + std::to_string(usage.major_faults);
    };
    for (const Row& row : rows_) {
      const Pass& pass = row.pass;
      table.push_back({std::to_string(pass.tokens), std::to_string(row.threads), row.compute,
                       number("%.3f", pass.seconds), number("%.1f", row.tokens_per_second()), number("%.1f", row.gops),
                       row.share > 0 ? number("%.1f %%", 100 * row.share) : "-", number("%.3f", pass.first_seconds),
                       faults(pass.first), number("%.2f", pass.first.system_seconds), faults(pass.best),
                       mebibytes(pass.peak), mebibytes(pass.scratch), mebibytes(pass.estimate_scratch)});
    }
    print_table(table);
  }

  std::string picture() const {
    std::vector<Series> series;
    for (const Row& row : rows_) {
      const std::string name =
          row.compute + ", " + std::to_string(row.threads) + (row.threads == 1 ? " thread" : " threads");
      if (series.empty() || series.back().name != name) series.push_back({name, {}, {}});
      series.back().x.push_back(row.pass.tokens);
      series.back().y.push_back(row.tokens_per_second());
    }
    return line_chart(about_.value("name", ""), "tokens of the prompt", "tokens per second", series);
  }

  const Arguments& arguments_;
  std::map<unsigned, std::vector<Peak>> peaks_;  // by number of threads
  std::vector<Row> rows_;
  nlohmann::json about_;
  double operations_ = 0;
};

}  // namespace

void add_prefill(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("prefill", "Time whole decisions of given lengths");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("model", arguments->model, "a GGUF file or a release directory")->required();
  command->add_option("--tokens", arguments->tokens, "lengths of the prompt")->capture_default_str();
  command->add_option("--threads", arguments->threads, "numbers of threads")->capture_default_str();
  command->add_option("--compute", arguments->compute, "kinds: auto, exact, bf16, int8")->capture_default_str();
  command->add_option("--repeat", arguments->repeats, "passes after the first, the best of which counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--copy", arguments->copy, "copy the weights into memory instead of mapping the file");
  command->add_flag("--json", arguments->json, "JSON instead of a table");
  command->add_option("--svg", arguments->svg, "a picture of speed against tokens");
  command->callback([arguments, &action] { action = [arguments] { return Measurement(*arguments).run(); }; });
}

}  // namespace bench
