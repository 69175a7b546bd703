// Loading: every kind of source, options, errors, cancel and progress.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "owned.hpp"

using namespace clef::test;

namespace {

const char* const kFiles[] = {"config.json",       "joint_head_config.json", "tokenizer.json",
                              "model.safetensors", "joint_head.safetensors", "processor_config.json"};

Model load_from(const clef_runtime* runtime, clef_source* source, const clef_load_options* options = nullptr) {
  return make<Model>([&](auto out, auto error) { return clef_model_load(runtime, source, options, out, error); });
}

std::vector<unsigned char> decide_bits(const Model& model) {
  const Session session = make_session(model.get());
  return bits_of(decide_json(session.get(), request_json()).get());
}

Source empty_source(const clef_runtime* runtime) {
  return make<Source>([&](auto out, auto error) { return clef_source_create(runtime, out, error); });
}

Fault load_fault(const clef_runtime* runtime, clef_source* source, const clef_load_options* options = nullptr) {
  clef_model* model = nullptr;
  const Fault fault = call([&](auto error) { return clef_model_load(runtime, source, options, &model, error); });
  REQUIRE((model != nullptr) == (fault.status == CLEF_OK));
  clef_model_free(model);
  return fault;
}

struct HostFile {
  std::string bytes;
  int released = 0;
};
int32_t read_host_file(uint64_t offset, void* out, size_t size, void* user) {
  const std::string& bytes = static_cast<HostFile*>(user)->bytes;
  if (offset > bytes.size() || size > bytes.size() - offset) return 1;
  std::memcpy(out, bytes.data() + offset, size);
  return 0;
}

}  // namespace

TEST_CASE("path, descriptors, memory and callbacks give the same model") {
  const Runtime runtime = serial_runtime();
  const std::vector<unsigned char> expected = decide_bits(load_model(runtime.get()));

  Source descriptors = empty_source(runtime.get());
  for (const char* name : kFiles) {
    const int fd = open((nano_path() + "/" + name).c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    REQUIRE(clef_source_add_fd(descriptors.get(), name, CLEF_NUL, fd, 0, 0, nullptr) == CLEF_OK);
    close(fd);
  }
  Model by_descriptor = load_from(runtime.get(), descriptors.get());
  descriptors.reset();
  CHECK(decide_bits(by_descriptor) == expected);

  Source memory = empty_source(runtime.get());
  for (const char* name : kFiles) {
    std::string bytes = read_file(nano_path() + "/" + name);
    REQUIRE(clef_source_add_memory(memory.get(), name, CLEF_NUL, bytes.data(), bytes.size(), nullptr) == CLEF_OK);
    std::fill(bytes.begin(), bytes.end(), 'x');
  }
  Model by_memory = load_from(runtime.get(), memory.get());
  memory.reset();
  CHECK(decide_bits(by_memory) == expected);

  std::vector<HostFile> files(std::size(kFiles));
  Source callbacks = empty_source(runtime.get());
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].bytes = read_file(nano_path() + "/" + kFiles[i]);
    clef_read_hooks hooks{};
    hooks.struct_size = sizeof hooks;
    hooks.read_at = read_host_file;
    hooks.release = [](void* user) { ++static_cast<HostFile*>(user)->released; };
    hooks.user = &files[i];
    hooks.size = files[i].bytes.size();
    REQUIRE(clef_source_add_callbacks(callbacks.get(), kFiles[i], CLEF_NUL, &hooks, nullptr) == CLEF_OK);
  }
  Model by_callback = load_from(runtime.get(), callbacks.get());
  callbacks.reset();
  CHECK(decide_bits(by_callback) == expected);
  by_callback.reset();
  for (const HostFile& file : files) CHECK(file.released == 1);
  CHECK(std::string(clef_model_digest(by_memory.get(), nullptr)).size() == 64);
}

TEST_CASE("borrowed memory is released when the model goes") {
  const Runtime runtime = serial_runtime();
  std::vector<HostFile> files(std::size(kFiles));
  Source source = empty_source(runtime.get());
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].bytes = read_file(nano_path() + "/" + kFiles[i]);
    REQUIRE(clef_source_add_memory_borrow(
                source.get(), kFiles[i], CLEF_NUL, files[i].bytes.data(), files[i].bytes.size(),
                [](void* user) { ++static_cast<HostFile*>(user)->released; }, &files[i], nullptr) == CLEF_OK);
  }
  Model model = load_from(runtime.get(), source.get());
  source.reset();
  CHECK(files[3].released == 0);  // the weights are in use
  Session session = make_session(model.get());
  model.reset();
  CHECK(clef_decision_count(decide_json(session.get(), request_json()).get()) == 3);
  session.reset();
  for (const HostFile& file : files) CHECK(file.released == 1);
}

TEST_CASE("load options") {
  const Runtime runtime = serial_runtime();
  const std::vector<unsigned char> expected = decide_bits(load_model(runtime.get()));
  const auto options = make<LoadOptions>(clef_load_options_create);
  const Source source = make_source(runtime.get());
  REQUIRE(clef_load_options_set_copy_weights(options.get(), 1, nullptr) == CLEF_OK);
  REQUIRE(clef_load_options_set_compute(options.get(), "exact", CLEF_NUL, nullptr) == CLEF_OK);
  REQUIRE(clef_load_options_set_check_weights(options.get(), 0, nullptr) == CLEF_OK);
  CHECK(decide_bits(load_from(runtime.get(), source.get(), options.get())) == expected);
  for (const char* compute : {"bf16", "int8"}) {
    REQUIRE(clef_load_options_set_compute(options.get(), compute, CLEF_NUL, nullptr) == CLEF_OK);
    const Fault fault = load_fault(runtime.get(), source.get(), options.get());
    CHECK(fault.status == CLEF_UNSUPPORTED);
    CHECK(fault.message.find(compute) != std::string::npos);
  }
  REQUIRE(clef_load_options_set_compute(options.get(), "auto", CLEF_NUL, nullptr) == CLEF_OK);
  REQUIRE(clef_load_options_set_device(options.get(), "cuda:0", CLEF_NUL, nullptr) == CLEF_OK);
  CHECK(load_fault(runtime.get(), source.get(), options.get()).status == CLEF_UNSUPPORTED);
}

