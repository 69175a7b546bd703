// Tokenizers of models, and of files that hold nothing else.
#include "support.hpp"

using namespace clef;
using namespace clef::test;
using text::PreTokenizer;
using text::SpecialText;

namespace {

const std::vector<std::string> kTexts = {
    "",
    "Hello, world! It's 2026 and I'll pay 1,234.50 USD.",
    "  leading blanks\n\n\tand\r\ntabs   ",
    "{\"a\":[1,2,{\"b\":\"\\u00e9\"}],\"z\":null}",
    "Gr\xc3\xbc\xc3\x9f"
    "e, \xe4\xbd\xa0\xe5\xa5\xbd, \xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",
    "\xe0\xa4\xb9\xe0\xa4\xbf\xe0\xa4\x82\xe0\xa4\xa6\xe0\xa5\x80 e\xcc\x81 \xe2\x9c\x88\xef\xb8\x8f",  // combining
                                                                                                        // marks
    "<think>a</think><|im_start|>user<|im_end|><|image_pad|><tool_call>x",
    "\xf0\x9f\x98\x80\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd",
};

std::vector<int32_t> ids_of(const text::Tokenizer& tokenizer, const std::string& text, SpecialText special) {
  std::vector<int32_t> ids;
  REQUIRE(tokenizer.encode(text, special, ids).ok());
  return ids;
}

text::Tokenizer load(const std::string& path, PreTokenizer rule = PreTokenizer::automatic) {
  return must(model::load_tokenizer(at_path(data_path(path)), rule));
}

// A vocabulary of the 256 byte symbols and what is added to it.
struct Vocabulary {
  std::vector<std::string> tokens;
  std::vector<int32_t> types;
  std::vector<std::string> merges;
  std::string model = "gpt2", pre = "qwen2", architecture = "clef";
  bool with_types = true, with_merges = true, with_tokens = true;

  Vocabulary() {
    // The byte-level alphabet: printable bytes stand for themselves, the others for U+0100 and up.
    uint32_t next = 0x100;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
      const uint32_t c = printable ? byte : next++;
      std::string symbol;
      if (c < 0x80) {
        symbol += static_cast<char>(c);
      } else {
        symbol += static_cast<char>(0xc0 | c >> 6), symbol += static_cast<char>(0x80 | (c & 0x3f));
      }
      add(symbol, 1);
    }
  }
  void add(const std::string& token, int32_t type) { tokens.push_back(token), types.push_back(type); }

  base::Result<text::Tokenizer> load() const {
    GgufWriter writer;
    writer.add_string("general.architecture", architecture);
    if (!model.empty()) writer.add_string("tokenizer.ggml.model", model);
    if (!pre.empty()) writer.add_string("tokenizer.ggml.pre", pre);
    if (with_tokens) writer.add_strings("tokenizer.ggml.tokens", tokens);
    if (with_types) writer.add_i32s("tokenizer.ggml.token_type", types);
    if (with_merges) writer.add_strings("tokenizer.ggml.merges", merges);
    model::Files files;
    files.entries.push_back({"v.gguf", "", in_memory(writer.bytes(), "v.gguf")});
    return model::load_tokenizer(files, PreTokenizer::automatic);
  }
};

}  // namespace

TEST_CASE("GGUF and tokenizer.json of one model give the same ids") {
  for (const char* name : {"tiny-flash", "tiny-clef"}) {
    const text::Tokenizer json = load("models/" + std::string(name));
    const text::Tokenizer gguf = load("gguf/" + std::string(name) + "-bf16.gguf");
    CHECK(json.rule() == PreTokenizer::qwen2);
    CHECK(gguf.rule() == PreTokenizer::qwen2);
    for (const std::string& text : kTexts) {
      INFO(text);
      for (const SpecialText special : {SpecialText::literal, SpecialText::control}) {
        const std::vector<int32_t> ids = ids_of(json, text, special);
        CHECK(ids_of(gguf, text, special) == ids);
        CHECK(gguf.decode(ids) == json.decode(ids));
      }
    }
    CHECK(json.added_tokens().size() == gguf.added_tokens().size());
    for (const text::AddedToken& token : json.added_tokens()) CHECK(gguf.added_token(token.text) == token.id);
    CHECK(ids_of(json, "<|im_end|>", SpecialText::control).size() == 1);
  }
}

TEST_CASE("a rule can be forced") {
  const text::Tokenizer forced = load("gguf/tiny-clef-bf16.gguf", PreTokenizer::qwen35);
  CHECK(forced.rule() == PreTokenizer::qwen35);
  const text::Tokenizer stated = load("gguf/tiny-clef-bf16.gguf");
  bool differs = false;
  for (const std::string& text : kTexts)
    differs |= ids_of(forced, text, SpecialText::literal) != ids_of(stated, text, SpecialText::literal);
  CHECK(differs);
}

