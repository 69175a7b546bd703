// Compiled with baseline flags, like everything that decides what may run.
#include "kernels/kernels.hpp"

namespace clef::kernels {

const Table& table(int isa_level) {
  if (isa_level >= 2 && avx512_table()) return *avx512_table();
  if (isa_level >= 1 && avx2_table()) return *avx2_table();
  return kRefTable;
}

}  // namespace clef::kernels
