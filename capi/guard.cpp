#include "guard.hpp"

#include <exception>
#include <new>

#include "base/fp_env.hpp"
#include "error.hpp"

namespace clef::capi {

#ifdef CLEF_TEST_HOOKS
void (*test_hook)() = nullptr;
#endif

namespace {

clef_status out_of_memory(clef_error** error) noexcept {
  if (error) *error = const_cast<clef_error*>(&kOutOfMemoryError);
  return CLEF_OUT_OF_MEMORY;
}

// Making the error object needs memory too; without it the error is the prepared one.
clef_status report(clef_error** error, base::ErrorDetail detail) noexcept {
  const auto status = static_cast<clef_status>(detail.code);
  if (!error) return status;
  try {
    *error = make_error(std::move(detail));
    return status;
  } catch (...) {
    return out_of_memory(error);
  }
}

clef_status report_exception(clef_error** error, const char* what) noexcept {
  try {
    base::ErrorDetail detail;
    detail.code = Code::internal;
    detail.message = "unexpected error inside the library: ";
    detail.message += what;
    return report(error, std::move(detail));
  } catch (...) {
    return out_of_memory(error);
  }
}

}  // namespace

clef_status run_guarded(clef_error** error, Body body, void* context) noexcept {
  try {
    const base::ScopedFpEnvironment fp_environment;
    call_test_hook();
    Status status = body(context);
    if (status.ok()) return CLEF_OK;
    return report(error, std::move(status.detail()));
  } catch (const std::bad_alloc&) {
    return out_of_memory(error);
  } catch (const std::exception& exception) {
    return report_exception(error, exception.what());
  } catch (...) {
    return report_exception(error, "an exception of unknown type");
  }
}

}  // namespace clef::capi
