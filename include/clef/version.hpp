// Versions of the header you compiled with and of the library that is linked.
//
// The C++ interface is header-only on top of clef.h: nothing of it is compiled into the library, so compilers, standard
// libraries and build modes may differ on both sides. It needs C++17; exceptions and RTTI may be off.
#pragma once
#include <clef.h>

#include <cstdint>
#include <string_view>

namespace clef {
inline namespace v0 {

// Version of these headers, "0.1.0".
constexpr std::string_view header_version() noexcept {
  return CLEF_VERSION;
}

// Version of the linked library. Lives as long as the library is loaded. Thread-safety: any thread.
inline std::string_view library_version() noexcept {
  return clef_version_string();
}

// major << 16 | minor of the linked library's interface; compare with CLEF_ABI_VERSION. Thread-safety: any thread.
inline std::uint32_t library_abi_version() noexcept {
  return clef_abi_version();
}

}  // namespace v0
}  // namespace clef
