// Small C++ helpers over clef.h for the tests: owning handles, errors as values, a loaded demonstration model.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clef.h"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace clef::test {

template <auto free_function>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    free_function(pointer);
  }
};
template <class T, auto free_function>
using Owned = std::unique_ptr<T, Deleter<free_function>>;

using RuntimeOptions = Owned<clef_runtime_options, clef_runtime_options_free>;
using Runtime = Owned<clef_runtime, clef_runtime_free>;
using Source = Owned<clef_source, clef_source_free>;
using LoadOptions = Owned<clef_load_options, clef_load_options_free>;
using Model = Owned<clef_model, clef_model_free>;
using Tokenizer = Owned<clef_tokenizer, clef_tokenizer_free>;
using Schema = Owned<clef_schema, clef_schema_free>;
using Builder = Owned<clef_schema_builder, clef_schema_builder_free>;
using State = Owned<clef_state, clef_state_free>;
using Options = Owned<clef_options, clef_options_free>;
using Session = Owned<clef_session, clef_session_free>;
using Run = Owned<clef_run, clef_run_free>;
using Decision = Owned<clef_decision, clef_decision_free>;
using Text = Owned<clef_text, clef_text_free>;
using Cancel = Owned<clef_cancel, clef_cancel_free>;

// What an error said; frees it.
struct Fault {
  clef_status status = CLEF_OK;
  std::string message, at, file, tensor, json;
  bool has_at = false;
  int64_t offset = -1;
};

inline Fault take(clef_error* error) {
  Fault fault;
  if (!error) return fault;
  fault.status = clef_error_status(error);
  fault.message = clef_error_message(error, nullptr);
  const char* at = clef_error_at(error, nullptr);
  fault.has_at = at != nullptr;
  if (at) fault.at = at;
  fault.file = clef_error_file(error, nullptr);
  fault.tensor = clef_error_tensor(error, nullptr);
  fault.json = clef_error_json(error, nullptr);
  fault.offset = clef_error_offset(error);
  clef_error_free(error);
  return fault;
}

// Calls `function(..., clef_error**)` and gives the error; status and error must agree.
template <class Function>
Fault call(Function&& function) {
  clef_error* error = nullptr;
  const clef_status status = function(&error);
  REQUIRE((error != nullptr) == (status != CLEF_OK));
  if (error) REQUIRE(clef_error_status(error) == status);
  return take(error);
}

// A handle made by `function(T** out, clef_error** error)`; fails the test with the message otherwise.
template <class Handle, class Function>
Handle make(Function&& function) {
  typename Handle::pointer handle = nullptr;
  clef_error* error = nullptr;
  const clef_status status = function(&handle, &error);
  const Fault fault = take(error);
  INFO(fault.message);
  REQUIRE(status == CLEF_OK);
  REQUIRE(handle != nullptr);
  return Handle(handle);
}

inline Runtime make_runtime(const clef_runtime_options* options = nullptr) {
  return make<Runtime>(
      [&](auto out, auto error) { return clef_runtime_create(CLEF_ABI_VERSION, options, out, error); });
}

inline RuntimeOptions make_runtime_options(uint32_t threads = 0) {
  auto options = make<RuntimeOptions>(clef_runtime_options_create);
  REQUIRE(clef_runtime_options_set_threads(options.get(), threads, nullptr) == CLEF_OK);
  return options;
}

inline Runtime serial_runtime() {
  return make_runtime(make_runtime_options(1).get());
}

inline std::string nano_path() {
  return source_path("examples/clef-nano");
}

inline Source make_source(const clef_runtime* runtime, const std::string& path = nano_path()) {
  auto source = make<Source>([&](auto out, auto error) { return clef_source_create(runtime, out, error); });
  REQUIRE(clef_source_add_path(source.get(), nullptr, 0, path.data(), path.size(), nullptr) == CLEF_OK);
  return source;
}

inline Model load_model(const clef_runtime* runtime, const clef_load_options* options = nullptr) {
  const Source source = make_source(runtime);
  return make<Model>([&](auto out, auto error) { return clef_model_load(runtime, source.get(), options, out, error); });
}

inline Session make_session(const clef_model* model) {
  return make<Session>([&](auto out, auto error) { return clef_session_create(model, out, error); });
}

inline Schema parse_schema(const std::string& json, const clef_options* options = nullptr) {
  return make<Schema>(
      [&](auto out, auto error) { return clef_schema_parse(json.data(), json.size(), options, out, error); });
}

inline State text_state(const std::string& text) {
  auto state = make<State>(clef_state_create);
  REQUIRE(clef_state_set_text(state.get(), text.data(), text.size(), nullptr) == CLEF_OK);
  return state;
}

inline Options make_options() {
  return make<Options>(clef_options_create);
}

inline Decision decide_json(clef_session* session, const std::string& request, const clef_options* options = nullptr) {
  return make<Decision>([&](auto out, auto error) {
    return clef_decide_json(session, request.data(), request.size(), options, out, error);
  });
}

inline std::string json_of(const Decision& decision) {
  return clef_decision_json(decision.get(), nullptr);
}

// Everything of a decision that must be equal bit for bit.
inline std::vector<unsigned char> bits_of(const clef_decision* decision) {
  std::vector<unsigned char> bits;
  for (size_t q = 0; q < clef_decision_count(decision); ++q) {
    const auto* logits = reinterpret_cast<const unsigned char*>(clef_decision_logits(decision, q));
    const auto* probabilities = reinterpret_cast<const unsigned char*>(clef_decision_probabilities(decision, q));
    const size_t bytes = clef_decision_option_count(decision, q) * sizeof(float);
    bits.insert(bits.end(), logits, logits + bytes);
    bits.insert(bits.end(), probabilities, probabilities + bytes);
  }
  return bits;
}

inline constexpr const char* kQuestions =
    R"({"refund":{"type":"noul","instructions":"Is a refund requested?"},)"
    R"("team":{"type":"choice","instructions":"Which team?","criteria":{"shipping":"parcels","billing":"money, cards"}},)"
    R"("priority":{"type":"score","instructions":"How urgent?","criteria":["low","normal","high"]}})";
inline constexpr const char* kState = "I was charged twice for my order. Please give me my money back.";

inline std::string request_json() {
  return std::string(R"({"model":"m","state":")") + kState + R"(","questions":)" + kQuestions + "}";
}

}  // namespace clef::test
