// The kernel tables that can run here: those of the machine's level and below, and the AVX-512 kernels on an emulation
// of their intrinsics where the machine lacks them and the emulation is installed.
#pragma once
#include <vector>

#include "kernels/kernels.hpp"

namespace clef::test {

std::vector<const kernels::Table*> tables();
const kernels::Table* emulated_avx512_table();  // null when not built

}  // namespace clef::test
