// Tokenizer: text to token ids and back.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <clef/runtime.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clef {
inline namespace v0 {

// The tokenizer of a model, or of files alone. Move-only. Thread-safety: any number of threads at once.
class Tokenizer {
 public:
  // From a tokenizer.json, a directory with one, or a GGUF. `pre_tokenizer`: "auto", "qwen2", "qwen35".
  // Errors: not_found, bad_file, unsupported.
  static Result<Tokenizer> load(const Runtime& runtime, Source& source, std::string_view pre_tokenizer = "auto") {
    return detail::make<Tokenizer, clef_tokenizer>([&](clef_tokenizer** out, clef_error** error) {
      return clef_tokenizer_load(runtime.get(), source.get(), pre_tokenizer.data(), pre_tokenizer.size(), out, error);
    });
  }
  // The same by path, with a runtime of its own.
  static Result<Tokenizer> load(std::string_view path, std::string_view pre_tokenizer = "auto") {
    auto runtime = Runtime::create();
    if (!runtime) return std::move(runtime).error();
    auto source = Source::create(*runtime);
    if (!source) return std::move(source).error();
    auto added = source->add_path(path);
    if (!added) return std::move(added).error();
    return load(*runtime, *source, pre_tokenizer);
  }
  // Takes over a C handle.
  explicit Tokenizer(clef_tokenizer* owned) noexcept : handle_(owned) {}

  // Ids of a text. `control`: text of added tokens such as <|im_end|> becomes their ids. Errors: invalid_unicode.
  Result<std::vector<std::int32_t>> encode(std::string_view text, bool control = false) const {
    // A token stands for at least one byte, unless normalization makes the text longer.
    std::vector<std::int32_t> ids(text.size() + 8);
    for (;;) {
      std::size_t count = 0;
      clef_error* error = nullptr;
      const clef_status status = clef_tokenizer_encode(handle_.get(), detail::data(text), text.size(), control ? 1 : 0,
                                                       ids.data(), ids.size(), &count, &error);
      if (status == CLEF_OUT_OF_RANGE && count > ids.size()) {
        clef_error_free(error);
        ids.resize(count);
        continue;
      }
      if (status != CLEF_OK) return Error(status, error);
      ids.resize(count);
      return ids;
    }
  }
  // Bytes of ids; unknown ids give nothing. Not UTF-8 when the ids cut a character.
  Result<std::string> decode(const std::int32_t* ids, std::size_t count) const {
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_tokenizer_decode(handle_.get(), ids, count, out, error);
    });
  }
  Result<std::string> decode(const std::vector<std::int32_t>& ids) const { return decode(ids.data(), ids.size()); }
  // The C handle, still owned by this object.
  const clef_tokenizer* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_tokenizer, &clef_tokenizer_free> handle_;
};

}  // namespace v0
}  // namespace clef
