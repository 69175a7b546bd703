// A small tokenizer.json in which tests replace parts: all bytes and a few merges, and two added tokens.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "text/tokenizer.hpp"

namespace clef::test {

// The 256 characters of the byte alphabet in GPT-2's order: the printable bytes, then U+0100 on for the others.
inline std::vector<std::string> byte_alphabet() {
  std::vector<std::string> symbols;
  const auto add = [&](unsigned c) {
    symbols.push_back(c < 0x80 ? std::string(1, static_cast<char>(c))
                               : std::string{static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))});
  };
  for (unsigned c = 0x21; c <= 0x7E; c++) add(c);
  for (unsigned c = 0xA1; c <= 0xFF; c++)
    if (c != 0xAD) add(c);
  for (unsigned c = 0x100; c < 0x144; c++) add(c);
  return symbols;
}

// Ids: "!" 0 ... "a" 64, "b" 65, "c" 66 ..., "\u0120" (the blank) 220, then 256 "ab", 257 "bc", 258 "abc", 259 "aa",
// 260 "aaaa"; added 261 "<x>", 262 "<xy>".
inline std::string small_json() {
  std::string vocab;
  int id = 0;
  for (const std::string& symbol : byte_alphabet()) {
    vocab += symbol == "\"" ? "\"\\\"\":" : symbol == "\\" ? "\"\\\\\":" : "\"" + symbol + "\":";
    vocab += std::to_string(id++) + ",";
  }
  return R"({"version":"1.0","added_tokens":[)"
         R"({"id":261,"content":"<x>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true},)"
         R"({"id":262,"content":"<xy>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}],)"
         R"("normalizer":{"type":"NFC"},"pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":)"
         R"({"Regex":"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*)"
         R"(|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},"behavior":"Isolated","invert":false},)"
         R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":false,"use_regex":false}]},)"
         R"("model":{"type":"BPE","dropout":null,"unk_token":null,"byte_fallback":false,"ignore_merges":false,"vocab":{)" +
         vocab +
         R"("ab":256,"bc":257,"abc":258,"aa":259,"aaaa":260},)"
         R"("merges":["b c",["a","b"],"a bc","a a","aa aa"]}})";
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  if (place == std::string::npos) FAIL("the text to replace is missing: " + from);
  return text.replace(place, from.size(), to);
}

inline text::Tokenizer load(const std::string& json, text::PreTokenizer rule = text::PreTokenizer::automatic) {
  auto result = text::Tokenizer::from_json(json, "tokenizer.json", rule);
  if (!result.ok()) FAIL(result.status().detail().message);
  return std::move(result).value();
}

inline std::vector<int32_t> ids_of(const text::Tokenizer& tokenizer, std::string_view text,
                                   text::SpecialText special = text::SpecialText::control) {
  std::vector<int32_t> ids;
  const base::Status status = tokenizer.encode(text, special, ids);
  if (!status.ok()) FAIL(status.detail().message);
  return ids;
}

}  // namespace clef::test
