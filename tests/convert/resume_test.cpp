// Runs that are stopped, files that are there already, disks that are full, threads.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/file_writer.hpp"
#include "support.hpp"
#include "support/catch.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#include <unistd.h>
#endif

using namespace clef;
using namespace clef::test;

namespace {

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

}  // namespace

TEST_CASE("the bytes do not depend on the number of threads") {
  const std::string directory = temporary_directory();
  for (const char* type : {"Q4_K_M", "Q2_K", "BF16"}) {
    std::string first;
    for (const uint32_t threads : {1u, 2u, 5u}) {
      const std::string out = directory + "/" + type + std::to_string(threads) + ".gguf";
      REQUIRE(convert_files(files_of(model_path("tiny-clef")), out, options_of(type), threads).ok());
      const std::string bytes = read_file(out);
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
  }
}

TEST_CASE("sources that cannot be mapped give the same bytes") {
  const std::string directory = temporary_directory();
  for (const std::string name : {"models/tiny-clef", "hf-quant/mlx-4bit"}) {
    model::Files files;
    for (const auto& entry : std::filesystem::directory_iterator(data_path(name))) {
      auto bytes = std::make_shared<std::string>(read_file(entry.path().string()));
      io::ReadCallbacks callbacks;
      callbacks.size = bytes->size();
      callbacks.read_at = [bytes](uint64_t offset, void* out, size_t size) {
        std::memcpy(out, bytes->data() + offset, size);
        return 0;
      };
      auto source = io::from_callbacks(std::move(callbacks), entry.path().filename().string());
      REQUIRE(source.ok());
      files.entries.push_back({entry.path().filename().string(), "", source.value()});
    }
    const std::string mapped = directory + "/mapped.gguf", read = directory + "/read.gguf";
    convert::Options options = options_of("Q4_K_M");
    options.overwrite = true;
    REQUIRE(convert_files(files_of(data_path(name)), mapped, options).ok());
    REQUIRE(convert_files(files, read, options, 3).ok());
    // The name of the model is that of its directory, which only paths have.
    const ReadFile a = read_written(mapped), b = read_written(read);
    REQUIRE(a.tensors.size() == b.tensors.size());
    for (const auto& [tensor, view] : a.tensors) CHECK(bytes_of(view) == bytes_of(b.tensors.at(tensor)));
  }
}

TEST_CASE("a stopped run is gone on with from any place") {
  const std::string directory = temporary_directory(), out = directory + "/out.gguf";
  const model::Files files = files_of(model_path("tiny-flash"));
  REQUIRE(convert_files(files, out, options_of("Q4_0")).ok());
  const std::string whole = read_file(out);
  const ReadFile written = read_written(out);
  std::vector<size_t> cuts = {0, 1, 100, 30000, whole.size() - 1, whole.size()};
  for (const char* name : {"token_embd.weight", "blk.2.ssm_a", "blk.4.ffn_up.weight", "decision.scales"}) {
    const container::TensorView& tensor = written.tensors.at(name);
    for (const uint64_t at : {tensor.offset - 1, tensor.offset, tensor.offset + 1, tensor.offset + tensor.bytes})
      cuts.push_back(static_cast<size_t>(at));
  }
  for (const size_t cut : cuts) {
    CAPTURE(cut);
    std::filesystem::remove(out);
    write_file(out + ".part", whole.substr(0, cut));
    REQUIRE(convert_files(files, out, options_of("Q4_0")).ok());
    CHECK(read_file(out) == whole);
    CHECK(!exists(out + ".part"));
  }

  // The last whole tensor is made again, the ones before it are compared row by row.
  std::filesystem::remove(out);
  const container::TensorView& last = written.tensors.at("blk.2.ffn_down.weight");
  std::string torn = whole.substr(0, last.offset + last.bytes);
  torn.replace(last.offset, last.bytes, last.bytes, '\0');
  write_file(out + ".part", torn);
  REQUIRE(convert_files(files, out, options_of("Q4_0")).ok());
  CHECK(read_file(out) == whole);

  std::filesystem::remove(out);
  torn = whole.substr(0, last.offset + last.bytes);
  const container::TensorView& early = written.tensors.at("blk.1.ffn_down.weight");
  torn.replace(early.offset, early.bytes, early.bytes, '\0');
  write_file(out + ".part", torn);
  const auto damaged = convert_files(files, out, options_of("Q4_0"));
  REQUIRE(!damaged.ok());
  CHECK(damaged.status().detail().tensor == "blk.1.ffn_down.weight");
  CHECK(!exists(out));
  CHECK(!exists(out + ".part"));
}

TEST_CASE("what is left of another conversion is not mixed in") {
  const std::string directory = temporary_directory(), out = directory + "/out.gguf";
  const model::Files files = files_of(model_path("tiny-flash"));
  REQUIRE(convert_files(files, directory + "/other.gguf", options_of("Q8_0")).ok());
  const std::string other = read_file(directory + "/other.gguf");
  REQUIRE(convert_files(files, directory + "/good.gguf", options_of("Q4_0")).ok());
  const std::string good = read_file(directory + "/good.gguf");
  for (const std::string& left : {other, other.substr(0, 1000000), std::string("x"), good + "more"}) {
    write_file(out + ".part", left);
    const auto refused = convert_files(files, out, options_of("Q4_0"));
    REQUIRE(!refused.ok());
    CHECK(refused.status().code() == base::Code::invalid_argument);
    CHECK(refused.status().message().find("out.gguf.part") != std::string::npos);
    CHECK(refused.status().message().find("delete it") != std::string::npos);
    CHECK(read_file(out + ".part") == left);
    CHECK(!exists(out));
    convert::Options options = options_of("Q4_0");
    options.overwrite = true;
    REQUIRE(convert_files(files, out, options).ok());
    CHECK(read_file(out) == good);
    std::filesystem::remove(out);
  }
}

TEST_CASE("a file that exists is kept unless it may be replaced") {
  const std::string directory = temporary_directory(), out = directory + "/out.gguf";
  const model::Files files = files_of(model_path("tiny-flash"));
  write_file(out, "mine");
  const auto refused = convert_files(files, out, options_of("Q8_0"));
  REQUIRE(!refused.ok());
  CHECK(refused.status().code() == base::Code::invalid_argument);
  CHECK(read_file(out) == "mine");
  convert::Options options = options_of("Q8_0");
  options.overwrite = true;
  REQUIRE(convert_files(files, out, options).ok());
  CHECK(read_file(out).substr(0, 4) == "GGUF");
  // Never its own source.
  const std::string before = read_file(out);
  CHECK(!convert_files(files_of(out), out, options).ok());
  CHECK(!convert_files(files_of(directory), out, options).ok());
  CHECK(!convert_files(files_of(directory + "/./out.gguf"), out, options).ok());
  std::filesystem::create_hard_link(out, directory + "/link");
  CHECK(!convert_files(files_of(out), directory + "/link", options).ok());
  std::filesystem::remove(directory + "/link");
  CHECK(read_file(out) == before);
  // Nor a directory.
  CHECK(!convert_files(files, directory, options).ok());
  CHECK(!exists(directory + ".part"));
}

TEST_CASE("a cancelled run leaves no file, and is gone on with") {
  const std::string directory = temporary_directory(), out = directory + "/out.gguf";
  const model::Files files = files_of(model_path("tiny-flash"));
  REQUIRE(convert_files(files, directory + "/whole.gguf", options_of("Q8_0")).ok());
  const std::string whole = read_file(directory + "/whole.gguf");
  for (const int after : {0, 1, 20, 60}) {
    CAPTURE(after);
    std::filesystem::remove(out);
    std::filesystem::remove(out + ".part");
    int left = after;
    convert::Options options = options_of("Q8_0");
    options.hooks.poll = [](void* user) { return --*static_cast<int*>(user) < 0; };
    options.hooks.poll_user = &left;
    const auto stopped = convert_files(files, out, options, 2);
    REQUIRE(!stopped.ok());
    CHECK(stopped.status().code() == base::Code::cancelled);
    CHECK(!exists(out));
    if (after == 60) CHECK(std::filesystem::file_size(out + ".part") > 200000);
    REQUIRE(convert_files(files, out, options_of("Q8_0")).ok());
    CHECK(read_file(out) == whole);
  }
}

TEST_CASE("progress counts bytes up to the whole file") {
  const std::string out = temporary_directory() + "/out.gguf";
  struct Seen {
    uint64_t calls = 0, last = 0, total = 0;
    bool in_order = true;
  } seen;
  convert::Options options = options_of("F32");
  options.hooks.progress = [](base::Stage stage, uint64_t done, uint64_t total, void* user) {
    Seen& s = *static_cast<Seen*>(user);
    s.in_order = s.in_order && done >= s.last && done <= total && stage == base::Stage::quantize;
    ++s.calls, s.last = done, s.total = total;
  };
  options.hooks.progress_user = &seen;
  const auto report = convert_files(files_of(model_path("tiny-flash")), out, options);
  REQUIRE(report.ok());
  CHECK(seen.calls >= 2);
  CHECK(seen.in_order);
  CHECK(seen.last == seen.total);
  CHECK(seen.total == report.value().file_bytes);
}

TEST_CASE("one writer at a time") {
  const std::string out = temporary_directory() + "/out.gguf";
  const auto writer = io::open_writer(out + ".part", io::Existing::refuse);
  REQUIRE(writer.ok());
  const auto second = convert_files(files_of(model_path("tiny-flash")), out, options_of("Q8_0"));
  REQUIRE(!second.ok());
  CHECK(second.status().code() == base::Code::busy);
}

TEST_CASE("places that cannot be written are named, never with their path") {
  const std::string directory = temporary_directory();
  const auto missing =
      convert_files(files_of(model_path("tiny-flash")), directory + "/none/out.gguf", options_of("F16"));
  REQUIRE(!missing.ok());
  CHECK(missing.status().code() == base::Code::not_found);
  CHECK(missing.status().message() == "out.gguf.part: cannot be written: no such file or directory");
  std::filesystem::create_directory(directory + "/out.gguf.part");
  const auto occupied = convert_files(files_of(model_path("tiny-flash")), directory + "/out.gguf", options_of("F16"));
  REQUIRE(!occupied.ok());
  CHECK(occupied.status().code() == base::Code::io);
  CHECK(occupied.status().message().find(directory) == std::string::npos);
}

#if !defined(_WIN32)
TEST_CASE("a full disk is an error with the file's name, and the work is kept") {
  const std::string directory = temporary_directory(), out = directory + "/out.gguf";
  const model::Files files = files_of(model_path("tiny-flash"));
  REQUIRE(convert_files(files, directory + "/whole.gguf", options_of("Q8_0")).ok());
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 1000000;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto full = convert_files(files, out, options_of("Q8_0"), 2);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, old_handler);
  REQUIRE(!full.ok());
  CHECK(full.status().code() == base::Code::io);
  CHECK(full.status().detail().file == "out.gguf.part");
  CHECK(full.status().message().find("cannot write at offset") != std::string::npos);
  CHECK(!exists(out));
  CHECK(std::filesystem::file_size(out + ".part") == 1000000);
  REQUIRE(convert_files(files, out, options_of("Q8_0")).ok());
  CHECK(read_file(out) == read_file(directory + "/whole.gguf"));
}

TEST_CASE("a directory without permission") {
  if (geteuid() == 0) return;  // nothing is closed to root
  const std::string directory = temporary_directory();
  std::filesystem::permissions(directory, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto closed = convert_files(files_of(model_path("tiny-flash")), directory + "/out.gguf", options_of("F16"));
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  REQUIRE(!closed.ok());
  CHECK(closed.status().message().find("permission denied") != std::string::npos);
}
#endif
