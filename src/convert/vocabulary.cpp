// The keys of the tokenizer.
#include <algorithm>
#include <string>

#include "convert/metadata.hpp"
#include "io/source.hpp"
#include "json/json.hpp"
#include "model/message.hpp"
#include "text/tokenizer.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using container::Gguf;
using json::Value;
using model::file_error;

namespace {

constexpr uint64_t kMaxTokenizerBytes = uint64_t{256} << 20;
enum TokenType : int32_t { kNormal = 1, kControl = 3, kUserDefined = 4, kUnused = 5 };

// Every file of arch `clef` says "qwen35", and its readers know that the rule is that of Qwen2 all the same. Files for
// other programs say which rule the ids follow.
std::string_view rule_name(Architecture architecture, text::PreTokenizer rule) noexcept {
  return architecture == Architecture::clef || rule == text::PreTokenizer::qwen35 ? "qwen35" : "qwen2";
}

// What llama.cpp takes for control tokens, whatever tokenizer.json says.
bool looks_special(std::string_view text) noexcept {
  return text.size() > 4 && text.starts_with("<|") && text.ends_with("|>");
}

class JsonVocabulary {
 public:
  JsonVocabulary(const Value& root, std::string_view file, int64_t size)
      : root_(root), file_(file), tokens_(static_cast<size_t>(size)), types_(tokens_.size(), kNormal) {}

  Status read() {
    const Value* model = root_.find("model");
    const Value* vocab = model != nullptr ? model->find("vocab") : nullptr;
    if (vocab == nullptr || model->find("merges") == nullptr) return bad("has no vocabulary");
    for (const json::Member& member : vocab->members()) {
      CLEF_ASSIGN_OR_RETURN(const size_t id, id_of(&member.value));
      tokens_[id] = member.key;
    }
    if (const Value* added = root_.find("added_tokens"); added != nullptr)
      for (const Value& item : added->items()) CLEF_RETURN_IF_ERROR(read_added(item));
    const auto unused = std::count_if(tokens_.begin(), tokens_.end(), [](std::string_view t) { return t.empty(); });
    padding_.reserve(static_cast<size_t>(unused));  // views into it must stay
    for (size_t id = 0; id < tokens_.size(); ++id) {
      if (!tokens_[id].empty()) continue;
      tokens_[id] = padding_.emplace_back("[PAD" + std::to_string(id) + "]");
      types_[id] = kUnused;
    }
    return {};
  }

  Status write(GgufHeader& out) const {
    out.add_strings("tokenizer.ggml.tokens", tokens_);
    out.add_i32s("tokenizer.ggml.token_type", types_);
    CLEF_RETURN_IF_ERROR(write_merges(*root_.find("model")->find("merges"), out));
    if (end_ >= 0) out.add_u32("tokenizer.ggml.eos_token_id", static_cast<uint64_t>(end_));
    if (pad_ >= 0) out.add_u32("tokenizer.ggml.padding_token_id", static_cast<uint64_t>(pad_));
    return {};
  }

 private:
  Status bad(std::string_view what) const { return file_error(Code::bad_file, file_, what); }

  base::Result<size_t> id_of(const Value* value) const {
    int64_t id = -1;
    if (value == nullptr || !value->to_int64(id)) return bad("has a token without an id");
    if (id >= 0 && static_cast<uint64_t>(id) < tokens_.size()) return static_cast<size_t>(id);
    return bad("has a token of the id " + std::to_string(id) + "; the model has only " +
               std::to_string(tokens_.size()) + " rows for tokens");
  }

  Status read_added(const Value& item) {
    const Value* content = item.find("content");
    const Value* special = item.find("special");
    CLEF_ASSIGN_OR_RETURN(const size_t id, id_of(item.find("id")));
    if (content == nullptr || !content->is_string()) return bad("has an added token without a text");
    tokens_[id] = content->text();
    const bool control = special != nullptr && special->kind() == json::Kind::boolean && special->boolean();
    types_[id] = control || looks_special(content->text()) ? kControl : kUserDefined;
    if (content->text() == "<|im_end|>") end_ = static_cast<int64_t>(id);
    if (content->text() == "<|endoftext|>") pad_ = static_cast<int64_t>(id);
    return {};
  }

