#include "base/unicode.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "base/unicode_tables.hpp"

namespace clef::base {

namespace {

constexpr uint32_t kCodePoints = 0x110000;

// Hangul syllables are computed (The Unicode Standard, section 3.12).
constexpr uint32_t kSBase = 0xAC00, kLBase = 0x1100, kVBase = 0x1161, kTBase = 0x11A7;
constexpr uint32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;

uint8_t props(uint32_t c) noexcept {
  return c < kCodePoints ? kProps[size_t{kBlocks[c >> kBlockShift]} << kBlockShift | (c & ((1u << kBlockShift) - 1))]
                         : 0;
}

uint8_t combining_class(uint32_t c) noexcept {
  if ((props(c) & kHasCcc) == 0) return 0;
  const CccRange* end = kCccRanges + kCccRangeCount;
  const CccRange* found =
      std::lower_bound(kCccRanges, end, c, [](const CccRange& range, uint32_t value) { return range.last < value; });
  return found != end && found->first <= c ? found->ccc : 0;
}

// Where normalization may start anew: a starter that nothing before it can take up.
bool is_boundary(uint8_t props_of_character) noexcept {
  return (props_of_character & (kQuickNo | kQuickMaybe | kHasCcc)) == 0;
}

size_t skip_ascii(std::string_view text, size_t i) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t word; i + sizeof word <= text.size(); i += sizeof word) {
    std::memcpy(&word, text.data() + i, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) i++;
  return i;
}

// A decomposed character with its combining class in the top byte.
using Element = uint32_t;
Element element(uint32_t c) noexcept {
  return c | uint32_t{combining_class(c)} << 24;
}
uint32_t code_point(Element e) noexcept {
  return e & 0xFFFFFF;
}
uint32_t ccc(Element e) noexcept {
  return e >> 24;
}

void decompose(uint32_t c, std::vector<Element>& out) {
  if (c - kSBase < kSCount) {
    const uint32_t s = c - kSBase;
    out.push_back(kLBase + s / (kVCount * kTCount));
    out.push_back(kVBase + s / kTCount % kVCount);
    if (s % kTCount != 0) out.push_back(kTBase + s % kTCount);
    return;
  }
  // Only the first half of a mapping decomposes further, at most three times.
  uint32_t tail[4];
  size_t tail_size = 0;
  const Decomposition* end = kDecompositions + kDecompositionCount;
  while (c >= 0x80 && tail_size < std::size(tail)) {
    const Decomposition* found = std::lower_bound(
        kDecompositions, end, c, [](const Decomposition& d, uint32_t value) { return d.code_point < value; });
    if (found == end || found->code_point != c) break;
    if (found->second != 0) tail[tail_size++] = found->second;
    c = found->first;
  }
  out.push_back(element(c));
  while (tail_size > 0) out.push_back(element(tail[--tail_size]));
}

// The primary composite of two characters, or 0.
uint32_t compose(uint32_t first, uint32_t second) noexcept {
  if (first - kLBase < kLCount && second - kVBase < kVCount)
    return kSBase + ((first - kLBase) * kVCount + (second - kVBase)) * kTCount;
  if (first - kSBase < kSCount && (first - kSBase) % kTCount == 0 && second - kTBase - 1 < kTCount - 1)
    return first + (second - kTBase);
  if ((props(second) & kQuickMaybe) == 0) return 0;
  const Composition* end = kCompositions + kCompositionCount;
  const Composition* found =
      std::lower_bound(kCompositions, end, std::pair(first, second),
                       [](const Composition& c, const auto& value) { return std::pair(c.first, c.second) < value; });
  return found != end && found->first == first && found->second == second ? found->code_point : 0;
}

// Canonical ordering: marks after a starter by combining class, otherwise in their order. Counting keeps it linear.
void order(std::vector<Element>& elements, std::vector<Element>& scratch) {
  const auto by_class = [](Element a, Element b) { return ccc(a) < ccc(b); };
  for (auto it = elements.begin(); it != elements.end();) {
    if (ccc(*it) == 0) {
      ++it;
      continue;
    }
    const auto end = std::find_if(it, elements.end(), [](Element e) { return ccc(e) == 0; });
    if (!std::is_sorted(it, end, by_class)) {
      std::array<size_t, 257> place{};  // where the next mark of each class goes
      std::for_each(it, end, [&](Element e) { place[ccc(e) + 1]++; });
      for (size_t c = 0; c < 256; c++) place[c + 1] += place[c];
      scratch.assign(it, end);
      for (const Element e : scratch) it[static_cast<std::ptrdiff_t>(place[ccc(e)]++)] = e;
    }
    it = end;
  }
}

// Composes in place.
void compose_all(std::vector<Element>& elements) {
  constexpr size_t kNone = SIZE_MAX;
  size_t starter = kNone;
  size_t size = 0;
  for (const Element e : elements) {
    if (starter != kNone) {
      // Blocked when something between has no lower class than this character.
      const bool blocked = size - 1 != starter && ccc(elements[size - 1]) >= ccc(e);
      const uint32_t composed = blocked ? 0 : compose(code_point(elements[starter]), code_point(e));
      if (composed != 0) {
        elements[starter] = composed;
        continue;
      }
    }
    if (ccc(e) == 0) starter = size;
    elements[size++] = e;
  }
  elements.resize(size);
}

// Scans normalized text from a boundary. Returns the end when all of it is, else the last boundary before the place
// that needs work.
size_t quick_check(std::string_view text, size_t i) noexcept {
  size_t boundary = i;
  uint8_t last_class = 0;
  while (i < text.size()) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      i = skip_ascii(text, i);
      boundary = i - 1;
      last_class = 0;
      continue;
    }
    const size_t start = i;
    const uint32_t c = decode_utf8(text, i);
    const uint8_t p = props(c);
    if (is_boundary(p)) {
      boundary = start;
      last_class = 0;
      continue;
    }
    const uint8_t own_class = combining_class(c);
    if ((p & (kQuickNo | kQuickMaybe)) != 0 || (own_class != 0 && own_class < last_class)) return boundary;
    last_class = own_class;
  }
  return i;
}

}  // namespace

