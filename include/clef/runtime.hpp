// Runtime: threads, allocator, log and instruction set that models share; and Source, the files of one model.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <clef/options.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace clef {
inline namespace v0 {

enum class LogLevel : std::int32_t {
  error = CLEF_LOG_ERROR,
  warning = CLEF_LOG_WARNING,
  info = CLEF_LOG_INFO,
  debug = CLEF_LOG_DEBUG
};

// The tasks of one parallel loop: call it once for every index below the count that came with it, on any threads.
class Task {
 public:
  Task(clef_task function, void* argument) noexcept : function_(function), argument_(argument) {}
  void operator()(std::size_t index) const noexcept { function_(index, argument_); }

 private:
  clef_task function_;
  void* argument_;
};

// How a runtime works. A plain struct: set what you need, the rest has good defaults.
struct RuntimeOptions {
  // Threads of the own pool, the caller included; 1 starts none; 0: what affinity and a CPU quota allow.
  std::uint32_t threads = 0;
  std::string_view isa;            // highest level to use: "auto" (default), "baseline", "avx2", "avx512"
  std::uint64_t memory_limit = 0;  // most bytes of weights copied, scratch and activations; 0: none
  // Log lines, on any thread. Must not call the library, must not throw. Without it the library is silent.
  std::function<void(LogLevel, std::string_view message)> log;
  // Your thread pool instead of the own one: runs task(i) once for every i < count and returns when all are done.
  // Set both or none. Must not throw.
  std::function<void(std::size_t count, Task task)> parallel_for;
  std::function<std::uint32_t()> concurrency;  // how many tasks may run at once
  // Your memory; the table is copied, see clef.h. Borrowed until create() returns.
  const clef_allocator_hooks* allocator = nullptr;
};

namespace detail {

struct LogBox {
  std::function<void(LogLevel, std::string_view)> write;

  static void CLEF_CALL call(clef_log_level level, const char* message, std::size_t size, void* user) noexcept {
    static_cast<LogBox*>(user)->write(static_cast<LogLevel>(level), view(message, size));
  }
  static void CLEF_CALL release(void* user) noexcept { delete static_cast<LogBox*>(user); }
};

struct ExecutorBox {
  std::function<void(std::size_t, Task)> parallel_for;
  std::function<std::uint32_t()> concurrency;

  static void CLEF_CALL call(std::size_t count, clef_task task, void* argument, void* user) noexcept {
    static_cast<ExecutorBox*>(user)->parallel_for(count, Task(task, argument));
  }
  static std::uint32_t CLEF_CALL ask(void* user) noexcept { return static_cast<ExecutorBox*>(user)->concurrency(); }
  static void CLEF_CALL release(void* user) noexcept { delete static_cast<ExecutorBox*>(user); }
};

using RuntimeOptionsHandle = Handle<clef_runtime_options, &clef_runtime_options_free>;

inline Result<RuntimeOptionsHandle> make_runtime_options(const RuntimeOptions& from) {
  auto made = make<RuntimeOptionsHandle, clef_runtime_options>(
      [](clef_runtime_options** out, clef_error** error) { return clef_runtime_options_create(out, error); });
  if (!made) return made;
  clef_runtime_options* to = made->get();
  Setters s;
  s.set(from.threads != 0,
        [&](clef_error** error) { return clef_runtime_options_set_threads(to, from.threads, error); });
  s.set(!from.isa.empty(),
        [&](clef_error** error) { return clef_runtime_options_set_isa(to, from.isa.data(), from.isa.size(), error); });
  s.set(from.memory_limit != 0,
        [&](clef_error** error) { return clef_runtime_options_set_memory_limit(to, from.memory_limit, error); });
  s.set(static_cast<bool>(from.log), [&](clef_error** error) {
    auto box = std::make_unique<LogBox>(LogBox{from.log});
    clef_log_hooks hooks = {};
    hooks.struct_size = sizeof(hooks);
    hooks.write = &LogBox::call;
    hooks.release = &LogBox::release;
    hooks.user = box.get();
    const clef_status status = clef_runtime_options_set_log(to, &hooks, error);
    if (status == CLEF_OK) (void)box.release();  // the library owns it now
    return status;
  });
  s.set(from.parallel_for && from.concurrency, [&](clef_error** error) {
    auto box = std::make_unique<ExecutorBox>(ExecutorBox{from.parallel_for, from.concurrency});
    clef_executor_hooks hooks = {};
    hooks.struct_size = sizeof(hooks);
    hooks.parallel_for = &ExecutorBox::call;
    hooks.concurrency = &ExecutorBox::ask;
    hooks.release = &ExecutorBox::release;
    hooks.user = box.get();
    const clef_status status = clef_runtime_options_set_executor(to, &hooks, error);
    if (status == CLEF_OK) (void)box.release();
    return status;
  });
  s.set(from.allocator != nullptr,
        [&](clef_error** error) { return clef_runtime_options_set_allocator(to, from.allocator, error); });
  if (!s.result()) return std::move(s.result()).error();
  return made;
}

}  // namespace detail

// Bytes taken now, and at most so far.
struct Memory {
  std::uint64_t used = 0;
  std::uint64_t peak = 0;
};

// Thread pool, allocator, log and instruction set. Models keep their runtime alive, so it may be destroyed early.
// Move-only. Thread-safety: any number of threads at once.
class Runtime {
 public:
  // Starts no thread. Errors: abi_mismatch when the linked library is older than these headers or of another major,
  // invalid_argument, unsupported, out_of_memory.
  static Result<Runtime> create(const RuntimeOptions& options = {}) {
    auto handle = detail::make_runtime_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Runtime, clef_runtime>([&](clef_runtime** out, clef_error** error) {
      return clef_runtime_create(CLEF_ABI_VERSION, handle->get(), out, error);
    });
  }
  // Takes over a C handle.
  explicit Runtime(clef_runtime* owned) noexcept : handle_(owned) {}

  // Bytes that passed through the allocator.
  Memory memory() const noexcept {
    Memory memory;
    clef_runtime_memory(handle_.get(), &memory.used, &memory.peak);
    return memory;
  }
  // {"version","isa","threads","devices"} as JSON. Lives as long as this object.
  std::string_view describe() const noexcept {
    std::size_t size = 0;
    const char* text = clef_runtime_describe(handle_.get(), &size);
    return detail::view(text, size);
  }
  // The C handle, still owned by this object.
  const clef_runtime* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_runtime, &clef_runtime_free> handle_;
};

// Fills `size` bytes of a file from `offset`; false is an I/O error. Called on any thread, several at a time. Must not
// throw.
using ReadFunction = std::function<bool(std::uint64_t offset, void* out, std::size_t size)>;

// Where a model's bytes are: one GGUF file, or the files of a release. Move-only; may be destroyed after the load.
// Files that do not come from a path need the name they would have in the release's directory. All functions answer
// errors of class not_found, io, invalid_argument and out_of_memory. Thread-safety: one thread at a time.
class Source {
 public:
  static Result<Source> create(const Runtime& runtime) {
    return detail::make<Source, clef_source>(
        [&](clef_source** out, clef_error** error) { return clef_source_create(runtime.get(), out, error); });
  }
  // Takes over a C handle.
  explicit Source(clef_source* owned) noexcept : handle_(owned) {}

  // A file, a directory, a file inside one, or the first part of a split GGUF; UTF-8. Mapped read-only at load. `name`
  // may be empty.
  Result<void> add_path(std::string_view path, std::string_view name = {}) {
    return detail::run([&](clef_error** error) {
      return clef_source_add_path(handle_.get(), name.data(), name.size(), detail::data(path), path.size(), error);
    });
  }
  // `length` bytes from `offset` of an open descriptor (0: to its end), duplicated here; yours may be closed
  // afterwards.
  Result<void> add_fd(std::string_view name, std::int32_t fd, std::uint64_t offset = 0, std::uint64_t length = 0) {
    return detail::run([&](clef_error** error) {
      return clef_source_add_fd(handle_.get(), name.data(), name.size(), fd, offset, length, error);
    });
  }
  // Bytes, copied.
  Result<void> add_memory(std::string_view name, const void* bytes, std::size_t size) {
    return detail::run([&](clef_error** error) {
      return clef_source_add_memory(handle_.get(), name.data(), name.size(), bytes, size, error);
    });
  }
  // Bytes that are not copied: they must outlive the model and everything made from it.
  Result<void> add_memory_borrow(std::string_view name, const void* bytes, std::size_t size) {
    return detail::run([&](clef_error** error) {
      return clef_source_add_memory_borrow(handle_.get(), name.data(), name.size(), bytes, size, nullptr, nullptr,
                                           error);
    });
  }
  // A file of `size` bytes that is read through a function, which is kept as long as the model needs it.
  Result<void> add_reader(std::string_view name, std::uint64_t size, ReadFunction read) {
    return detail::run([&](clef_error** error) {
      auto box = std::make_unique<ReadFunction>(std::move(read));
      clef_read_hooks hooks = {};
      hooks.struct_size = sizeof(hooks);
      hooks.read_at = &read_at;
      hooks.release = &release;
      hooks.user = box.get();
      hooks.size = size;
      const clef_status status = clef_source_add_callbacks(handle_.get(), name.data(), name.size(), &hooks, error);
      if (status == CLEF_OK) (void)box.release();
      return status;
    });
  }
  // What the files are, without loading weights, as JSON: kind, parts, files, tensors, tokenizer rule, limits.
  // Errors: not_found, not_clef, missing_part, bad_file, unsupported, with file and tensor.
  Result<std::string> describe(const Runtime& runtime) {
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_source_describe(runtime.get(), handle_.get(), out, error);
    });
  }
  // How an encoded picture would be read, as JSON: format, width, height, orientation, alpha, target_width, target_height,
  // tokens. Of the options those of pictures count. Errors: missing_part (no vision part), those of the picture.
  Result<std::string> describe_image(const Runtime& runtime, const void* bytes, std::size_t size,
                                     const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_source_describe_image(runtime.get(), handle_.get(), bytes, size, handle->get(), out, error);
    });
  }
  // How far the weights of another form of the same model (`other`) lie from those of this one, as JSON: total and, per
  // tensor, types, relative error, largest differences and where they are; see clef_source_compare. Of the options,
  // cancel, on_progress and cancelled count. Errors: those of a load; invalid_argument when the geometries differ.
  Result<std::string> compare(const Runtime& runtime, Source& other, const LoadOptions& options = {}) {
    auto handle = detail::make_load_options(options);
    if (!handle) return std::move(handle).error();
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_source_compare(runtime.get(), handle_.get(), other.get(), handle->get(), out, error);
    });
  }
  // The C handle, still owned by this object.
  clef_source* get() const noexcept { return handle_.get(); }

 private:
  static std::int32_t CLEF_CALL read_at(std::uint64_t offset, void* out, std::size_t size, void* user) noexcept {
    return (*static_cast<ReadFunction*>(user))(offset, out, size) ? 0 : 1;
  }
  static void CLEF_CALL release(void* user) noexcept { delete static_cast<ReadFunction*>(user); }

  detail::Handle<clef_source, &clef_source_free> handle_;
};

}  // namespace v0
}  // namespace clef
