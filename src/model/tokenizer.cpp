// The tokenizer of a package, or of files that hold nothing else.
#include <algorithm>

#include "model/file_set.hpp"
#include "model/message.hpp"
#include "model/package.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::Gguf;
using text::PreTokenizer;
using text::Tokenizer;

namespace {

constexpr uint64_t kMaxTokenizerBytes = uint64_t{256} << 20;

// Token types of GGUF files that matter here.
constexpr int64_t kControl = 3;
constexpr int64_t kUserDefined = 4;
constexpr int64_t kUnused = 5;

base::Result<Tokenizer> from_json_file(const io::ByteSource& source, PreTokenizer rule) {
  std::string storage;
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, read_text(source, storage, kMaxTokenizerBytes));
  const container::FileKind kind = container::guess_kind(text.substr(0, 512));
  if (kind != container::FileKind::json && kind != container::FileKind::unknown)
    return container::wrong_kind(source.name(), "tokenizer.json", kind);
  return Tokenizer::from_json(text, source.name(), rule);
}

class GgufVocabulary {
 public:
  explicit GgufVocabulary(const Gguf& gguf)
      : gguf_(gguf), file_(gguf.files.empty() ? std::string("GGUF file") : gguf.files.front()) {}

  base::Result<Tokenizer> build(PreTokenizer rule) {
    std::string_view model;
    if (!gguf_.get_string("tokenizer.ggml.model", model)) return missing("tokenizer.ggml.model");
    if (model != "gpt2")
      return error(Code::unsupported, "tokenizer.ggml.model",
                   "is " + quoted(model) + "; Clef's is 'gpt2' (byte-level BPE)");
    CLEF_RETURN_IF_ERROR(read_rule());
    CLEF_RETURN_IF_ERROR(read_tokens());
    CLEF_RETURN_IF_ERROR(read_merges());
    vocabulary_.storage = gguf_.storage;
    return Tokenizer::from_vocabulary(vocabulary_, file_, rule);
  }

 private:
  Status error(Code code, std::string_view key, std::string_view what) const {
    return file_error(code, file_, "key " + quoted(key) + " " + std::string(what));
  }
  Status missing(std::string_view key) const {
    return error(Code::missing_part, key, "is missing, so the file has no usable tokenizer; use a complete GGUF file");
  }

  // Files made from Clef say "qwen35", although the release's tokenizer.json states the rule of Qwen2, under which the
  // model was trained.
  Status read_rule() {
    std::string_view name, architecture;
    if (!gguf_.get_string("tokenizer.ggml.pre", name)) return missing("tokenizer.ggml.pre");
    if (name != "qwen2" && name != "qwen35")
      return error(Code::unsupported, "tokenizer.ggml.pre", "is " + quoted(name) + "; clef knows 'qwen2' and 'qwen35'");
    gguf_.get_string("general.architecture", architecture);
    vocabulary_.rule = name == "qwen35" && architecture != "clef" ? PreTokenizer::qwen35 : PreTokenizer::qwen2;
    return {};
  }

  const std::vector<std::string_view>* strings(std::string_view key) const noexcept {
    const container::GgufValue* value = gguf_.find(key);
    return value ? std::get_if<std::vector<std::string_view>>(&value->value) : nullptr;
  }

  Status read_tokens() {
    const std::vector<std::string_view>* tokens = strings("tokenizer.ggml.tokens");
    if (!tokens) return missing("tokenizer.ggml.tokens");
    const container::GgufValue* value = gguf_.find("tokenizer.ggml.token_type");
    const auto* types = value ? std::get_if<std::vector<int64_t>>(&value->value) : nullptr;
    if (!types) return missing("tokenizer.ggml.token_type");
    if (types->size() != tokens->size() || tokens->size() > INT32_MAX)
      return error(
          Code::bad_file, "tokenizer.ggml.token_type",
          "has " + std::to_string(types->size()) + " entries for " + std::to_string(tokens->size()) + " tokens");
    vocabulary_.tokens = *tokens;
    for (size_t id = 0; id < tokens->size(); ++id) {
      const int64_t type = (*types)[id];
      if (type == kControl || type == kUserDefined)
        vocabulary_.added.push_back({std::string((*tokens)[id]), static_cast<int32_t>(id), type == kControl});
      // Added tokens are found by their text, padding never: neither is in the byte-level vocabulary.
      if (type == kControl || type == kUserDefined || type == kUnused) vocabulary_.tokens[id] = {};
    }
    return {};
  }

  Status read_merges() {
    const std::vector<std::string_view>* merges = strings("tokenizer.ggml.merges");
    if (!merges) return missing("tokenizer.ggml.merges");
    vocabulary_.merges.reserve(merges->size());
    for (size_t rank = 0; rank < merges->size(); ++rank) {
      const std::string_view merge = (*merges)[rank];
      const size_t space = merge.find(' ');  // the alphabet of tokens has no space
      if (space == 0 || space == merge.npos || space + 1 == merge.size() || merge.find(' ', space + 1) != merge.npos)
        return error(Code::bad_file, "tokenizer.ggml.merges",
                     "holds " + quoted(merge) + " at index " + std::to_string(rank) + ", which is no pair of tokens");
      vocabulary_.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    return {};
  }

  const Gguf& gguf_;
  std::string file_;
  text::Vocabulary vocabulary_;
};

}  // namespace

base::Result<Tokenizer> load_tokenizer(const Package& package, PreTokenizer rule) {
  if (package.gguf) return GgufVocabulary(*package.gguf).build(rule);
  return from_json_file(*package.tokenizer_json, rule);
}

base::Result<Tokenizer> load_tokenizer(const Files& files, PreTokenizer rule) {
  CLEF_ASSIGN_OR_RETURN(const FileSet set, FileSet::create(files));
  for (const FileSet::Item& item : set.items()) {
    if (!container::is_gguf(*item.source)) continue;
    CLEF_ASSIGN_OR_RETURN(const Gguf gguf, container::read_gguf(item.source));
    if (gguf.find("tokenizer.ggml.model") || !gguf.find("split.count")) return GgufVocabulary(gguf).build(rule);
    // A later part of a split file: the tokenizer stands in the first.
    CLEF_ASSIGN_OR_RETURN(const Package package, open_package(files));
    return load_tokenizer(package, rule);
  }
  // A lone JSON file is taken for the tokenizer whatever its name.
  if (set.items().size() == 1 && set.directories().empty()) {
    const FileSet::Item& item = set.items().front();
    const std::string& name = item.name;
    const bool other = name.ends_with(".safetensors") || name == "config.json" || name == "joint_head_config.json" ||
                       name == "model.safetensors.index.json";
    if (!other) return from_json_file(*item.source, rule);
  }
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, set.find("tokenizer.json"));
  if (source) return from_json_file(*source, rule);
  CLEF_ASSIGN_OR_RETURN(const Package package, open_package(files));
  return load_tokenizer(package, rule);
}

}  // namespace clef::model
