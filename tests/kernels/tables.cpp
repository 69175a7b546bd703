#include "tables.hpp"

#include "base/cpu.hpp"

namespace clef::test {

std::vector<const kernels::Table*> tables() {
  std::vector<const kernels::Table*> list = {&kernels::kRefTable};
  const base::IsaLevel level = base::detect_isa();
  if (level >= base::IsaLevel::avx2 && kernels::avx2_table()) list.push_back(kernels::avx2_table());
  if (level >= base::IsaLevel::avx512 && kernels::avx512_table()) {
    list.push_back(kernels::avx512_table());
  } else if (emulated_avx512_table()) {
    list.push_back(emulated_avx512_table());
  }
  return list;
}

}  // namespace clef::test
