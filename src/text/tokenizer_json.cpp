// Reading tokenizer.json. What would change the ids and is not implemented is refused by name.
#include <algorithm>

#include "json/json.hpp"
#include "text/message.hpp"
#include "text/pre_tokenizer.hpp"
#include "text/token_strings.hpp"
#include "text/tokenizer.hpp"

namespace clef::text {

using base::Code;
using base::Status;
using json::Value;

namespace {

constexpr int64_t kMaxId = int64_t{kMaxIds} - 1;

class Reader {
 public:
  Reader(const Value& root, std::string_view file) : root_(root), file_(file) {}

  Status read(Vocabulary& out) {
    if (!root_.is_object()) return bad("is not a JSON object");
    CLEF_RETURN_IF_ERROR(read_normalizer(out));
    CLEF_RETURN_IF_ERROR(read_pre_tokenizer(out));
    const Value* model = root_.find("model");
    if (model == nullptr || !model->is_object()) return bad("\"model\" is missing or not an object");
    CLEF_RETURN_IF_ERROR(check_model(*model));
    CLEF_RETURN_IF_ERROR(read_vocabulary(*model, out));
    CLEF_RETURN_IF_ERROR(read_merges(*model, out));
    return read_added_tokens(out);
  }

 private:
  Status bad(std::string_view what) const { return file_error(Code::bad_file, file_, what); }
  Status unsupported(std::string_view what) const { return file_error(Code::unsupported, file_, what); }

  static bool is_type(const Value& object, std::string_view type) {
    const Value* found = object.find("type");
    return found != nullptr && found->is_string() && found->text() == type;
  }
  static std::string type_of(const Value& object) {
    const Value* found = object.find("type");
    return found != nullptr && found->is_string() ? quoted(found->text()) : std::string("of no known type");
  }
  static bool is_false(const Value* value) {
    return value != nullptr && value->kind() == json::Kind::boolean && !value->boolean();
  }
  static bool is_absent(const Value* value) { return value == nullptr || value->is_null(); }

  Status read_normalizer(Vocabulary& out) const {
    const Value* normalizer = root_.find("normalizer");
    out.nfc = false;
    if (is_absent(normalizer)) return {};
    if (is_type(*normalizer, "NFC")) {
      out.nfc = true;
      return {};
    }
    if (!is_type(*normalizer, "Sequence"))
      return unsupported("\"normalizer\" is " + type_of(*normalizer) + "; only NFC or none is supported");
    const Value* parts = normalizer->find("normalizers");
    if (parts == nullptr || !parts->is_array()) return bad("\"normalizer\" has no list \"normalizers\"");
    for (const Value& part : parts->items()) {
      if (!is_type(part, "NFC"))
        return unsupported("\"normalizer\" has a part " + type_of(part) + "; only NFC or none is supported");
      out.nfc = true;
    }
    return {};
  }

  Status read_pre_tokenizer(Vocabulary& out) const {
    const Value* pre = root_.find("pre_tokenizer");
    if (is_absent(pre)) return unsupported("\"pre_tokenizer\" is missing; a Split and a ByteLevel part are needed");
    const Value* parts = pre->find("pretokenizers");
    if (!is_type(*pre, "Sequence") || parts == nullptr || parts->items().size() != 2 ||
        !is_type(parts->items()[0], "Split") || !is_type(parts->items()[1], "ByteLevel"))
      return unsupported("\"pre_tokenizer\" is not a Sequence of one Split and one ByteLevel part");
    const Value &split = parts->items()[0], &bytes = parts->items()[1];
    const Value* pattern = split.find("pattern");
    const Value* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
    if (regex == nullptr || !regex->is_string())
      return unsupported("\"pre_tokenizer\": the Split part has no regular expression in \"pattern\"");
    out.rule = rule_of_pattern(regex->text());
    if (out.rule == PreTokenizer::automatic)
      return unsupported("\"pre_tokenizer\": the Split pattern " + quoted(regex->text()) +
                         " is neither the qwen2 nor the qwen35 rule");
    const Value* behavior = split.find("behavior");
    if (behavior == nullptr || !behavior->is_string() || behavior->text() != "Isolated" ||
        !is_false(split.find("invert")))
      return unsupported("\"pre_tokenizer\": the Split part must have \"behavior\" \"Isolated\" and \"invert\" false");
    for (const char* option : {"add_prefix_space", "use_regex"})
      if (!is_false(bytes.find(option)))
        return unsupported("\"pre_tokenizer\": the ByteLevel part must have \"" + std::string(option) + "\" false");
    return {};
  }

