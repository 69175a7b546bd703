#include "kernels/kernels.hpp"

namespace clef::kernels {

const Table* avx2_table() {
  return nullptr;
}
const Table* avx512_table() {
  return nullptr;
}

}  // namespace clef::kernels