  // Pairs, or in older files texts with a space in the middle.
  Status write_merges(const Value& merges, GgufHeader& out) const {
    out.begin_strings("tokenizer.ggml.merges", merges.items().size());
    for (const Value& merge : merges.items()) {
      const auto parts = merge.items();
      if (merge.is_string()) {
        out.add_element(merge.text());
      } else if (parts.size() == 2 && parts[0].is_string() && parts[1].is_string()) {
        out.add_element(parts[0].text(), parts[1].text());
      } else {
        return bad("has a merge of no two tokens");
      }
    }
    return {};
  }

  const Value& root_;
  std::string_view file_;
  std::vector<std::string_view> tokens_;
  std::vector<int32_t> types_;
  std::vector<std::string> padding_;
  int64_t end_ = -1, pad_ = -1;
};

Status from_json(const model::Package& package, GgufHeader& out) {
  const io::ByteSource& source = *package.tokenizer_json;
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, io::read_all(source, storage, kMaxTokenizerBytes));
  CLEF_ASSIGN_OR_RETURN(const json::Document document, json::parse(text));
  JsonVocabulary vocabulary(document.root(), source.name(), package.config.vocabulary);
  CLEF_RETURN_IF_ERROR(vocabulary.read());
  return vocabulary.write(out);
}

// The keys that a GGUF file has already; load_tokenizer has checked what it reads.
void from_gguf(const Gguf& gguf, GgufHeader& out) {
  for (const char* key : {"tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.merges"}) {
    const container::GgufValue* value = gguf.find(key);
    if (value == nullptr) continue;
    if (const auto* strings = std::get_if<std::vector<std::string_view>>(&value->value)) out.add_strings(key, *strings);
    if (const auto* numbers = std::get_if<std::vector<int64_t>>(&value->value)) {
      std::vector<int32_t> types;
      for (const int64_t number : *numbers) types.push_back(static_cast<int32_t>(number));
      out.add_i32s(key, types);
    }
  }
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.padding_token_id"}) {
    int64_t id = 0;
    if (gguf.get_int(key, id) && id >= 0 && id <= INT32_MAX) out.add_u32(key, static_cast<uint64_t>(id));
  }
}

// Templates of prompts: clef renders natively, others need them.
void add_templates(const Gguf& gguf, GgufHeader& out) {
  for (const auto& [key, value] : gguf.keys) {
    if (!key.starts_with("tokenizer.chat_template")) continue;
    if (const auto* text = std::get_if<std::string_view>(&value.value)) out.add(key, *text);
    if (const auto* texts = std::get_if<std::vector<std::string_view>>(&value.value)) out.add_strings(key, *texts);
  }
}

}  // namespace

Status add_tokenizer_keys(const model::Package& package, Architecture architecture, GgufHeader& out) {
  // Also checks what is only copied below.
  text::PreTokenizer rule = text::PreTokenizer::qwen2;
  {
    CLEF_ASSIGN_OR_RETURN(const text::Tokenizer tokenizer,
                          model::load_tokenizer(package, text::PreTokenizer::automatic));
    rule = tokenizer.rule();
  }
  out.add("tokenizer.ggml.model", "gpt2");
  out.add("tokenizer.ggml.pre", rule_name(architecture, rule));
  if (package.gguf != nullptr) {
    from_gguf(*package.gguf, out);
  } else {
    CLEF_RETURN_IF_ERROR(from_json(package, out));
  }
  out.add_bool("tokenizer.ggml.add_bos_token", false);
  if (package.gguf != nullptr) add_templates(*package.gguf, out);
  return {};
}

}  // namespace clef::convert
