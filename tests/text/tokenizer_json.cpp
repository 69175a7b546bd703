#include <string>
#include <vector>

#include "small.hpp"
#include "support/catch.hpp"

using namespace clef;
using base::Code;
using test::ids_of;
using test::load;
using test::replaced;
using test::small_json;
using text::PreTokenizer;
using text::SpecialText;
using text::Tokenizer;
using Ids = std::vector<int32_t>;
using Catch::Matchers::Contains;

namespace {

// The error must have the code and name the file and the thing.
void refused(const std::string& json, Code code, const std::string& named) {
  CAPTURE(named);
  const auto result = Tokenizer::from_json(json, "some/tokenizer.json", PreTokenizer::automatic);
  REQUIRE_FALSE(result.ok());
  const base::ErrorDetail& detail = result.status().detail();
  CHECK(detail.code == code);
  CHECK(detail.file == "some/tokenizer.json");
  CHECK_THAT(detail.message, Contains("some/tokenizer.json: ") && Contains(named));
}

void refused_with(const std::string& from, const std::string& to, Code code, const std::string& named) {
  refused(replaced(small_json(), from, to), code, named);
}

}  // namespace

TEST_CASE("a small tokenizer.json") {
  const Tokenizer small = load(small_json());
  CHECK(small.size() == 263);
  CHECK(small.rule() == PreTokenizer::qwen2);
  CHECK(ids_of(small, "abc") == Ids{258});  // "b c" comes first
  CHECK(ids_of(small, "ab") == Ids{256});
  CHECK(ids_of(small, "aaaaa") == Ids{260, 64});
  CHECK(ids_of(small, "aaa") == Ids{259, 64});
  CHECK(ids_of(small, "") == Ids{});
  CHECK(small.decode(Ids{258, 220, 261}) == "abc <x>");
}

TEST_CASE("added tokens: leftmost, then longest, on the raw text") {
  const Tokenizer small = load(small_json());
  CHECK(ids_of(small, "<x><xy>a<xy") == Ids{261, 262, 64, 27, 87, 88});
  CHECK(ids_of(small, "<<x>") == Ids{27, 261});
  CHECK(ids_of(small, "<x>", SpecialText::literal) == Ids{27, 87, 29});
  // Merges do not go across an added token, nor does the pre-tokenizer.
  CHECK(ids_of(small, "ab<x>c") == Ids{256, 261, 66});
  // One token is the beginning of another.
  const Tokenizer nested = load(replaced(small_json(), "\"<xy>\"", "\"<x>y\""));
  CHECK(ids_of(nested, "<x>y<x>z<x>") == Ids{262, 261, 89, 261});
  // A combining mark after an added token stays a mark of its own: U+0301 is CC 81.
  CHECK(ids_of(small, "<x>\xCC\x81") == Ids{261, 136, 223});
}

TEST_CASE("normalization is as the file says") {
  const Ids composed = {127, 102}, decomposed = {68, 136, 223};  // C3 A9; 65 CC 81
  CHECK(ids_of(load(small_json()), "e\xCC\x81") == composed);
  const std::string nfc = R"("normalizer":{"type":"NFC"})";
  CHECK(ids_of(load(replaced(small_json(), nfc, R"("normalizer":null)")), "e\xCC\x81") == decomposed);
  CHECK(ids_of(load(replaced(small_json(), nfc, R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"}]})")),
               "e\xCC\x81") == composed);
  CHECK(ids_of(load(replaced(small_json(), nfc, R"("normalizer":{"type":"Sequence","normalizers":[]})")),
               "e\xCC\x81") == decomposed);
}

TEST_CASE("the rule is the stated one unless one is chosen") {
  const std::string other = replaced(replaced(small_json(), R"(?\\p{L}+)", R"(?[\\p{L}\\p{M}]+)"),
                                     R"([^\\s\\p{L}\\p{N}])", R"([^\\s\\p{L}\\p{M}\\p{N}])");
  const Tokenizer qwen35 = load(other);
  CHECK(qwen35.rule() == PreTokenizer::qwen35);
  CHECK(qwen35.stated_rule() == PreTokenizer::qwen35);
  const Tokenizer forced = load(other, PreTokenizer::qwen2);
  CHECK(forced.rule() == PreTokenizer::qwen2);
  CHECK(forced.stated_rule() == PreTokenizer::qwen35);
  CHECK(load(small_json(), PreTokenizer::qwen35).rule() == PreTokenizer::qwen35);
}

