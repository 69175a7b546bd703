#include "run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/data.hpp"

namespace clef::test {

namespace {

void open_as(int wanted, const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC, 0600);
  if (fd < 0 || dup2(fd, wanted) < 0) _exit(127);
}

pid_t start(const std::vector<std::string>& arguments, const std::string& in, const std::string& out,
            const std::string& err) {
  std::vector<std::string> words = {CLEF_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  char locale[] = "LC_ALL=C.UTF-8";
  // The one variable that tests set.
  std::string store = "OLLAMA_MODELS=";
  const char* const folder = getenv("OLLAMA_MODELS");
  if (folder != nullptr) store += folder;
  char* environment[] = {locale, folder != nullptr ? store.data() : nullptr, nullptr};
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    open_as(0, in.c_str(), O_RDONLY);
    open_as(1, out.c_str(), O_RDWR | O_CREAT | O_NOCTTY);
    open_as(2, err.c_str(), O_RDWR | O_CREAT | O_NOCTTY);
    execve(argv[0], argv.data(), environment);
    _exit(127);
  }
  return child;
}

int wait_for(pid_t child, rusage* usage = nullptr) {
  int status = 0;
  if (wait4(child, &status, 0, usage) != child) throw std::runtime_error("cannot wait");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string temporary_file(const std::string& name, const std::string& content) {
  const std::string path = temporary_directory() + "/" + name;
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path);
  return path;
}

Outcome run(const std::vector<std::string>& arguments, const std::string& input) {
  const std::string directory = temporary_directory();
  const std::string out = directory + "/out", err = directory + "/err";
  Outcome outcome;
  const std::string in = temporary_file("in", input);
  rusage usage = {};
  const auto begin = std::chrono::steady_clock::now();
  outcome.status = wait_for(start(arguments, in, out, err), &usage);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
#ifdef __APPLE__
  outcome.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss);
#else
  outcome.peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
#endif
  outcome.out = read_file(out);
  outcome.err = read_file(err);
  return outcome;
}

Outcome run_into(const std::string& device, const std::vector<std::string>& arguments) {
  const std::string err = temporary_directory() + "/err";
  Outcome outcome;
  outcome.status = wait_for(start(arguments, "/dev/null", device, err));
  outcome.err = read_file(err);
  return outcome;
}

Outcome run_on_terminal(const std::vector<std::string>& arguments) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) throw std::runtime_error("no terminal");
  const std::string name = ptsname(master);
  winsize size = {};
  size.ws_row = 24, size.ws_col = 80;
  if (ioctl(master, TIOCSWINSZ, &size) != 0) throw std::runtime_error("cannot size the terminal");
  const int keep = open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);  // until the child has opened it
  const pid_t child = start(arguments, "/dev/null", name, name);
  Outcome outcome;
  // The output is read while the command runs: a terminal holds only a little.
  char bytes[4096];
  for (bool running = true;;) {
    pollfd waiting = {master, POLLIN, 0};
    if (poll(&waiting, 1, running ? 20 : 0) > 0 && (waiting.revents & POLLIN) != 0) {
      const ssize_t got = read(master, bytes, sizeof bytes);
      if (got > 0) outcome.out.append(bytes, static_cast<size_t>(got));
      continue;
    }
    if (!running) break;
    siginfo_t info = {};
    running = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  }
  outcome.status = wait_for(child);
  close(keep);
  close(master);
  return outcome;
}

std::string on_screen(const std::string& out) {
  const std::string erase = "\r\x1b[K";
  const size_t last = out.rfind(erase);
  return last == out.npos ? out : out.substr(last + erase.size());
}

std::string nano() {
  return source_path("examples/clef-nano");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace clef::test
