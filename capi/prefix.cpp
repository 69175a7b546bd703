// Kept states: the shape is here, the work is not yet.
#include "guard.hpp"

struct clef_prefix {};

using namespace clef::capi;

namespace {

Status not_yet() {
  return Status(Code::unsupported, "kept states are not supported by this version");
}

}  // namespace

clef_status clef_prefix_create(clef_session* session, const clef_state* state, const clef_options*,
                               clef_prefix** prefix, clef_error** error) {
  clear(prefix);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(prefix, "prefix"));
    return not_yet();
  });
}

clef_status clef_prefix_save(const clef_prefix* prefix, clef_write, void*, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(prefix, "prefix"));
    return not_yet();
  });
}

clef_status clef_prefix_load(const clef_model* model, clef_source* source, clef_prefix** prefix, clef_error** error) {
  clear(prefix);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_RETURN_IF_ERROR(require(prefix, "prefix"));
    return not_yet();
  });
}

clef_status clef_decide_prefix(clef_session* session, const clef_prefix* prefix, const clef_schema* schema,
                               const clef_options*, clef_decision** decision, clef_error** error) {
  clear(decision);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(prefix, "prefix"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    return not_yet();
  });
}

void clef_prefix_free(clef_prefix* prefix) {
  guard_void([&] { delete prefix; });
}