TEST_CASE("names of the rules") {
  for (const PreTokenizer rule : {PreTokenizer::automatic, PreTokenizer::qwen2, PreTokenizer::qwen35}) {
    const auto parsed = text::parse_pre_tokenizer(text::pre_tokenizer_name(rule));
    REQUIRE(parsed.ok());
    CHECK(parsed.value() == rule);
  }
  CHECK(text::pre_tokenizer_name(PreTokenizer::automatic) == "auto");
  const auto unknown = text::parse_pre_tokenizer("gpt2");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.status().code() == Code::invalid_value);
  CHECK_THAT(unknown.status().detail().message, Contains("gpt2"));
}

TEST_CASE("options that change nothing are accepted") {
  load(replaced(small_json(), "\"dropout\":null", "\"dropout\":0.0"));
  load(replaced(small_json(), "\"dropout\":null",
                R"("continuing_subword_prefix":"","end_of_word_suffix":null,"fuse_unk":false)"));
  load(replaced(small_json(), "\"byte_fallback\":false,\"ignore_merges\":false,", ""));
  load(replaced(small_json(), "\"version\":\"1.0\"", R"("post_processor":null,"truncation":null,"something":[1])"));
}

TEST_CASE("what would change the ids is refused by name") {
  const auto unsupported = [](const std::string& from, const std::string& to, const std::string& named) {
    refused_with(from, to, Code::unsupported, named);
  };
  unsupported("\"BPE\"", "\"WordPiece\"", "WordPiece");
  unsupported("\"type\":\"BPE\",", "", "\"model\"");
  unsupported("\"dropout\":null", "\"dropout\":0.1", "model.dropout");
  unsupported("\"dropout\":null", "\"dropout\":\"no\"", "model.dropout");
  unsupported("\"unk_token\":null", "\"unk_token\":\"<unk>\"", "model.unk_token");
  unsupported("\"byte_fallback\":false", "\"byte_fallback\":true", "model.byte_fallback");
  unsupported("\"ignore_merges\":false", "\"ignore_merges\":true", "model.ignore_merges");
  unsupported("\"dropout\":null", "\"continuing_subword_prefix\":\"##\"", "model.continuing_subword_prefix");
  unsupported("\"dropout\":null", "\"end_of_word_suffix\":\"</w>\"", "model.end_of_word_suffix");
  unsupported(R"({"type":"NFC"})", R"({"type":"NFKC"})", "NFKC");
  unsupported(R"({"type":"NFC"})", R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Lowercase"}]})",
              "Lowercase");
  unsupported(R"({"type":"NFC"})", R"("NFC")", "\"normalizer\"");
  unsupported("?\\\\p{L}+", "?\\\\p{L}{1,3}", "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|");
  unsupported("\"Regex\"", "\"String\"", "pattern");
  unsupported("\"Isolated\"", "\"Removed\"", "behavior");
  unsupported("\"invert\":false", "\"invert\":true", "invert");
  unsupported("\"add_prefix_space\":false", "\"add_prefix_space\":true", "add_prefix_space");
  unsupported("\"use_regex\":false", "\"use_regex\":true", "use_regex");
  unsupported(",\"use_regex\":false", "", "use_regex");
  unsupported("\"type\":\"Sequence\",\"pretokenizers\"", "\"type\":\"Other\",\"pretokenizers\"", "pre_tokenizer");
  unsupported("{\"type\":\"ByteLevel\"", "{\"type\":\"Digits\"},{\"type\":\"ByteLevel\"", "pre_tokenizer");
  unsupported("\"pre_tokenizer\"", "\"pre_tokenizers\"", "pre_tokenizer");
  unsupported("\"normalized\":false", "\"normalized\":true", "\"<x>\" must have \"normalized\" false");
  unsupported("\"lstrip\":false", "\"lstrip\":true", "\"<x>\" must have \"lstrip\" false");
  unsupported("\"rstrip\":false", "\"rstrip\":true", "rstrip");
  unsupported("\"single_word\":false", "\"single_word\":true", "single_word");
  unsupported("\"single_word\":false,", "", "single_word");
}

