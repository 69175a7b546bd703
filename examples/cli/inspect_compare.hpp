// clef inspect A --compare B
#pragma once
#include <string>

#include "command.hpp"

namespace cli {

struct CompareArguments {
  std::string other;  // empty: nothing to compare with
  bool all = false;   // every tensor, not only those that differ most
};

int compare(const clef::Runtime& runtime, clef::Source& source, const CompareArguments& arguments, bool json);

}  // namespace cli
