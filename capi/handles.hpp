// What stands behind the handles. A handle holds shared references to what it needs, so handles may be freed in any
// order.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "arena.hpp"
#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "base/hooks.hpp"
#include "base/memory.hpp"
#include "clef.h"
#include "convert/quantize.hpp"
#include "decide/decision.hpp"
#include "decide/media.hpp"
#include "decide/session.hpp"
#include "guard.hpp"
#include "hooks.hpp"
#include "model/model.hpp"
#include "schema/request.hpp"
#include "text/tokenizer.hpp"

namespace clef::capi {

using CancelFlag = std::atomic<bool>;

// ---- runtime ----

struct RuntimeSettings {
  uint32_t threads = 0;
  std::optional<base::IsaLevel> isa;  // absent: the best there is
  uint64_t memory_limit = 0;
  std::shared_ptr<const Hooks<clef_log_hooks>> log;
  std::shared_ptr<const Hooks<clef_allocator_hooks>> allocator;
  std::shared_ptr<const Hooks<clef_executor_hooks>> executor;
};

class Runtime {
 public:
  static Result<std::shared_ptr<Runtime>> create(const RuntimeSettings& settings);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  base::Memory& memory() noexcept { return memory_; }
  base::Executor& executor() noexcept { return *executor_; }
  base::IsaLevel isa() const noexcept { return isa_; }
  const std::string& description() const noexcept { return description_; }
  // Refuses work in a child process that lost the threads of the pool.
  Status check_process() const;
  bool logs() const noexcept { return settings_.log != nullptr; }
  void log(clef_log_level level, std::string_view message) const;

 private:
  Runtime(const RuntimeSettings& settings, base::IsaLevel isa);
  bool lost_threads() const noexcept { return executor_->started() && base::process_id() != process_; }

  RuntimeSettings settings_;  // first: the hooks outlive everything that uses them
  base::Memory memory_;
  std::unique_ptr<base::Executor> executor_;
  base::IsaLevel isa_;
  uint64_t process_;
  std::string description_;
};

// ---- options ----

// What a long call watches; keeps the host's objects alive for as long as the call.
struct CallHooks {
  std::shared_ptr<const CancelFlag> cancel;
  std::shared_ptr<const Hooks<clef_progress_hooks>> progress;
  base::Hooks hooks() const noexcept;
};

struct DecideSettings {
  decide::Options decide;  // hooks are filled in per call
  decide::JsonOptions json;
  schema::Limits limits;
  CallHooks watched;

  decide::Options for_call() const noexcept {
    decide::Options options = decide;
    options.hooks = watched.hooks();
    return options;
  }
};

struct LoadSettings {
  model::LoadOptions load;
  std::string device = "cpu";
  CallHooks watched;
};

struct QuantizeSettings {
  convert::Options convert;  // hooks are filled in per call
  CallHooks watched;
};

// A copy of the settings of options that may be NULL.
DecideSettings settings_of(const clef_options* options);

Status set_progress_hooks(const clef_progress_hooks* hooks, CallHooks& watched);

// ---- model, session ----

struct LoadedModel {
  std::shared_ptr<Runtime> runtime;
  std::shared_ptr<const model::Model> model;
  std::string description;
};

struct SessionState {
  explicit SessionState(std::shared_ptr<const LoadedModel> loaded_model);
  // Drops what the session keeps between calls.
  void renew();

  std::shared_ptr<const LoadedModel> loaded;
  base::Memory held;     // what the session has taken from the runtime
  Arena arena;           // hands it out
  base::Memory scratch;  // what decisions take from the arena
  std::unique_ptr<decide::Session> session;
  std::atomic<bool> busy{false};
};

// A session in use by one call or run.
class BusySession {
 public:
  // Also refuses after a fork.
  static Result<BusySession> take(const std::shared_ptr<SessionState>& session);
  BusySession(BusySession&&) noexcept = default;
  BusySession& operator=(BusySession&&) = delete;
  ~BusySession() {
    if (session_) session_->busy.store(false, std::memory_order_release);
  }
  SessionState* operator->() const noexcept { return session_.get(); }

 private:
  explicit BusySession(std::shared_ptr<SessionState> session) noexcept : session_(std::move(session)) {}
  std::shared_ptr<SessionState> session_;
};

// A whole request as JSON, by the limits of the settings; its own truncation goes before theirs. Its pictures are moved
// into `media`.
Result<schema::Request> parse_request(const char* request, size_t size, DecideSettings& settings, decide::Media& media);

// The handle of a finished decision; logs when a state was cut.
Result<std::unique_ptr<clef_decision>> make_decision(decide::Decision decision, const decide::JsonOptions& options,
                                                     const Runtime& runtime);

}  // namespace clef::capi

struct clef_runtime_options {
  clef::capi::RuntimeSettings settings;
};

struct clef_runtime {
  std::shared_ptr<clef::capi::Runtime> runtime;
};

struct clef_source {
  std::shared_ptr<clef::capi::Runtime> runtime;
  clef::model::Files files;
};

struct clef_load_options {
  clef::capi::LoadSettings settings;
};

struct clef_model {
  std::shared_ptr<const clef::capi::LoadedModel> loaded;
};

struct clef_tokenizer {
  std::shared_ptr<const clef::text::Tokenizer> tokenizer;  // may share the life of a model
};

struct clef_schema {
  std::shared_ptr<const clef::schema::Schema> schema;
};

struct clef_schema_builder {
  clef::schema::Limits limits;
  clef::schema::SchemaBuilder builder;
};

struct clef_state {
  std::string copy;
  std::shared_ptr<const clef::capi::Borrowed> owner;  // of a borrowed text
  std::string_view borrowed;
  clef::decide::Media media;
  std::string_view text() const noexcept { return owner ? borrowed : std::string_view(copy); }
};

struct clef_options {
  clef::capi::DecideSettings settings;
};

struct clef_quantize_options {
  clef::capi::QuantizeSettings settings;
};

struct clef_session {
  std::shared_ptr<clef::capi::SessionState> state;
};

struct clef_decision {
  clef::decide::Decision decision;
  std::string json;
};

struct clef_text {
  std::string text;
};

struct clef_cancel {
  std::shared_ptr<clef::capi::CancelFlag> flag;
};
