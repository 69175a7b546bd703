#include <string>
#include <vector>

#include "small.hpp"
#include "support/catch.hpp"

using namespace clef;
using base::Code;
using test::ids_of;
using text::PreTokenizer;
using text::SpecialText;
using text::Tokenizer;
using text::Vocabulary;
using Ids = std::vector<int32_t>;
using Catch::Matchers::Contains;

namespace {

struct Owned {
  std::vector<std::string> symbols = test::byte_alphabet();
  Vocabulary vocabulary;

  // As a GGUF file gives it: added and unused tokens stand in the list too.
  Owned() {
    for (const std::string& symbol : symbols) vocabulary.tokens.push_back(symbol);
    for (const char* token : {"ab", "<|end|>", "<think>", "[PAD259]"}) vocabulary.tokens.push_back(token);
    vocabulary.merges = {{"a", "b"}};
    vocabulary.added = {{"<|end|>", 257, true}, {"<think>", 258, false}};
  }
};

void refused(const Vocabulary& vocabulary, Code code, const std::string& named,
             PreTokenizer rule = PreTokenizer::automatic) {
  const auto result = Tokenizer::from_vocabulary(vocabulary, "model.gguf", rule);
  REQUIRE_FALSE(result.ok());
  CHECK(result.status().code() == code);
  CHECK(result.status().detail().file == "model.gguf");
  CHECK_THAT(result.status().detail().message, Contains("model.gguf: ") && Contains(named));
}

}  // namespace

TEST_CASE("a vocabulary in memory") {
  Owned owned;
  owned.vocabulary.rule = PreTokenizer::qwen35;
  auto result = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(result.ok());
  // The tokenizer keeps nothing of what it was made from.
  owned = Owned();
  owned.symbols.clear();
  const Tokenizer tokenizer = std::move(result).value();
  CHECK(tokenizer.rule() == PreTokenizer::qwen35);
  CHECK(tokenizer.size() == 260);
  CHECK(ids_of(tokenizer, "ab<|end|><think>b") == Ids{256, 257, 258, 65});
  CHECK(ids_of(tokenizer, "<|end|>", SpecialText::literal) == Ids{27, 91, 68, 77, 67, 91, 29});
  CHECK(tokenizer.decode(Ids{259, 256}) == "[PAD259]ab");
  REQUIRE(tokenizer.added_tokens().size() == 2);
  CHECK(tokenizer.added_tokens()[0].special);
  CHECK_FALSE(tokenizer.added_tokens()[1].special);
  CHECK(tokenizer.added_token("<think>") == 258);
}

TEST_CASE("added ids beyond the list, and no added tokens at all") {
  Owned owned;
  owned.vocabulary.added.push_back({"<far>", 1000, true});
  auto far = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(far.ok());
  CHECK(far.value().size() == 1001);
  CHECK(far.value().decode(Ids{999, 1000}) == "<far>");
  owned.vocabulary.added.clear();
  auto none = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(none.ok());
  CHECK(ids_of(none.value(), "<think>") == Ids{27, 83, 71, 72, 77, 74, 29});
}

TEST_CASE("no normalization when the vocabulary says so") {
  Owned owned;
  owned.vocabulary.nfc = false;
  auto result = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(result.ok());
  CHECK(ids_of(result.value(), "e\xCC\x81") == Ids{68, 136, 223});
}

TEST_CASE("without any merge every byte is a token") {
  Owned owned;
  owned.vocabulary.merges.clear();
  auto result = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(result.ok());
  CHECK(ids_of(result.value(), "ab ab") == Ids{64, 65, 220, 64, 65});
}

TEST_CASE("tokens outside the byte alphabet stand for themselves") {
  Owned owned;
  owned.vocabulary.tokens.push_back("a b");
  owned.vocabulary.tokens.push_back("\xE4\xBD\xA0");
  owned.vocabulary.tokens.push_back("\xFF");
  owned.vocabulary.tokens.push_back(
      "\xC4\xA0"
      "ab");
  auto result = Tokenizer::from_vocabulary(owned.vocabulary, "model.gguf", PreTokenizer::automatic);
  REQUIRE(result.ok());
  CHECK(result.value().decode(Ids{260, 261, 262, 263}) == "a b\xE4\xBD\xA0\xFF ab");
}

TEST_CASE("vocabularies that cannot work are refused") {
  Owned owned;
  owned.vocabulary.rule = PreTokenizer::automatic;
  refused(owned.vocabulary, Code::invalid_argument, "qwen2 or qwen35");
  owned = Owned();
  owned.vocabulary.tokens.push_back("ab");
  refused(owned.vocabulary, Code::bad_file, "\"ab\" has two ids, 256 and 260");
  owned = Owned();
  owned.vocabulary.tokens[64] = {};
  owned.vocabulary.merges.clear();
  refused(owned.vocabulary, Code::bad_file, "\"a\" for byte 97");
  owned = Owned();
  owned.vocabulary.merges.push_back({"b", "a"});
  refused(owned.vocabulary, Code::bad_file, "merge 1 (\"b\" and \"a\") names the token \"ba\"");
  owned = Owned();
  owned.vocabulary.added[0].id = -1;
  refused(owned.vocabulary, Code::bad_file, "negative");
  owned = Owned();
  owned.vocabulary.added[0].id = INT32_MAX;
  refused(owned.vocabulary, Code::bad_file, "2147483647");
  owned = Owned();
  owned.vocabulary.added[0].text = "<|\xFF|>";
  refused(owned.vocabulary, Code::bad_file, "UTF-8");
  owned = Owned();
  owned.vocabulary.added[0].id = 256;
  refused(owned.vocabulary, Code::bad_file, "\"ab\"");
}
