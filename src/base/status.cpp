#include "base/status.hpp"

namespace clef::base {

std::string_view code_name(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::invalid_json:
      return "invalid_json";
    case Code::invalid_unicode:
      return "invalid_unicode";
    case Code::wrong_type:
      return "wrong_type";
    case Code::missing_field:
      return "missing_field";
    case Code::unknown_field:
      return "unknown_field";
    case Code::duplicate_key:
      return "duplicate_key";
    case Code::invalid_value:
      return "invalid_value";
    case Code::empty:
      return "empty";
    case Code::out_of_range:
      return "out_of_range";
    case Code::busy:
      return "busy";
    case Code::too_long:
      return "too_long";
    case Code::too_many:
      return "too_many";
    case Code::too_few:
      return "too_few";
    case Code::too_deep:
      return "too_deep";
    case Code::memory_limit:
      return "memory_limit";
    case Code::io:
      return "io";
    case Code::not_found:
      return "not_found";
    case Code::bad_file:
      return "bad_file";
    case Code::not_clef:
      return "not_clef";
    case Code::missing_part:
      return "missing_part";
    case Code::non_finite:
      return "non_finite";
    case Code::unsupported:
      return "unsupported";
    case Code::out_of_memory:
      return "out_of_memory";
    case Code::cancelled:
      return "cancelled";
    case Code::device:
      return "device";
    case Code::abi_mismatch:
      return "abi_mismatch";
    case Code::forked:
      return "forked";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace clef::base
