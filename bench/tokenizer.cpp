// Speed of loading a tokenizer.json and of encoding text.
//   bench_tokenizer TOKENIZER.json [TEXT]
// Without TEXT, a made-up English text and hard texts of 1 MB each are measured.
#include <chrono>
#include <clef/clef.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Best of several runs, in seconds.
template <class Function>
double best(int runs, Function run) {
  double least = 1e9;
  for (int i = 0; i < runs; i++) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (taken.count() < least) least = taken.count();
  }
  return least;
}

void measure(const clef::Tokenizer& tokenizer, const char* name, const std::string& text) {
  size_t count = 0;
  const double seconds = best(5, [&] {
    const auto ids = tokenizer.encode(text, true);
    if (!ids) return static_cast<void>(std::puts("encode failed"));
    count = ids->size();
  });
  std::printf("%-28s %8.2f MB %9zu ids %9.2f ms %8.1f MB/s\n", name, static_cast<double>(text.size()) / 1e6, count,
              seconds * 1e3, static_cast<double>(text.size()) / 1e6 / seconds);
}

std::string repeat(std::string_view unit, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

// Words by a fixed generator, so that the text has many different pieces.
std::string made_up(size_t bytes, bool blanks) {
  static constexpr std::string_view kSyllables[] = {"in",  "ter", "na",   "tion", "al",    "com", "mit",
                                                    "tee", "re",  "port", "the",  "of",    "and", "sys",
                                                    "tem", "con", "for",  "mer",  "chant", "ly"};
  std::string text;
  uint32_t state = 1;
  const auto next = [&](uint32_t bound) { return (state = state * 1664525 + 1013904223) / 65536 % bound; };
  while (text.size() < bytes) {
    for (uint32_t i = 1 + next(4); i > 0; i--) text += kSyllables[next(20)];
    if (!blanks) continue;
    if (next(9) == 0) text += next(3) == 0 ? ".\n" : ",";
    text += ' ';
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: bench_tokenizer TOKENIZER.json [TEXT]"), 2;
  const double load = best(3, [&] {
    if (!clef::Tokenizer::load(argv[1])) std::puts("load failed");
  });
  const auto loaded = clef::Tokenizer::load(argv[1]);
  if (!loaded) return std::printf("%s\n", std::string(loaded.error().message()).c_str()), 1;
  const clef::Tokenizer& tokenizer = *loaded;
  std::printf("load %.1f ms\n", load * 1e3);
  if (argc > 2) {
    measure(tokenizer, argv[2], read_file(argv[2]));
    return 0;
  }
  constexpr size_t kSize = 1'000'000;
  measure(tokenizer, "short question", "Is the invoice paid in full? Answer with yes or no.");
  measure(tokenizer, "words", made_up(kSize, true));
  measure(tokenizer, "letters without a blank", made_up(kSize, false));
  measure(tokenizer, "one letter", repeat("a", kSize));
  measure(tokenizer, "blanks", repeat(" ", kSize));
  measure(tokenizer, "punctuation", repeat("<|=-", kSize));
  measure(tokenizer, "Han", repeat("\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C", kSize));
  measure(tokenizer, "decomposed accents", repeat("e\xCC\x81", kSize));
  measure(tokenizer, "marks only", repeat("\xCC\x81\xCC\xA3", kSize));
  measure(tokenizer, "added tokens", repeat("<|im_end|>x", kSize));
  return 0;
}