TEST_CASE("broken files are refused") {
  const auto bad = [](const std::string& from, const std::string& to, const std::string& named) {
    refused_with(from, to, Code::bad_file, named);
  };
  refused("", Code::bad_file, "JSON");
  refused("{\"model\":", Code::bad_file, "JSON");
  refused("[]", Code::bad_file, "object");
  refused("null", Code::bad_file, "object");
  bad("\"model\":", "\"modell\":", "\"model\"");
  bad(R"({"type":"NFC"})", R"({"type":"Sequence"})", "normalizers");
  bad("\"vocab\":{", "\"vocab\":[],\"vocal\":{", "model.vocab");
  bad("\"merges\":[", "\"merges\":{},\"urges\":[", "model.merges");
  bad("\"ab\":256", "\"ab\":\"256\"", "\"ab\" is not an integer");
  bad("\"ab\":256", "\"ab\":256.5", "\"ab\" is not an integer");
  bad("\"ab\":256", "\"ab\":-1", "\"ab\" is -1");
  bad("\"ab\":256", "\"ab\":2147483648", "\"ab\" is 2147483648");
  bad("\"ab\":256", "\"ab\":4194304", "\"ab\" is 4194304");
  bad("\"ab\":256", "\"ab\":257", "\"ab\" and \"bc\" have the same id 257");
  bad("\"ab\":256", "\"ab\":256,\"ab\":270", "\"ab\" has two ids, 256 and 270");
  bad("\"ab\":256", "\"\":256", "empty");
  bad("\"a\":64,", "", "\"a\" for byte 97");
  bad("\"a bc\"", "\"abc\"", "merge 2 is not a pair");
  bad("\"a bc\"", "\"a b c\"", "merge 2 is not a pair");
  bad("\"a bc\"", "[\"a\",\"b\",\"c\"]", "merge 2 is not a pair");
  bad("\"a bc\"", "[\"a\",1]", "merge 2 is not a pair");
  bad("\"a bc\"", "7", "merge 2 is not a pair");
  bad("\"a bc\"", "\"a cb\"", "merge 2 (\"a\" and \"cb\") names the token \"cb\"");
  bad("\"a bc\"", "\"zz b\"", "names the token \"zz\"");
  bad("\"a bc\"", "\"a c\"", "names the token \"ac\"");
  bad("\"a bc\"", "\" bc\"", "merge 2");
  bad("\"added_tokens\":[", "\"added_tokens\":{},\"more\":[", "added_tokens");
  bad("\"content\":\"<x>\"", "\"content\":7", "content");
  bad("\"content\":\"<x>\"", "\"content\":\"\"", "no text");
  bad("\"content\":\"<x>\"", "\"content\":\"" + std::string(513, 'x') + "\"", "longer than 512");
  bad("\"content\":\"<x>\"", "\"content\":\"<xy>\"", "\"<xy>\" appears twice");
  bad("\"id\":261,", "", "\"<x>\" is not an integer");
  bad("\"id\":261", "\"id\":262", "two added tokens have the id 262");
  bad("\"id\":261", "\"id\":-5", "\"<x>\" is -5");
  bad("\"id\":261", "\"id\":64", "gives to \"a\"");
  bad("\"content\":\"<x>\"", "\"content\":\"abc\"", "but 258 in the vocabulary");
  bad(",\"special\":true", "", "special");
}

TEST_CASE("holes between ids are unused ids") {
  const Tokenizer holes = load(replaced(small_json(), "\"id\":261", "\"id\":300"));
  CHECK(holes.size() == 301);
  CHECK(holes.decode(Ids{299, 261, 300}) == "<x>");
  CHECK(ids_of(holes, "<x>") == Ids{300});
}

TEST_CASE("a repeated merge counts at its last place") {
  // "b c" now comes after "a b", so "abc" is "ab", "c".
  const Tokenizer repeated = load(replaced(small_json(), "[\"a\",\"b\"],", "[\"a\",\"b\"],\"b c\","));
  CHECK(ids_of(repeated, "abc") == Ids{256, 66});
}
