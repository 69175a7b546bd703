// clef-bench peaks
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "peaks.hpp"
#include "report.hpp"

namespace bench {
namespace {

struct Arguments {
  std::string threads = default_threads();
  bool json = false;
};

int run(const Arguments& arguments) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  std::vector<std::vector<std::string>> table = {{"kind", "threads", "per second", "measured with"}};
  for (const unsigned threads : parse_list(arguments.threads, "--threads")) {
    for (const Peak& peak : measure_peaks(threads)) {
      const bool memory = peak.kind == "memory";
      rows.push_back({{"kind", peak.kind}, {"threads", threads}, {"how", peak.how}, {"per_second", peak.per_second}});
      table.push_back({peak.kind, std::to_string(threads),
                       number("%.1f ", peak.per_second / 1e9) + (memory ? "GB" : "GOP"), peak.how});
    }
  }
  if (arguments.json) {
    std::puts(nlohmann::ordered_json({{"rows", rows}}).dump(2).c_str());
  } else {
    print_table(table);
  }
  return 0;
}

}  // namespace

void add_peaks(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("peaks", "Measure the peaks of this machine");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--threads", arguments->threads, "numbers of threads")->capture_default_str();
  command->add_flag("--json", arguments->json, "JSON instead of a table");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace bench
