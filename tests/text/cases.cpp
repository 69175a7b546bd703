// The tokenizer against recorded ids over a real vocabulary of the family.
#include <atomic>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "json/json.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "text/tokenizer.hpp"

using namespace clef;
using text::PreTokenizer;
using text::SpecialText;
using text::Tokenizer;

namespace {

using Ids = std::vector<int32_t>;

const Tokenizer& tokenizer(PreTokenizer rule) {
  static std::map<PreTokenizer, Tokenizer> loaded;
  auto found = loaded.find(rule);
  if (found == loaded.end()) {
    auto result =
        Tokenizer::from_json(test::read_file(CLEF_TEXT_DATA_DIR "/qwen3-tokenizer.json"), "qwen3-tokenizer.json", rule);
    if (!result.ok()) FAIL(result.status().detail().message);
    found = loaded.emplace(rule, std::move(result).value()).first;
  }
  return found->second;
}

Ids encode(PreTokenizer rule, std::string_view text, SpecialText special = SpecialText::control) {
  Ids ids;
  const base::Status status = tokenizer(rule).encode(text, special, ids);
  if (!status.ok()) FAIL(status.detail().message);
  return ids;
}

Ids to_ids(const json::Value& list) {
  Ids ids;
  for (const json::Value& item : list.items()) {
    int64_t id = -1;
    REQUIRE(item.to_int64(id));
    ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  for (size_t i = 0, end = 0; end != std::string::npos; i = end + separator.size()) {
    end = text.find(separator, i);
    parts.push_back(text.substr(i, end == std::string::npos ? end : end - i));
  }
  return parts;
}

// Texts and ids in llama.cpp's form; returns how many were compared.
size_t compare_listed(const std::string& name, PreTokenizer rule, size_t skip_from, size_t skip_to) {
  const auto texts = split(test::read_file(test::data_path("tokenizer/" + name + ".inp")), "\n__ggml_vocab_test__\n");
  const auto lines = split(test::read_file(test::data_path("tokenizer/" + name + ".out")), "\n");
  REQUIRE(texts.size() == lines.size());
  size_t count = 0;
  for (size_t i = 0; i + 1 < texts.size(); i++) {  // both files end with a separator
    if (i >= skip_from && i < skip_to) continue;
    Ids wanted;
    for (const std::string& id : split(lines[i], " "))
      if (!id.empty()) wanted.push_back(std::stoi(id));
    CAPTURE(name, i, texts[i]);
    CHECK(encode(rule, texts[i]) == wanted);
    count++;
  }
  return count;
}

// Processor time, so that a busy machine does not matter.
double seconds_of(const std::string& text) {
  const std::clock_t start = std::clock();
  const Ids ids = encode(PreTokenizer::qwen2, text);
  CHECK(tokenizer(PreTokenizer::qwen2).decode(ids) == text);
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string repeat(std::string_view unit, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; i++) text += unit;
  return text;
}

}  // namespace

TEST_CASE("recorded ids of both rules, with and without added tokens") {
  size_t cases = 0, qwen2 = 0, literal = 0;
  for (const std::string& line : test::read_lines(CLEF_TEXT_DATA_DIR "/qwen3-cases.jsonl")) {
    const auto document = json::parse(line);
    REQUIRE(document.ok());
    const json::Value& root = document.value().root();
    const std::string text(root.find("text")->text());
    const Ids wanted = to_ids(*root.find("qwen35"));
    CAPTURE(line);
    REQUIRE(encode(PreTokenizer::qwen35, text) == wanted);
    // Where the other ids are not listed they are the same.
    const json::Value* other = root.find("qwen2");
    REQUIRE(encode(PreTokenizer::qwen2, text) == (other == nullptr ? wanted : to_ids(*other)));
    const json::Value* plain = root.find("literal35");
    REQUIRE(encode(PreTokenizer::qwen35, text, SpecialText::literal) == (plain == nullptr ? wanted : to_ids(*plain)));
    cases++;
    qwen2 += other != nullptr;
    literal += plain != nullptr;
  }
  CHECK(cases == 2814);
  CHECK(qwen2 == 200);
  CHECK(literal == 449);
}

TEST_CASE("llama.cpp's cases") {
  CHECK(compare_listed("ggml-vocab-qwen35.gguf", PreTokenizer::qwen35, 46, 49) == 47);
  CHECK(compare_listed("ggml-vocab-qwen2.gguf", PreTokenizer::qwen2, 0, 0) == 46);
}

TEST_CASE("what the file says about itself") {
  const Tokenizer& stated = tokenizer(PreTokenizer::automatic);
  CHECK(stated.rule() == PreTokenizer::qwen2);
  CHECK(stated.stated_rule() == PreTokenizer::qwen2);
  CHECK(tokenizer(PreTokenizer::qwen35).rule() == PreTokenizer::qwen35);
  CHECK(tokenizer(PreTokenizer::qwen35).stated_rule() == PreTokenizer::qwen2);
  CHECK(stated.size() == 151669);
  CHECK(stated.added_tokens().size() == 26);
  CHECK(stated.added_token("<|endoftext|>") == 151643);
  CHECK(stated.added_token("<think>") == 151667);
  CHECK(stated.added_token("<think") == -1);
  CHECK(stated.added_token("") == -1);
  size_t special = 0;
  for (const text::AddedToken& token : stated.added_tokens()) special += token.special;
  CHECK(special == 14);
  CHECK(stated.memory_bytes() < 10'000'000);
}

TEST_CASE("decoding gives the text back") {
  const Tokenizer& any = tokenizer(PreTokenizer::automatic);
  for (const std::string text :
       {"a<|im_end|>b <think>", "\xE4\xBD\xA0\xE5\xA5\xBD, GPU! \xF0\x9F\x98\x80\n\n\t x", ""}) {
    CHECK(any.decode(encode(PreTokenizer::qwen2, text)) == text);
    CHECK(any.decode(encode(PreTokenizer::qwen2, text, SpecialText::literal)) == text);
  }
  CHECK(any.decode(Ids{-1, 151669, INT32_MAX, INT32_MIN}) == "");
  CHECK(any.decode(Ids{151644, 32}) == "<|im_start|>A");
  // Literal text never becomes a control token.
  for (const text::AddedToken& token : any.added_tokens())
    for (const int32_t id : encode(PreTokenizer::qwen2, "x" + token.text, SpecialText::literal)) CHECK(id < 151643);
}

TEST_CASE("ids are appended, and nothing is appended for invalid text") {
  Ids ids = {7};
  REQUIRE(tokenizer(PreTokenizer::qwen2).encode("A", SpecialText::control, ids).ok());
  CHECK(ids == Ids{7, 32});
  const base::Status status = tokenizer(PreTokenizer::qwen2).encode("abc\xFF", SpecialText::control, ids);
  CHECK(status.code() == base::Code::invalid_unicode);
  CHECK(status.detail().offset == 3);
  CHECK(ids == Ids{7, 32});
}

TEST_CASE("long text of any kind is encoded in good time") {
  // A quadratic way would take minutes.
  constexpr size_t kCount = 300'000;
  CHECK(seconds_of(repeat("a", kCount)) < 10);
  CHECK(seconds_of(repeat("ab", kCount / 2)) < 10);
  CHECK(seconds_of(repeat(" ", kCount)) < 10);
  CHECK(seconds_of(repeat(" ", kCount) + "a") < 10);
  CHECK(seconds_of(repeat("\n ", kCount / 2)) < 10);
  CHECK(seconds_of(repeat("<", kCount)) < 10);
  CHECK(seconds_of(repeat("<|im_start|", kCount / 11)) < 10);
  CHECK(seconds_of(repeat("'", kCount)) < 10);
  CHECK(seconds_of(repeat("\xE4\xBD\xA0", kCount / 3)) < 10);
}

TEST_CASE("a repeated piece gives the same ids in a long text as alone") {
  // Long enough that repeated pieces are remembered.
  const std::vector<std::string> words = {
      " alpha", " caf\xC3\xA9", " don't", " 3", " x=y;\n", " \xE4\xBD\xA0\xE5\xA5\xBD", " zyzzyva"};
  std::string text;
  Ids wanted;
  for (size_t i = 0; i < 4000; i++) {
    const std::string& word = words[i * i % words.size()];
    text += word;
    for (const int32_t id : encode(PreTokenizer::qwen2, word)) wanted.push_back(id);
  }
  CHECK(encode(PreTokenizer::qwen2, text) == wanted);
}

TEST_CASE("several threads encode with one tokenizer") {
  const Tokenizer& shared = tokenizer(PreTokenizer::qwen2);
  const std::string text = repeat("The quick brown fox <think> jumps e\xCC\x81. ", 500);
  const Ids wanted = encode(PreTokenizer::qwen2, text);
  std::atomic<int> same = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&] {
      Ids ids;
      if (shared.encode(text, SpecialText::control, ids).ok() && ids == wanted) same++;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(same == 4);
}
