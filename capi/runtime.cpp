#include <array>

#include "handles.hpp"
#include "json/json.hpp"
#include "strings.hpp"

namespace clef::capi {
namespace {

constexpr uint32_t kMostThreads = 1024;

base::Allocator allocator_of(const RuntimeSettings& settings) {
  base::Allocator allocator;
  if (!settings.allocator) return allocator;
  const clef_allocator_hooks& table = settings.allocator->table;
  allocator.allocate = table.allocate;
  allocator.free = table.free;
  allocator.user = table.user;
  return allocator;
}

std::unique_ptr<base::Executor> executor_of(const RuntimeSettings& settings) {
  if (!settings.executor)
    return base::make_pool_executor(settings.threads ? settings.threads : base::available_threads());
  base::HostExecutor host;
  host.parallel_for = [](void* user, size_t n, void (*task)(size_t, void*), void* argument) {
    const auto& table = *static_cast<const clef_executor_hooks*>(user);
    table.parallel_for(n, task, argument, table.user);
  };
  host.concurrency = [](void* user) {
    const auto& table = *static_cast<const clef_executor_hooks*>(user);
    return table.concurrency(table.user);
  };
  host.user = const_cast<clef_executor_hooks*>(&settings.executor->table);
  return base::make_host_executor(host);
}

}  // namespace

Runtime::Runtime(const RuntimeSettings& settings, base::IsaLevel isa)
    : settings_(settings),
      memory_(allocator_of(settings_)),
      executor_(executor_of(settings_)),
      isa_(isa),
      process_(base::process_id()) {
  memory_.set_limit(settings.memory_limit);
  json::Writer writer(description_);
  writer.begin_object();
  writer.key("version");
  writer.string(CLEF_VERSION);
  writer.key("isa");
  writer.string(base::isa_name(isa));
  writer.key("threads");
  writer.unsigned_integer(executor_->concurrency());
  writer.key("devices");
  writer.begin_array();
  writer.string("cpu");
  writer.end_array();
  writer.end_object();
}

Runtime::~Runtime() {
  // Destroying what threads wait on can wait for them, and they are gone: in a forked child the pool is left alone.
  if (lost_threads()) static_cast<void>(executor_.release());
}

Result<std::shared_ptr<Runtime>> Runtime::create(const RuntimeSettings& settings) {
  const base::IsaLevel best = base::detect_isa();
  const base::IsaLevel isa = settings.isa.value_or(best);
  if (isa > best)
    return Status(Code::unsupported, "the instruction set \"" + std::string(base::isa_name(isa)) +
                                         "\" was asked for, but this processor offers \"" +
                                         std::string(base::isa_name(best)) + "\" at most");
  return std::shared_ptr<Runtime>(new Runtime(settings, isa));
}

Status Runtime::check_process() const {
  if (!lost_threads()) return {};
  return Status(Code::forked,
                "the threads of this runtime did not survive the fork; create another runtime in the child process");
}

void Runtime::log(clef_log_level level, std::string_view message) const {
  if (!settings_.log) return;
  const clef_log_hooks& table = settings_.log->table;
  table.write(level, message.data(), message.size(), table.user);
}

}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_runtime_options_create(clef_runtime_options** options, clef_error** error) {
  clear(options);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    *options = new clef_runtime_options;
    return {};
  });
}

clef_status clef_runtime_options_set_threads(clef_runtime_options* options, uint32_t threads, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    if (threads > kMostThreads)
      return Status(Code::out_of_range, std::to_string(threads) + " threads were asked for; at most " +
                                            std::to_string(kMostThreads) + " are possible");
    options->settings.threads = threads;
    return {};
  });
}

clef_status clef_runtime_options_set_isa(clef_runtime_options* options, const char* name, size_t size,
                                         clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    if (text == "auto") {
      options->settings.isa.reset();
      return {};
    }
    using clef::base::IsaLevel;
    for (const IsaLevel level : {IsaLevel::baseline, IsaLevel::avx2, IsaLevel::avx512}) {
      if (text != clef::base::isa_name(level)) continue;
      options->settings.isa = level;
      return {};
    }
    return bad_value("isa", text, "auto, baseline, avx2 or avx512");
  });
}

clef_status clef_runtime_options_set_memory_limit(clef_runtime_options* options, uint64_t bytes, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    options->settings.memory_limit = bytes;
    return {};
  });
}

clef_status clef_runtime_options_set_log(clef_runtime_options* options, const clef_log_hooks* hooks,
                                         clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    auto copy = std::make_shared<Hooks<clef_log_hooks>>();
    CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_log_hooks", copy->table));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.write, "clef_log_hooks", "write"));
    copy->armed = true;
    options->settings.log = std::move(copy);
    return {};
  });
}

clef_status clef_runtime_options_set_allocator(clef_runtime_options* options, const clef_allocator_hooks* hooks,
                                               clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    auto copy = std::make_shared<Hooks<clef_allocator_hooks>>();
    CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_allocator_hooks", copy->table));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.allocate, "clef_allocator_hooks", "allocate"));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.free, "clef_allocator_hooks", "free"));
    copy->armed = true;
    options->settings.allocator = std::move(copy);
    return {};
  });
}

clef_status clef_runtime_options_set_executor(clef_runtime_options* options, const clef_executor_hooks* hooks,
                                              clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    auto copy = std::make_shared<Hooks<clef_executor_hooks>>();
    CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_executor_hooks", copy->table));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.parallel_for, "clef_executor_hooks", "parallel_for"));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.concurrency, "clef_executor_hooks", "concurrency"));
    copy->armed = true;
    options->settings.executor = std::move(copy);
    return {};
  });
}

clef_status clef_runtime_options_add_module(clef_runtime_options* options, const char* path, size_t size,
                                            clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN([[maybe_unused]] const std::string_view text, utf8_text(path, size, "path"));
    return Status(Code::unsupported, "device modules are not supported by this version");
  });
}

void clef_runtime_options_free(clef_runtime_options* options) {
  guard_void([&] { delete options; });
}

clef_status clef_runtime_create(uint32_t abi_version, const clef_runtime_options* options, clef_runtime** runtime,
                                clef_error** error) {
  clear(runtime);
  return guard(error, [&]() -> Status {
    const uint32_t ours = CLEF_ABI_VERSION;
    if (abi_version >> 16 != ours >> 16 || (abi_version & 0xffff) > (ours & 0xffff)) {
      const auto spelled = [](uint32_t version) {
        return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
      };
      return Status(Code::abi_mismatch, "the program was compiled for interface " + spelled(abi_version) +
                                            " of clef, this library offers " + spelled(ours) +
                                            "; install a matching library or compile against its header");
    }
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    auto made = std::make_unique<clef_runtime>();
    CLEF_ASSIGN_OR_RETURN(made->runtime, Runtime::create(options ? options->settings : RuntimeSettings()));
    *runtime = made.release();
    return {};
  });
}

void clef_runtime_memory(const clef_runtime* runtime, uint64_t* used, uint64_t* peak) {
  clear(used);
  clear(peak);
  guard_void([&] {
    if (!runtime) return;
    if (used) *used = runtime->runtime->memory().used();
    if (peak) *peak = runtime->runtime->memory().peak();
  });
}

const char* clef_runtime_describe(const clef_runtime* runtime, size_t* size) {
  return guard_string(
      size, [&] { return runtime ? std::string_view(runtime->runtime->description()) : std::string_view(""); });
}

void clef_runtime_free(clef_runtime* runtime) {
  guard_void([&] { delete runtime; });
}
