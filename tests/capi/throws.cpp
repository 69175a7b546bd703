// A library that throws in every exported function: nothing may come out.
#include <new>
#include <stdexcept>

#include "calls.hpp"
#include "guard.hpp"
#include "owned.hpp"

using namespace clef::test;

namespace {

void throw_bad_alloc() {
  throw std::bad_alloc();
}
void throw_standard() {
  throw std::runtime_error("thrown by the test");
}
void throw_other() {
  throw 42;
}

struct HookScope {
  explicit HookScope(void (*hook)()) { clef::capi::test_hook = hook; }
  ~HookScope() { clef::capi::test_hook = nullptr; }
};

size_t hits = 0;
void count_hit() {
  ++hits;
}

}  // namespace

TEST_CASE("every exported function runs inside a guard") {
  for (const Call& c : null_calls()) {
    INFO(c.name);
    const HookScope scope(count_hit);
    hits = 0;
    c.call(nullptr);
    CHECK(hits > 0);
  }
}

TEST_CASE("exceptions become statuses") {
  struct Thrown {
    void (*hook)();
    clef_status status;
    const char* message;
  };
  for (const Thrown& thrown : {Thrown{throw_bad_alloc, CLEF_OUT_OF_MEMORY, "out of memory"},
                               {throw_standard, CLEF_INTERNAL, "thrown by the test"},
                               {throw_other, CLEF_INTERNAL, "unknown type"}}) {
    for (const Call& c : null_calls()) {
      INFO(c.name);
      clef_error* error = nullptr;
      clef_status status = CLEF_OK;
      {
        const HookScope scope(thrown.hook);
        status = c.call(&error);
      }
      if (!c.has_status) continue;  // an accessor: its answer for nothing
      CHECK(status == thrown.status);
      CHECK((error != nullptr) == c.has_error);
      const Fault fault = take(error);
      if (!c.has_error) continue;
      CHECK(fault.status == thrown.status);
      CHECK(fault.message.find(thrown.message) != std::string::npos);
    }
  }
}

TEST_CASE("the error for a lack of memory is prepared") {
  clef_error *first = nullptr, *second = nullptr;
  clef_state* state = nullptr;
  {
    const HookScope scope(throw_bad_alloc);
    CHECK(clef_state_create(&state, &first) == CLEF_OUT_OF_MEMORY);
    CHECK(clef_state_create(&state, &second) == CLEF_OUT_OF_MEMORY);
  }
  REQUIRE(first != nullptr);
  CHECK(first == second);
  clef_error_free(first);
  CHECK(std::string(clef_error_message(second, nullptr)) == "out of memory");  // freeing it is harmless
  CHECK(std::string(clef_error_json(second, nullptr)) ==
        R"({"error":{"code":"out_of_memory","message":"out of memory"}})");
  CHECK(clef_error_at(second, nullptr) == nullptr);
  clef_error_free(second);
}

TEST_CASE("borrowed memory is released when the call throws") {
  int released = 0;
  const auto state = make<State>(clef_state_create);
  {
    const HookScope scope(throw_bad_alloc);
    CHECK(clef_state_set_text_borrow(
              state.get(), "text", 4, [](void* user) { ++*static_cast<int*>(user); }, &released, nullptr) ==
          CLEF_OUT_OF_MEMORY);
  }
  CHECK(released == 1);
}
