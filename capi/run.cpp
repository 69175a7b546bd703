#include <chrono>

#include "handles.hpp"

// The session stays busy as long as the run lives. Members are destroyed from the last to the first.
struct clef_run {
  clef::capi::BusySession session;
  std::shared_ptr<const clef::schema::Schema> schema;
  clef::capi::DecideSettings settings;
  std::unique_ptr<clef::decide::Run> run;
  enum class Stage : uint8_t { working, finished, taken, failed } stage = Stage::working;
  std::unique_ptr<clef::decide::Decision> decision;
};

using namespace clef::capi;
using Stage = clef_run::Stage;

clef_status clef_run_start(clef_session* session, const clef_schema* schema, const clef_state* state,
                           const clef_options* options, clef_run** run, clef_error** error) {
  clear(run);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(run, "run"));
    DecideSettings settings = settings_of(options);
    CLEF_ASSIGN_OR_RETURN(BusySession busy, BusySession::take(session->state));
    std::unique_ptr<clef_run> made(
        new clef_run{std::move(busy), schema->schema, std::move(settings), nullptr, Stage::working, nullptr});
    CLEF_ASSIGN_OR_RETURN(made->run, made->session->session->start(*made->schema, state->text(),
                                                                   made->settings.for_call(), state->media));
    *run = made.release();
    return {};
  });
}

clef_status clef_run_step(clef_run* run, uint64_t budget, int32_t* finished, clef_error** error) {
  clear(finished);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(run, "run"));
    if (run->stage == Stage::failed)
      return Status(Code::invalid_argument, "the run has failed in an earlier step and cannot go on");
    CLEF_RETURN_IF_ERROR(run->session->loaded->runtime->check_process());
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    const auto spent = [&] {
      return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count());
    };
    while (run->stage == Stage::working) {
      bool done = false;
      run->stage = Stage::failed;  // also when the step throws
      CLEF_RETURN_IF_ERROR(run->run->step(done));
      run->stage = done ? Stage::finished : Stage::working;
      if (spent() >= budget) break;
    }
    if (finished) *finished = run->stage != Stage::working;
    return {};
  });
}

void clef_run_progress(const clef_run* run, uint64_t* done, uint64_t* total) {
  clear(done);
  clear(total);
  guard_void([&] {
    if (!run) return;
    if (done) *done = run->run->done();
    if (total) *total = run->run->total();
  });
}

clef_status clef_run_finish(clef_run* run, clef_decision** decision, clef_error** error) {
  clear(decision);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(run, "run"));
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    if (run->stage == Stage::working) return Status(Code::invalid_argument, "the run is not finished; step on");
    if (run->stage == Stage::failed) return Status(Code::invalid_argument, "the run has failed in an earlier step");
    if (run->stage == Stage::taken) return Status(Code::invalid_argument, "the result of the run was taken before");
    // Kept in the run until the handle is made, so that a lack of memory here can be overcome by a second call.
    if (!run->decision) {
      run->decision = std::make_unique<clef::decide::Decision>();
      *run->decision = std::move(*run->run).take();
    }
    clef::decide::Decision result = *run->decision;
    CLEF_ASSIGN_OR_RETURN(auto made,
                          make_decision(std::move(result), run->settings.json, *run->session->loaded->runtime));
    run->decision.reset();
    run->stage = Stage::taken;
    *decision = made.release();
    return {};
  });
}

void clef_run_free(clef_run* run) {
  guard_void([&] { delete run; });
}
