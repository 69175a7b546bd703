// Errors: Status, Error and Result<T>, a value or an error. Nothing here needs exceptions.
//
//     clef::Result<clef::Model> model = clef::Model::load("clef-flash.gguf");
//     if (!model) return complain(model.error().message());
//     use(*model);
//
// Where exceptions are on, `clef::Model::load(path).value()` throws a clef::Exception instead.
#pragma once
#include <clef.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define CLEF_HAS_EXCEPTIONS 1
#include <exception>
#else
#define CLEF_HAS_EXCEPTIONS 0
#endif

namespace clef {
inline namespace v0 {

// What kind of error it is. The numbers never change; treat one that you do not know as "other".
enum class Status : std::int32_t {
  ok = CLEF_OK,
  invalid_argument = CLEF_INVALID_ARGUMENT,
  invalid_json = CLEF_INVALID_JSON,
  invalid_unicode = CLEF_INVALID_UNICODE,
  wrong_type = CLEF_WRONG_TYPE,
  missing_field = CLEF_MISSING_FIELD,
  unknown_field = CLEF_UNKNOWN_FIELD,
  duplicate_key = CLEF_DUPLICATE_KEY,
  invalid_value = CLEF_INVALID_VALUE,
  empty = CLEF_EMPTY,
  out_of_range = CLEF_OUT_OF_RANGE,
  busy = CLEF_BUSY,
  too_long = CLEF_TOO_LONG,
  too_many = CLEF_TOO_MANY,
  too_few = CLEF_TOO_FEW,
  too_deep = CLEF_TOO_DEEP,
  memory_limit = CLEF_MEMORY_LIMIT,
  io = CLEF_IO,
  not_found = CLEF_NOT_FOUND,
  bad_file = CLEF_BAD_FILE,
  not_clef = CLEF_NOT_CLEF,
  missing_part = CLEF_MISSING_PART,
  non_finite = CLEF_NON_FINITE,
  unsupported = CLEF_UNSUPPORTED,
  out_of_memory = CLEF_OUT_OF_MEMORY,
  cancelled = CLEF_CANCELLED,
  device = CLEF_DEVICE,
  abi_mismatch = CLEF_ABI_MISMATCH,
  forked = CLEF_FORKED,
  internal = CLEF_INTERNAL
};

// Stable name of a status: "ok", "too_long"; "unknown" for others. Thread-safety: any thread.
inline std::string_view status_name(Status status) noexcept {
  return clef_status_name(static_cast<clef_status>(status));
}

namespace detail {

// Owns one C handle.
template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* handle) const noexcept {
    Free(handle);
  }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Deleter<Free>>;

inline std::string_view view(const char* data, std::size_t size) noexcept {
  return data != nullptr ? std::string_view(data, size) : std::string_view();
}

// Pointer of a text that must be there; a default-made view counts as the empty text.
inline const char* data(std::string_view text) noexcept {
  return text.data() != nullptr ? text.data() : "";
}

}  // namespace detail

// One error. Move-only; owns its texts, independent of every other object. Thread-safety: any thread may read it.
class Error {
 public:
  // Takes over an error of the C interface; `handle` may be null (then only the status is known).
  Error(clef_status status, clef_error* handle) noexcept : status_(status), handle_(handle) {}
  // An error that was found on this side of the C interface.
  Error(Status status, std::string message) : status_(static_cast<clef_status>(status)), message_(std::move(message)) {}

