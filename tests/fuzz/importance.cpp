// Any bytes as an importance matrix: what is accepted has usable weights.
#include <cmath>
#include <cstdint>

#include "convert/imatrix.hpp"

namespace {

using namespace clef;

void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto source = io::from_memory(std::as_bytes(std::span(data, size)), false, "m").value();
  const auto result = convert::read_importance(source);
  if (!result.ok()) {
    require(!result.status().message().empty());
    return 0;
  }
  require(!result.value().entries.empty());
  size_t columns = 0;
  for (const auto& [name, values] : result.value().entries) {
    require(result.value().find(name).size() == values.size() && !values.empty());
    for (const float value : values) require(std::isfinite(value) && value >= 0);
    columns += values.size();
  }
  require(columns <= size);
  return 0;
}
