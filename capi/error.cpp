#include "error.hpp"

#include <memory>
#include <string>

#include "guard.hpp"
#include "json/json.hpp"
#include "strings.hpp"

namespace clef::capi {

constinit const clef_error kOutOfMemoryError = {
    .status = CLEF_OUT_OF_MEMORY,
    .message = "out of memory",
    .file = "",
    .tensor = "",
    .json = R"({"error":{"code":"out_of_memory","message":"out of memory"}})",
    .at = "",
};

namespace {

struct OwnedError : clef_error {
  base::ErrorDetail detail;
  std::string json_text;
};

}  // namespace

clef_error* make_error(base::ErrorDetail detail) {
  auto error = std::make_unique<OwnedError>();
  error->detail = std::move(detail);
  base::ErrorDetail& d = error->detail;
  for (std::string* text : {&d.message, &d.at, &d.file, &d.tensor}) replace_invalid_utf8(*text);
  json::Writer writer(error->json_text);
  writer.begin_object();
  writer.key("error");
  writer.begin_object();
  writer.key("code");
  writer.string(base::code_name(d.code));
  writer.key("message");
  writer.string(d.message);
  if (d.has_at) {
    writer.key("at");
    writer.string(d.at);
  }
  writer.end_object();
  writer.end_object();
  error->status = static_cast<clef_status>(d.code);
  error->message = d.message;
  error->file = d.file;
  error->tensor = d.tensor;
  error->at = d.at;
  error->has_at = d.has_at;
  error->offset = d.offset;
  error->json = error->json_text;
  return error.release();
}

}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_error_status(const clef_error* error) {
  return guard_value<clef_status>(CLEF_OK, [&] { return error ? error->status : clef_status{CLEF_OK}; });
}

const char* clef_error_message(const clef_error* error, size_t* size) {
  return guard_string(size, [&] { return error ? error->message : std::string_view(""); });
}

const char* clef_error_at(const clef_error* error, size_t* size) {
  clear(size);
  return guard_value<const char*>(nullptr, [&]() -> const char* {
    if (!error || !error->has_at) return nullptr;
    if (size) *size = error->at.size();
    return error->at.data();
  });
}

const char* clef_error_file(const clef_error* error, size_t* size) {
  return guard_string(size, [&] { return error ? error->file : std::string_view(""); });
}

const char* clef_error_tensor(const clef_error* error, size_t* size) {
  return guard_string(size, [&] { return error ? error->tensor : std::string_view(""); });
}

int64_t clef_error_offset(const clef_error* error) {
  return guard_value<int64_t>(-1, [&] { return error ? error->offset : int64_t{-1}; });
}

const char* clef_error_json(const clef_error* error, size_t* size) {
  return guard_string(size, [&] { return error ? error->json : std::string_view(""); });
}

void clef_error_free(clef_error* error) {
  guard_void([&] {
    if (error != &kOutOfMemoryError) delete static_cast<OwnedError*>(error);
  });
}