TEST_CASE("files that are no model") {
  const Runtime runtime = serial_runtime();
  const Source nothing = empty_source(runtime.get());
  CHECK(load_fault(runtime.get(), nothing.get()).status != CLEF_OK);
  const Source missing = make_source(runtime.get(), "/nonexistent/clef");
  const Fault fault = load_fault(runtime.get(), missing.get());
  CHECK(fault.status == CLEF_NOT_FOUND);
  CHECK(fault.message.find("/nonexistent") == std::string::npos);  // never a path
  const std::string directory = temporary_directory();
  for (const char* name : kFiles) {
    if (std::string(name) != "joint_head.safetensors")
      std::filesystem::copy_file(nano_path() + "/" + name, directory + "/" + name);
  }
  const Source partial = make_source(runtime.get(), directory);
  const Fault part = load_fault(runtime.get(), partial.get());
  CHECK(part.status == CLEF_MISSING_PART);
  CHECK(part.message.find("joint_head.safetensors") != std::string::npos);
}

TEST_CASE("what the files are, before and after loading") {
  const Runtime runtime = serial_runtime();
  const Source source = make_source(runtime.get());
  const auto text =
      make<Text>([&](auto out, auto error) { return clef_source_describe(runtime.get(), source.get(), out, error); });
  size_t size = 0;
  const std::string described = clef_text_data(text.get(), &size);
  CHECK(described.size() == size);
  CHECK(described.find("embed_tokens.weight") != std::string::npos);
  const Model model = load_model(runtime.get());
  const std::string loaded = clef_model_describe(model.get(), nullptr);
  CHECK(loaded.find("embed_tokens.weight") == std::string::npos);
  CHECK(loaded.find("\"compute\":\"exact\"") != std::string::npos);
  CHECK(loaded.find("\"kernels\":\"") != std::string::npos);
  CHECK(clef_model_limit(model.get(), CLEF_LIMIT_VOCABULARY) == 2432);
  CHECK(clef_model_limit(model.get(), CLEF_LIMIT_TOKENS) == 262144);
  CHECK(clef_model_limit(model.get(), CLEF_LIMIT_QUESTIONS) == 64);
  CHECK(clef_model_limit(model.get(), CLEF_LIMIT_OPTIONS) == 255);
  CHECK(clef_model_limit(model.get(), CLEF_LIMIT_LEVELS) == 10);
  CHECK(clef_model_limit(model.get(), 99) == 0);
  uint64_t before = 0, after = 0, file_weights = 0, weights = 0, more = 0;
  REQUIRE(clef_source_estimate(runtime.get(), source.get(), 1000, &before, &file_weights, nullptr) == CLEF_OK);
  REQUIRE(clef_model_estimate(model.get(), 1000, nullptr, &after, &weights, nullptr) == CLEF_OK);
  REQUIRE(clef_model_estimate(model.get(), 100000, nullptr, &more, nullptr, nullptr) == CLEF_OK);
  CHECK(before == after);
  CHECK(after > 1000 * 128 * 4);
  CHECK(more > 100000 * 128 * 4);
  CHECK(weights > 0);
  CHECK(weights <= file_weights);
  CHECK(clef_model_estimate(model.get(), 262145, nullptr, &after, nullptr, nullptr) == CLEF_OUT_OF_RANGE);
}

TEST_CASE("cancel and progress of a load") {
  const Runtime runtime = serial_runtime();
  const Source source = make_source(runtime.get());
  const auto options = make<LoadOptions>(clef_load_options_create);
  const Cancel cancel = make<Cancel>(clef_cancel_create);
  REQUIRE(clef_load_options_set_cancel(options.get(), cancel.get(), nullptr) == CLEF_OK);
  clef_cancel_trip(cancel.get());
  CHECK(load_fault(runtime.get(), source.get(), options.get()).status == CLEF_CANCELLED);
  clef_cancel_reset(cancel.get());
  struct Watch {
    uint64_t done = 0, total = 0;
    clef_stage stage = -1;
    int asked = 0, stop_at = 1 << 30;
  } watch;
  clef_progress_hooks hooks{};
  hooks.struct_size = sizeof hooks;
  hooks.user = &watch;
  hooks.progress = [](clef_stage stage, uint64_t done, uint64_t total, void* user) {
    auto& w = *static_cast<Watch*>(user);
    w.stage = stage, w.done = done, w.total = total;
  };
  hooks.cancelled = [](void* user) -> int32_t {
    auto& w = *static_cast<Watch*>(user);
    return ++w.asked >= w.stop_at;
  };
  REQUIRE(clef_load_options_set_progress(options.get(), &hooks, nullptr) == CLEF_OK);
  CHECK(load_fault(runtime.get(), source.get(), options.get()).status == CLEF_OK);
  CHECK(watch.stage == CLEF_STAGE_LOAD);
  CHECK(watch.done == watch.total);
  CHECK(watch.total > 0);
  const int asked = watch.asked;
  CHECK(asked > 2);
  for (int stop = 1; stop <= asked; ++stop) {
    watch.asked = 0;
    watch.stop_at = stop;
    CHECK(load_fault(runtime.get(), source.get(), options.get()).status == CLEF_CANCELLED);
  }
}
