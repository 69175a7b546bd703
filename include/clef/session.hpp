// Session: the scratch memory of one decision at a time; and Run, a decision made in steps.
#pragma once
#include <clef.h>

#include <chrono>
#include <clef/decision.hpp>
#include <clef/error.hpp>
#include <clef/options.hpp>
#include <clef/runtime.hpp>
#include <clef/schema.hpp>
#include <clef/state.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace clef {
inline namespace v0 {

// A decision made in steps, for frame loops. Its session is busy until the run is destroyed. Move-only.
// Thread-safety: one thread at a time.
class Run {
 public:
  // Takes over a C handle.
  explicit Run(clef_run* owned) noexcept : handle_(owned) {}

  // Works for about `budget` (at least one step; 0: exactly one). After an error the run is over.
  // Errors: those of a decision.
  Result<void> step(std::chrono::microseconds budget = std::chrono::microseconds(0)) {
    return detail::run([&](clef_error** error) {
      std::int32_t finished = 0;
      const std::uint64_t microseconds = budget.count() > 0 ? static_cast<std::uint64_t>(budget.count()) : 0;
      const clef_status status = clef_run_step(handle_.get(), microseconds, &finished, error);
      finished_ = finished != 0;
      return status;
    });
  }
  // Whether finish() can be called.
  bool finished() const noexcept { return finished_; }
  Progress progress() const noexcept {
    Progress progress{Stage::prefill, 0, 0};
    clef_run_progress(handle_.get(), &progress.done, &progress.total);
    return progress;
  }
  // The result. Errors: invalid_argument before finished().
  Result<Decision> finish() {
    return detail::make<Decision, clef_decision>(
        [&](clef_decision** out, clef_error** error) { return clef_run_finish(handle_.get(), out, error); });
  }
  // The C handle, still owned by this object.
  clef_run* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_run, &clef_run_free> handle_;
  bool finished_ = false;
};

// Scratch memory for one decision at a time, kept between decisions. Cheap to make: one per concurrent call. Keeps its
// model alive. Move-only. Thread-safety: one thread at a time (misuse is answered Status::busy).
//
// Errors of the decisions: those of a request (invalid_json, wrong_type, ...) with at(), too_long, memory_limit,
// out_of_memory, cancelled, non_finite, busy, forked.
class Session {
 public:
  // Takes over a C handle. Otherwise made by Model::session().
  explicit Session(clef_session* owned) noexcept : handle_(owned) {}

  // Answers all questions of the schema about the state, jointly, in one pass.
  Result<Decision> decide(const Schema& schema, const State& state, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Decision, clef_decision>([&](clef_decision** out, clef_error** error) {
      return clef_decide(handle_.get(), schema.get(), state.get(), handle->get(), out, error);
    });
  }
  // The same for a state that is a text.
  Result<Decision> decide(const Schema& schema, std::string_view text, const Options& options = {}) {
    auto state = State::text(text);
    if (!state) return std::move(state).error();
    return decide(schema, *state, options);
  }
  // A whole request {"model"?, "state", "questions", ...} as JSON; Decision::json() is the response.
  Result<Decision> decide_json(std::string_view request, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Decision, clef_decision>([&](clef_decision** out, clef_error** error) {
      return clef_decide_json(handle_.get(), detail::data(request), request.size(), handle->get(), out, error);
    });
  }
  // The same with the pictures and videos of `media` behind those of the request; its text is not used.
  Result<Decision> decide_json(std::string_view request, const State& media, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Decision, clef_decision>([&](clef_decision** out, clef_error** error) {
      return clef_decide_json_media(handle_.get(), detail::data(request), request.size(), media.get(), handle->get(),
                                    out, error);
    });
  }
  // Several at once; result i is for schemas[i] and states[i]. A refused one does not keep the others from being
  // answered. Both lists have the same length (else each result is invalid_argument).
  std::vector<Result<Decision>> decide_many(const std::vector<const Schema*>& schemas,
                                            const std::vector<const State*>& states, const Options& options = {});
  // A decision in steps; schema, state and options are copied or kept as needed.
  Result<Run> start(const Schema& schema, const State& state, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Run, clef_run>([&](clef_run** out, clef_error** error) {
      return clef_run_start(handle_.get(), schema.get(), state.get(), handle->get(), out, error);
    });
  }

  // Takes the memory of a decision of so many tokens now, so that later calls cannot fail for it.
  // Errors: memory_limit, out_of_memory.
  Result<void> reserve(std::uint64_t tokens, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::run(
        [&](clef_error** error) { return clef_session_reserve(handle_.get(), tokens, handle->get(), error); });
  }
  // Gives scratch memory back.
  void trim() noexcept { clef_session_trim(handle_.get()); }
  // Bytes of scratch.
  Memory memory() const noexcept {
    Memory memory;
    clef_session_memory(handle_.get(), &memory.used, &memory.peak);
    return memory;
  }
  // The C handle, still owned by this object.
  clef_session* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_session, &clef_session_free> handle_;
};

inline std::vector<Result<Decision>> Session::decide_many(const std::vector<const Schema*>& schemas,
                                                          const std::vector<const State*>& states,
                                                          const Options& options) {
  const std::size_t count = schemas.size();
  std::vector<Result<Decision>> results;
  results.reserve(count);
  if (states.size() != count) {
    for (std::size_t i = 0; i < count; ++i) results.push_back(Error(CLEF_INVALID_ARGUMENT, nullptr));
    return results;
  }
  auto handle = detail::make_options(options);
  std::vector<const clef_schema*> schema_handles(count);
  std::vector<const clef_state*> state_handles(count);
  std::vector<clef_decision*> decisions(count);
  std::vector<clef_error*> errors(count);
  for (std::size_t i = 0; i < count; ++i) {
    schema_handles[i] = schemas[i] != nullptr ? schemas[i]->get() : nullptr;
    state_handles[i] = states[i] != nullptr ? states[i]->get() : nullptr;
  }
  clef_status status = handle ? CLEF_OK : static_cast<clef_status>(handle.error().status());
  if (handle)
    status = clef_decide_many(handle_.get(), count, schema_handles.data(), state_handles.data(), handle->get(),
                              decisions.data(), errors.data());
  for (std::size_t i = 0; i < count; ++i) {
    if (decisions[i] != nullptr) {
      results.push_back(Decision(decisions[i]));
    } else {
      results.push_back(Error(errors[i] != nullptr ? clef_error_status(errors[i]) : status, errors[i]));
    }
  }
  return results;
}

}  // namespace v0
}  // namespace clef
