// clef-bench: what the machine can do, and what clef makes of it.
#include <cstdio>
#include <exception>

#include "commands.hpp"
#include "report.hpp"

int main(int count, char** arguments) {
  CLI::App app("clef-bench: speed of clef beside the peaks of the machine", "clef-bench");
  app.require_subcommand(1);
  bench::Action action;
  bench::add_peaks(app, action);
  bench::add_prefill(app, action);
  bench::add_ops(app, action);
  bench::add_picture(app, action);
  CLI11_PARSE(app, count, arguments);
  try {
    return action();
  } catch (const std::exception& error) {
    bench::complain(error.what());
    return 1;
  }
}
