#include "base/status.hpp"
#include "guard.hpp"

using namespace clef::capi;

uint32_t clef_abi_version(void) {
  return guard_value<uint32_t>(0, [] { return uint32_t{CLEF_ABI_VERSION}; });
}

const char* clef_version_string(void) {
  return guard_value("", [] { return CLEF_VERSION; });
}

const char* clef_status_name(clef_status status) {
  return guard_value("unknown", [&] { return clef::base::code_name(static_cast<Code>(status)).data(); });
}
