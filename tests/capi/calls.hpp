// Every exported function, called with NULL wherever a handle, output or string is taken.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "clef.h"

namespace clef::test {

struct Call {
  std::string name;
  bool has_status = false;  // answers a status through the guard
  bool has_error = false;   // and fills an error object
  std::function<clef_status(clef_error**)> call;
};

std::vector<Call> null_calls();

}  // namespace clef::test
