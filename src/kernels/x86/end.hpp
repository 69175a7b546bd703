// Closes a region opened by x86/<isa>_begin.hpp.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
