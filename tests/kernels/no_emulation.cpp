#include "tables.hpp"

namespace clef::test {

const kernels::Table* emulated_avx512_table() {
  return nullptr;
}

}  // namespace clef::test