  // The kind; stable, to be branched on.
  Status status() const noexcept { return static_cast<Status>(status_); }
  // English, for people: names the file, tensor, field and value. Its wording may change. Lives as long as the error.
  std::string_view message() const noexcept {
    if (handle_ == nullptr) return message_.empty() ? std::string_view(clef_status_name(status_)) : message_;
    std::size_t size = 0;
    const char* text = clef_error_message(handle_.get(), &size);
    return detail::view(text, size);
  }
  // JSON Pointer to the faulty field of a request ("" = the whole request); nothing when the error has no such place.
  std::optional<std::string_view> at() const noexcept {
    std::size_t size = 0;
    const char* text = clef_error_at(handle_.get(), &size);
    if (text == nullptr) return std::nullopt;
    return std::string_view(text, size);
  }
  // Display name of the file and name of the tensor that the error is about; empty when unknown. Never a path.
  std::string_view file() const noexcept {
    std::size_t size = 0;
    const char* text = clef_error_file(handle_.get(), &size);
    return detail::view(text, size);
  }
  std::string_view tensor() const noexcept {
    std::size_t size = 0;
    const char* text = clef_error_tensor(handle_.get(), &size);
    return detail::view(text, size);
  }
  // Byte offset in that file or in the request's text; -1 when unknown.
  std::int64_t offset() const noexcept { return handle_ != nullptr ? clef_error_offset(handle_.get()) : -1; }
  // {"error":{"code","message","at"?}}, ready to be sent as a response. Lives as long as the error.
  std::string_view json() const noexcept {
    if (handle_ == nullptr) return R"({"error":{"code":"internal","message":"no details are known"}})";
    std::size_t size = 0;
    const char* text = clef_error_json(handle_.get(), &size);
    return detail::view(text, size);
  }
  // The C handle, still owned by this object; null when there is none.
  const clef_error* get() const noexcept { return handle_.get(); }

 private:
  clef_status status_;
  std::string message_;  // when there is no handle
  detail::Handle<clef_error, &clef_error_free> handle_;
};

#if CLEF_HAS_EXCEPTIONS
// What Result::value() throws. Copies share one Error. Exists only where exceptions are on.
class Exception : public std::exception {
 public:
  explicit Exception(Error error) : error_(std::make_shared<const Error>(std::move(error))) {}
  // The message, NUL-terminated; lives as long as this exception or a copy of it.
  const char* what() const noexcept override { return error_->message().data(); }
  const Error& error() const noexcept { return *error_; }

 private:
  std::shared_ptr<const Error> error_;
};
#endif

// A value or an error. Move-only when T is. Check it with `if (result)`; * and -> need a value, error() needs an error
// (otherwise the behaviour is undefined, as for std::optional).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& operator*() & noexcept { return *std::get_if<0>(&state_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&state_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() noexcept { return std::get_if<0>(&state_); }
  const T* operator->() const noexcept { return std::get_if<0>(&state_); }

  const Error& error() const& noexcept { return *std::get_if<1>(&state_); }
  Error&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

#if CLEF_HAS_EXCEPTIONS
  // The value, or throws clef::Exception, which takes the error over. Does not exist where exceptions are off.
  T& value() & {
    raise();
    return **this;
  }
  T&& value() && {
    raise();
    return std::move(**this);
  }

 private:
  void raise() {
    if (!ok()) throw Exception(std::move(*this).error());
  }
#endif

 private:
  std::variant<T, Error> state_;
};

// Success or an error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept : error_(CLEF_OK, nullptr) {}
  Result(Error error) noexcept : error_(std::move(error)) {}

  bool ok() const noexcept { return error_.status() == Status::ok; }
  explicit operator bool() const noexcept { return ok(); }
  // Only when !ok().
  const Error& error() const& noexcept { return error_; }
  Error&& error() && noexcept { return std::move(error_); }

#if CLEF_HAS_EXCEPTIONS
  // Throws clef::Exception when there is an error. Does not exist where exceptions are off.
  void value() {
    if (!ok()) throw Exception(std::move(error_));
  }
#endif

 private:
  Error error_;  // of status ok when there is none
};

namespace detail {

// Calls a C function that fills `Raw*` and wraps what it made.
template <class T, class Raw, class Call>
Result<T> make(Call&& call) {
  Raw* raw = nullptr;
  clef_error* error = nullptr;
  const clef_status status = call(&raw, &error);
  if (status != CLEF_OK) return Error(status, error);
  return T(raw);
}

// Calls a C function that makes nothing.
template <class Call>
Result<void> run(Call&& call) {
  clef_error* error = nullptr;
  const clef_status status = call(&error);
  if (status != CLEF_OK) return Error(status, error);
  return {};
}

// Calls a C function that makes an owned string, and copies that.
template <class Call>
Result<std::string> text(Call&& call) {
  auto made = make<Handle<clef_text, &clef_text_free>, clef_text>(call);
  if (!made) return std::move(made).error();
  std::size_t size = 0;
  const char* bytes = clef_text_data(made->get(), &size);
  return std::string(view(bytes, size));
}

}  // namespace detail

}  // namespace v0
}  // namespace clef
