// Which instruction set the kernels may use.
#pragma once
#include <cstdint>
#include <string_view>

namespace clef::base {

// In rising order within one architecture; the kernel table of a runtime is chosen by it.
enum class IsaLevel : uint8_t { baseline = 0, avx2 = 1, avx512 = 2 };

std::string_view isa_name(IsaLevel level) noexcept;  // "baseline", "avx2", "avx512"
// The best level that processor and operating system offer.
IsaLevel detect_isa() noexcept;

}  // namespace clef::base
