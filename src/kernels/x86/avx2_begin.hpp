// Opens the region in which AVX2 and FMA may be used; x86/end.hpp closes it. Include intrinsics before it. No -m flags,
// so that no function outside a region can hold instructions the machine lacks.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
