#include "handles.hpp"

namespace clef::capi {

SessionState::SessionState(std::shared_ptr<const LoadedModel> loaded_model)
    : loaded(std::move(loaded_model)), held(loaded->runtime->memory()), arena(held), scratch(arena.allocator()) {
  renew();
}

void SessionState::renew() {
  session =
      std::make_unique<decide::Session>(loaded->model, loaded->runtime->executor(), loaded->runtime->isa(), scratch);
}

Result<BusySession> BusySession::take(const std::shared_ptr<SessionState>& session) {
  CLEF_RETURN_IF_ERROR(session->loaded->runtime->check_process());
  if (session->busy.exchange(true, std::memory_order_acquire))
    return Status(Code::busy,
                  "the session is in use by another call or by a run that was not freed; make a session per call");
  return BusySession(session);
}

}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_session_create(const clef_model* model, clef_session** session, clef_error** error) {
  clear(session);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    auto made = std::make_unique<clef_session>();
    made->state = std::make_shared<SessionState>(model->loaded);
    *session = made.release();
    return {};
  });
}

clef_status clef_session_reserve(clef_session* session, uint64_t tokens, const clef_options* options,
                                 clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_ASSIGN_OR_RETURN(const BusySession busy, BusySession::take(session->state));
    const clef::decide::Options decide = settings_of(options).decide;
    CLEF_ASSIGN_OR_RETURN(const uint64_t bytes,
                          clef::decide::estimate_scratch(busy->loaded->model->config(), tokens, decide.chunk,
                                                         busy->loaded->runtime->executor().concurrency()));
    if (decide.memory_limit != 0 && bytes > decide.memory_limit)
      return Status(Code::memory_limit, "a decision of " + std::to_string(tokens) + " tokens may take " +
                                            std::to_string(bytes) + " bytes; the limit is " +
                                            std::to_string(decide.memory_limit));
    busy->renew();
    return busy->arena.reserve(bytes);
  });
}

void clef_session_trim(clef_session* session) {
  guard_void([&] {
    if (!session) return;
    const auto busy = BusySession::take(session->state);
    if (!busy.ok()) return;
    session->state->renew();
    session->state->arena.trim();
  });
}

void clef_session_memory(const clef_session* session, uint64_t* used, uint64_t* peak) {
  clear(used);
  clear(peak);
  guard_void([&] {
    if (!session) return;
    if (used) *used = session->state->held.used();
    if (peak) *peak = session->state->held.peak();
  });
}

void clef_session_free(clef_session* session) {
  guard_void([&] { delete session; });
}