TEST_CASE("a tokenizer alone") {
  const text::Tokenizer expected = load("models/tiny-flash");
  for (const char* path : {"models/tiny-flash/tokenizer.json", "models/tiny-flash/config.json"})
    CHECK(ids_of(load(path), kTexts[1], SpecialText::literal) == ids_of(expected, kTexts[1], SpecialText::literal));
  Pack pack;
  pack.files["tokenizer.json"] = tiny_flash().files.at("tokenizer.json");
  CHECK(model::load_tokenizer(pack.sources(), PreTokenizer::automatic).ok());
  const std::string directory = temporary_directory();
  pack.write(directory);
  CHECK(model::load_tokenizer(at_path(directory), PreTokenizer::automatic).ok());
  Pack renamed;
  renamed.files["my tokenizer"] = pack.files.at("tokenizer.json");
  CHECK(model::load_tokenizer(renamed.sources(), PreTokenizer::automatic).ok());
  // Any part of a split file; the vocabulary is in the first.
  CHECK(load("gguf/mini-bf16-00003-of-00003.gguf").size() == load("gguf/mini-f32.gguf").size());
  CHECK(load("tokenizer/ggml-vocab-qwen2.gguf").rule() == PreTokenizer::qwen2);
}

TEST_CASE("files without a tokenizer") {
  const auto refused = [](const model::Files& files) {
    return error_of(model::load_tokenizer(files, PreTokenizer::automatic));
  };
  CHECK(refused(at_path(data_path("nowhere"))).code == Code::not_found);
  CHECK(refused(at_path(temporary_directory())).code == Code::not_clef);
  Pack pack = tiny_flash();
  pack.files.erase("tokenizer.json");
  CHECK(refused(pack.sources()).code == Code::missing_part);
  Pack page;
  page.files["tokenizer.json"] = "<html></html>";
  const base::ErrorDetail error = refused(page.sources());
  CHECK(error.code == Code::bad_file);
  CHECK(error.file == "tokenizer.json");
  CHECK(mentions(error, "HTML"));
}

TEST_CASE("token types of GGUF files") {
  Vocabulary v;
  v.add("ab", 1);
  v.merges = {"a b"};
  v.add("<|x|>", 3);
  v.add("<y>", 4);
  v.add("[PAD259]", 5);
  const text::Tokenizer tokenizer = must(v.load());
  CHECK(ids_of(tokenizer, "ab", SpecialText::literal) == std::vector<int32_t>{256});
  CHECK(ids_of(tokenizer, "<|x|><y>", SpecialText::control) == std::vector<int32_t>{257, 258});
  CHECK(ids_of(tokenizer, "[PAD259]", SpecialText::control).size() > 1);
  REQUIRE(tokenizer.added_tokens().size() == 2);
  CHECK(tokenizer.added_tokens()[0].special);
  CHECK_FALSE(tokenizer.added_tokens()[1].special);
  CHECK(tokenizer.size() == 260);
}

TEST_CASE("the rule of a GGUF vocabulary") {
  Vocabulary v;
  v.pre = "qwen35";
  CHECK(must(v.load()).rule() == PreTokenizer::qwen2);  // the rule that Clef was trained with
  v.architecture = "qwen35";
  CHECK(must(v.load()).rule() == PreTokenizer::qwen35);
}

TEST_CASE("broken GGUF vocabularies") {
  const auto refused = [](const Vocabulary& v, Code code, std::string_view what) {
    const base::ErrorDetail error = error_of(v.load());
    INFO(error.message);
    CHECK(error.code == code);
    CHECK(error.file == "v.gguf");
    CHECK(mentions(error, what));
  };
  Vocabulary v = {};
  v.model = "";
  refused(v, Code::missing_part, "tokenizer.ggml.model");
  v = {};
  v.model = "llama";
  refused(v, Code::unsupported, "'llama'");
  v = {};
  v.pre = "";
  refused(v, Code::missing_part, "tokenizer.ggml.pre");
  v = {};
  v.pre = "gpt-4o";
  refused(v, Code::unsupported, "'gpt-4o'");
  v = {};
  v.with_tokens = false;
  refused(v, Code::missing_part, "tokenizer.ggml.tokens");
  v = {};
  v.with_types = false;
  refused(v, Code::missing_part, "tokenizer.ggml.token_type");
  v = {};
  v.with_merges = false;
  refused(v, Code::missing_part, "tokenizer.ggml.merges");
  v = {};
  v.types.pop_back();
  refused(v, Code::bad_file, "tokenizer.ggml.token_type");
  for (const char* merge : {"ab", " b", "a ", "a b c", ""}) {
    v = {};
    v.merges = {merge};
    refused(v, Code::bad_file, "index 0");
  }
  v = {};
  v.merges = {"a b"};  // "ab" is no token
  CHECK_FALSE(v.load().ok());
}
