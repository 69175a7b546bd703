// The clef command: decisions of Clef and Clef-Flash in a shell.
#include <cstdio>
#include <exception>
#include <iostream>

#include "command.hpp"

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

namespace {

int parse_and_run(int count, char** arguments) {
  CLI::App app("clef: decisions of the models Clef and Clef-Flash on your own machine", "clef");
  app.set_version_flag("--version", "clef " + std::string(clef::library_version()));
  app.require_subcommand(1);
  app.allow_windows_style_options(false);
  app.footer(
      "Exit status: 0 done, 1 refused or failed (reasons on stderr), 2 wrong arguments.\n"
      "`clef COMMAND --help` shows the options of a command and examples.");
  cli::Action action;
  cli::add_ask(app, action);
  cli::add_decide(app, action);
  cli::add_prompt(app, action);
  cli::add_tokenize(app, action);
  cli::add_inspect(app, action);
  cli::add_quantize(app, action);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::vector<std::string> unknown = app.remaining();
    if (app.get_subcommands().empty() && !unknown.empty()) {
      cli::complain("there is no command or option '" + unknown[0] + "'");
    } else {
      cli::complain(error.what());
    }
    std::fputs("Run `clef --help` or `clef COMMAND --help` for the arguments.\n", stderr);
    return cli::kUsage;
  }
  const int status = action();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  cli::complain("the output could not be written");
  return cli::kFailed;
}

}  // namespace

int main(int count, char** arguments) {
#if defined(_WIN32)
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
#endif
  std::ios::sync_with_stdio(false);
  try {
    return parse_and_run(count, arguments);
  } catch (const std::exception& error) {
    cli::complain(error.what());
    return cli::kFailed;
  }
}
