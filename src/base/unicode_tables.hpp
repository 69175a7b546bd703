// The layout of the tables that unicode_generate.py writes. Only unicode.cpp includes this.
#pragma once
#include <cstddef>
#include <cstdint>

namespace clef::base {

// One byte per code point, found in two steps: kProps[kBlocks[c >> kBlockShift] << kBlockShift | low bits of c].
// The low three bits are the CharClass.
inline constexpr uint8_t kClassMask = 0x07;
inline constexpr uint8_t kQuickNo = 0x08;     // NFC_Quick_Check=No
inline constexpr uint8_t kQuickMaybe = 0x10;  // NFC_Quick_Check=Maybe
inline constexpr uint8_t kHasCcc = 0x20;      // Canonical_Combining_Class is not 0
inline constexpr unsigned kBlockShift = 7;
extern const uint8_t kBlocks[];
extern const uint8_t kProps[];

struct CccRange {
  uint32_t first;
  uint32_t last;
  uint8_t ccc;
};
inline constexpr size_t kCccRangeCount = 333;
extern const CccRange kCccRanges[];

// Canonical mappings in one step, without Hangul syllables; second is 0 when there is one character only.
struct Decomposition {
  uint32_t code_point;
  uint32_t first;
  uint32_t second;
};
inline constexpr size_t kDecompositionCount = 2060;
extern const Decomposition kDecompositions[];

// Primary composites, sorted by both parts.
struct Composition {
  uint32_t first;
  uint32_t second;
  uint32_t code_point;
};
inline constexpr size_t kCompositionCount = 940;
extern const Composition kCompositions[];

extern const char kUnicodeVersion[];

}  // namespace clef::base