std::string_view unicode_version() noexcept {
  return kUnicodeVersion;
}

CharClass char_class(uint32_t c) noexcept {
  return static_cast<CharClass>(props(c) & kClassMask);
}

uint32_t decode_utf8(std::string_view text, size_t& i) noexcept {
  const auto byte = [&](size_t offset) -> uint32_t {
    return i + offset < text.size() ? static_cast<unsigned char>(text[i + offset]) : 0;
  };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return i++, lead;
  if (lead < 0xE0) {
    const uint32_t c = (lead & 0x1F) << 6 | (byte(1) & 0x3F);
    i += 2;
    return c;
  }
  if (lead < 0xF0) {
    const uint32_t c = (lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    i += 3;
    return c;
  }
  const uint32_t c = (lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  i += 4;
  return c;
}

void append_utf8(uint32_t c, std::string& out) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    tail(12), tail(6), tail(0);
  }
}

size_t find_invalid_utf8(std::string_view text) noexcept {
  size_t i = 0;
  while ((i = skip_ascii(text, i)) < text.size()) {
    const auto byte = [&](size_t offset) -> uint32_t {
      return i + offset < text.size() ? static_cast<unsigned char>(text[i + offset]) : 0;
    };
    const uint32_t lead = byte(0);
    // The second byte's range rules out overlong forms, surrogates and values beyond U+10FFFF.
    size_t length = 0;
    uint32_t low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF) {
      length = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      length = 3;
      if (lead == 0xE0) low = 0xA0;
      if (lead == 0xED) high = 0x9F;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      length = 4;
      if (lead == 0xF0) low = 0x90;
      if (lead == 0xF4) high = 0x8F;
    } else {
      return i;
    }
    if (byte(1) < low || byte(1) > high) return i;
    for (size_t offset = 2; offset < length; offset++)
      if ((byte(offset) & 0xC0) != 0x80) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string_view nfc(std::string_view text, std::string& scratch) {
  size_t boundary = quick_check(text, 0);
  if (boundary >= text.size()) return text;
  scratch.clear();
  scratch.reserve(text.size());
  std::vector<Element> elements, sorted;
  size_t copied = 0;
  while (boundary < text.size()) {
    scratch.append(text, copied, boundary - copied);
    // Up to the next boundary at least one character later.
    elements.clear();
    size_t i = boundary;
    do {
      const size_t start = i;
      const uint32_t c = decode_utf8(text, i);
      if (start != boundary && is_boundary(props(c))) {
        i = start;
        break;
      }
      decompose(c, elements);
    } while (i < text.size());
    order(elements, sorted);
    compose_all(elements);
    for (const Element e : elements) append_utf8(code_point(e), scratch);
    copied = i;
    boundary = quick_check(text, i);
  }
  scratch.append(text, copied, std::string_view::npos);
  return scratch == text ? text : std::string_view(scratch);
}

}  // namespace clef::base
