#include "handles.hpp"

using namespace clef::capi;

clef_status clef_cancel_create(clef_cancel** cancel, clef_error** error) {
  clear(cancel);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(cancel, "cancel"));
    auto made = std::make_unique<clef_cancel>();
    made->flag = std::make_shared<CancelFlag>(false);
    *cancel = made.release();
    return {};
  });
}

void clef_cancel_trip(clef_cancel* cancel) {
  guard_void([&] {
    if (cancel) cancel->flag->store(true, std::memory_order_relaxed);
  });
}

void clef_cancel_reset(clef_cancel* cancel) {
  guard_void([&] {
    if (cancel) cancel->flag->store(false, std::memory_order_relaxed);
  });
}

void clef_cancel_free(clef_cancel* cancel) {
  guard_void([&] { delete cancel; });
}
