// The boundary: the body of every exported function runs in one of these, so nothing is thrown into the host.
//
// guard() is for functions that answer a status: it sets the floating-point environment, turns an error or exception
// into a status and fills *error. guard_value() and guard_void() are for accessors and for free.
#pragma once
#include <memory>
#include <type_traits>

#include "base/status.hpp"
#include "clef.h"

namespace clef::capi {

using base::Code;
using base::Result;
using base::Status;

using Body = Status (*)(void* context);
clef_status run_guarded(clef_error** error, Body body, void* context) noexcept;

#ifdef CLEF_TEST_HOOKS
// Called at the start of every exported function; the tests let it throw.
extern void (*test_hook)();
inline void call_test_hook() {
  if (test_hook) test_hook();
}
#else
inline void call_test_hook() noexcept {}
#endif

template <class Function>
clef_status guard(clef_error** error, Function&& function) noexcept {
  using Plain = std::remove_reference_t<Function>;
  return run_guarded(
      error, [](void* context) { return (*static_cast<Plain*>(context))(); }, std::addressof(function));
}

template <class Value, class Function>
Value guard_value(Value fallback, Function&& function) noexcept {
  try {
    call_test_hook();
    return function();
  } catch (...) {
    return fallback;
  }
}

template <class Function>
void guard_void(Function&& function) noexcept {
  try {
    call_test_hook();
    function();
  } catch (...) {
  }
}

// ---- what the functions start with ----

template <class Value>
void clear(Value* output) noexcept {
  if (output) *output = Value{};
}

// A handle or output that must not be NULL.
inline Status require(const void* pointer, std::string_view what) {
  if (pointer) return {};
  return Status(Code::invalid_argument, "the argument " + std::string(what) + " is NULL");
}

}  // namespace clef::capi
