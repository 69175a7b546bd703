// Hostile tokenizer.json text; a short text is encoded when it loads.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

using clef::text::PreTokenizer;
using clef::text::SpecialText;
using clef::text::Tokenizer;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto loaded = Tokenizer::from_json(json, "tokenizer.json", PreTokenizer::automatic);
  if (!loaded.ok()) {
    if (loaded.status().detail().message.empty()) __builtin_trap();
    return 0;
  }
  const Tokenizer& tokenizer = loaded.value();
  constexpr std::string_view kText =
      "abc aaaaaaa don't <x><xy> 12 e\xCC\x81\xCC\xA3 \xE4\xBD\xA0\xE5\xA5\xBD \n\n  "
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  std::vector<int32_t> ids;
  for (const SpecialText special : {SpecialText::literal, SpecialText::control}) {
    ids.clear();
    if (!tokenizer.encode(kText, special, ids).ok()) __builtin_trap();
    for (const int32_t id : ids)
      if (id < 0 || id >= tokenizer.size()) __builtin_trap();
    static_cast<void>(tokenizer.decode(ids));
  }
  // The rest of a broken text must be refused or encoded, never read past its end.
  static_cast<void>(tokenizer.encode(json.substr(0, 2000), SpecialText::control, ids));
  return 0;
}
