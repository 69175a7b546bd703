// Errors inside the library: Status (may be an error) and Result<T> (a value or an error).
// Only the standard library throws (std::bad_alloc); capi/guard.hpp turns that into a status at the boundary.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace clef::base {

// The numbers are those of clef_status in capi/clef.h and never change.
enum class Code : int32_t {
  ok = 0,
  // The caller's argument or request is wrong.
  invalid_argument = 100,
  invalid_json = 101,
  invalid_unicode = 102,
  wrong_type = 103,
  missing_field = 104,
  unknown_field = 105,
  duplicate_key = 106,
  invalid_value = 107,
  empty = 108,
  out_of_range = 109,
  busy = 110,
  // A limit was exceeded.
  too_long = 200,
  too_many = 201,
  too_few = 202,
  too_deep = 203,
  memory_limit = 204,
  // Reading failed.
  io = 300,
  not_found = 301,
  // A file is not what it should be.
  bad_file = 400,
  not_clef = 401,
  missing_part = 402,
  non_finite = 403,
  unsupported = 500,
  out_of_memory = 600,
  cancelled = 700,
  device = 800,
  abi_mismatch = 900,
  forked = 901,
  internal = 1000,
};

// Stable lower-case name of a code: "too_long", "wrong_type", ...
std::string_view code_name(Code code) noexcept;

// What an error carries. Empty or negative members are unknown.
struct ErrorDetail {
  Code code = Code::internal;
  std::string message;  // English, says what to do
  std::string at;       // JSON Pointer into the request, meaningful when has_at
  bool has_at = false;
  std::string file;
  std::string tensor;
  int64_t offset = -1;  // byte offset in `file`, or in the JSON text
};

class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(Code code, std::string message) : detail_(std::make_unique<ErrorDetail>()) {
    detail_->code = code;
    detail_->message = std::move(message);
  }
  explicit Status(ErrorDetail detail) : detail_(std::make_unique<ErrorDetail>(std::move(detail))) {}

  bool ok() const noexcept { return detail_ == nullptr; }
  Code code() const noexcept { return detail_ ? detail_->code : Code::ok; }
  // Only when !ok().
  const ErrorDetail& detail() const noexcept { return *detail_; }
  ErrorDetail& detail() noexcept { return *detail_; }
  std::string_view message() const noexcept {
    return detail_ ? std::string_view(detail_->message) : std::string_view();
  }

  // Builders for the place of an error; no effect on an ok status.
  Status&& at(std::string_view json_pointer) && {
    if (detail_) detail_->at = json_pointer, detail_->has_at = true;
    return std::move(*this);
  }
  Status&& in_file(std::string_view file) && {
    if (detail_) detail_->file = file;
    return std::move(*this);
  }
  Status&& in_tensor(std::string_view tensor) && {
    if (detail_) detail_->tensor = tensor;
    return std::move(*this);
  }
  Status&& at_offset(int64_t offset) && {
    if (detail_) detail_->offset = offset;
    return std::move(*this);
  }

 private:
  std::unique_ptr<ErrorDetail> detail_;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Status error) : state_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const noexcept { return state_.index() == 0; }
  // Only when ok().
  T& value() & noexcept { return *std::get_if<0>(&state_); }
  const T& value() const& noexcept { return *std::get_if<0>(&state_); }
  T&& value() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  // Only when !ok().
  const Status& status() const& noexcept { return *std::get_if<1>(&state_); }
  // Of a temporary, also when ok().
  Status status() && noexcept { return ok() ? Status() : std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace clef::base

// The two macros of the code base: early return of an error.
#define CLEF_RETURN_IF_ERROR(expression)              \
  do {                                                \
    ::clef::base::Status clef_status_ = (expression); \
    if (!clef_status_.ok()) return clef_status_;      \
  } while (false)
#define CLEF_CONCAT_INNER(a, b) a##b
#define CLEF_CONCAT(a, b) CLEF_CONCAT_INNER(a, b)
#define CLEF_ASSIGN_OR_RETURN(declaration, expression) \
  CLEF_ASSIGN_OR_RETURN_IMPL(CLEF_CONCAT(clef_result_, __LINE__), declaration, expression)
#define CLEF_ASSIGN_OR_RETURN_IMPL(temporary, declaration, expression) \
  auto temporary = (expression);                                       \
  if (!temporary.ok()) return std::move(temporary).status();           \
  declaration = std::move(temporary).value()