  Status check_model(const Value& model) const {
    if (!is_type(model, "BPE")) return unsupported("\"model\" is " + type_of(model) + "; only BPE is supported");
    if (!is_absent(model.find("unk_token"))) return unsupported("\"model.unk_token\" is not supported; null is needed");
    for (const char* option : {"byte_fallback", "ignore_merges"}) {
      const Value* value = model.find(option);
      if (!is_absent(value) && !is_false(value))
        return unsupported("\"model." + std::string(option) + "\" is not supported; false is needed");
    }
    for (const char* option : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Value* value = model.find(option);
      if (!is_absent(value) && !(value->is_string() && value->text().empty()))
        return unsupported("\"model." + std::string(option) + "\" is not supported; null or \"\" is needed");
    }
    const Value* dropout = model.find("dropout");
    double rate = 0;
    if (!is_absent(dropout) && (!dropout->to_double(rate) || rate != 0))
      return unsupported("\"model.dropout\" is not supported; null or 0 is needed");
    return {};
  }

  // An id within the range of any vocabulary.
  Status read_id(const Value* value, std::string_view of, int32_t& out) const {
    int64_t id = 0;
    if (value == nullptr || !value->to_int64(id)) return bad("the id of token " + quoted(of) + " is not an integer");
    if (id < 0 || id > kMaxId)
      return bad("the id of token " + quoted(of) + " is " + std::to_string(id) + ", outside 0 to " +
                 std::to_string(kMaxId));
    out = static_cast<int32_t>(id);
    return {};
  }

  Status read_vocabulary(const Value& model, Vocabulary& out) const {
    const Value* vocab = model.find("vocab");
    if (vocab == nullptr || !vocab->is_object()) return bad("\"model.vocab\" is missing or not an object");
    std::vector<int32_t> ids;
    ids.reserve(vocab->members().size());
    int32_t largest = -1;
    for (const json::Member& member : vocab->members()) {
      if (member.key.empty()) return bad("\"model.vocab\" has an empty token");
      int32_t id = 0;
      CLEF_RETURN_IF_ERROR(read_id(&member.value, member.key, id));
      largest = std::max(largest, id);
      ids.push_back(id);
    }
    out.tokens.resize(static_cast<size_t>(largest + 1));
    size_t index = 0;
    for (const json::Member& member : vocab->members()) {
      const int32_t id = ids[index++];
      std::string_view& token = out.tokens[static_cast<size_t>(id)];
      if (!token.empty())
        return bad("tokens " + quoted(token) + " and " + quoted(member.key) + " have the same id " +
                   std::to_string(id));
      token = member.key;
    }
    return {};
  }

  // Each merge is "a b" or ["a", "b"].
  Status read_merges(const Value& model, Vocabulary& out) const {
    const Value* merges = model.find("merges");
    if (merges == nullptr || !merges->is_array()) return bad("\"model.merges\" is missing or not a list");
    out.merges.reserve(merges->items().size());
    for (const Value& merge : merges->items()) {
      const std::span<const Value> pair = merge.items();
      if (merge.is_string()) {
        const std::string_view text = merge.text();
        const size_t blank = text.find(' ');
        if (blank != std::string_view::npos && text.find(' ', blank + 1) == std::string_view::npos) {
          out.merges.emplace_back(text.substr(0, blank), text.substr(blank + 1));
          continue;
        }
      } else if (pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
        out.merges.emplace_back(pair[0].text(), pair[1].text());
        continue;
      }
      return bad("\"model.merges\": merge " + std::to_string(out.merges.size()) + " is not a pair of tokens");
    }
    return {};
  }

  Status read_added_tokens(Vocabulary& out) const {
    const Value* added = root_.find("added_tokens");
    if (is_absent(added)) return {};
    if (!added->is_array()) return bad("\"added_tokens\" is not a list");
    for (const Value& item : added->items()) {
      const Value* content = item.find("content");
      if (content == nullptr || !content->is_string())
        return bad("\"added_tokens\": entry " + std::to_string(out.added.size()) + " has no text \"content\"");
      AddedToken token;
      token.text = content->text();
      CLEF_RETURN_IF_ERROR(read_id(item.find("id"), token.text, token.id));
      for (const char* option : {"normalized", "lstrip", "rstrip", "single_word"})
        if (!is_false(item.find(option)))
          return unsupported("\"added_tokens\": " + quoted(token.text) + " must have \"" + option + "\" false");
      const Value* special = item.find("special");
      if (special == nullptr || special->kind() != json::Kind::boolean)
        return bad("\"added_tokens\": " + quoted(token.text) + " must have \"special\" true or false");
      token.special = special->boolean();
      out.added.push_back(std::move(token));
    }
    return {};
  }

  const Value& root_;
  std::string_view file_;
};

}  // namespace

base::Result<Tokenizer> Tokenizer::from_json(std::string_view text, std::string_view file, PreTokenizer rule) {
  base::Result<json::Document> document = json::parse(text);
  if (!document.ok()) {
    const base::ErrorDetail& detail = document.status().detail();
    return file_error(detail.code == Code::out_of_memory ? detail.code : Code::bad_file, file,
                      "is not valid JSON: " + detail.message)
        .at_offset(detail.offset);
  }
  Vocabulary vocabulary;
  CLEF_RETURN_IF_ERROR(Reader(document.value().root(), file).read(vocabulary));
  return from_vocabulary(vocabulary, file, rule);
}

}  // namespace clef::text
