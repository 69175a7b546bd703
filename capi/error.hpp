// Error objects. The one for "out of memory" is constant and is never freed, so that giving it allocates nothing.
#pragma once
#include <string_view>

#include "base/status.hpp"
#include "clef.h"

// Views of NUL-terminated strings.
struct clef_error {
  clef_status status = CLEF_INTERNAL;
  std::string_view message, file, tensor, json;
  std::string_view at;
  bool has_at = false;
  int64_t offset = -1;
};

namespace clef::capi {

extern const clef_error kOutOfMemoryError;

// May throw std::bad_alloc.
clef_error* make_error(base::ErrorDetail detail);

}  // namespace clef::capi
