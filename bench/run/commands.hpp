// The subcommands of clef-bench.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace bench {

using Action = std::function<int()>;  // returns the exit status

void add_peaks(CLI::App& app, Action& action);
void add_prefill(CLI::App& app, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_picture(CLI::App& app, Action& action);

}  // namespace bench
