#include <algorithm>

#include "handles.hpp"
#include "strings.hpp"

using namespace clef::capi;
using clef::text::Tokenizer;

clef_status clef_model_tokenizer(const clef_model* model, clef_tokenizer** tokenizer, clef_error** error) {
  clear(tokenizer);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(tokenizer, "tokenizer"));
    auto made = std::make_unique<clef_tokenizer>();
    made->tokenizer = std::shared_ptr<const Tokenizer>(model->loaded, &model->loaded->model->tokenizer());
    *tokenizer = made.release();
    return {};
  });
}

clef_status clef_tokenizer_load(const clef_runtime* runtime, clef_source* source, const char* pre_tokenizer,
                                size_t size, clef_tokenizer** tokenizer, clef_error** error) {
  clear(tokenizer);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_RETURN_IF_ERROR(require(tokenizer, "tokenizer"));
    auto rule = clef::text::PreTokenizer::automatic;
    if (pre_tokenizer) {
      CLEF_ASSIGN_OR_RETURN(const std::string_view name, utf8_text(pre_tokenizer, size, "pre_tokenizer"));
      CLEF_ASSIGN_OR_RETURN(rule, clef::text::parse_pre_tokenizer(name));
    }
    auto made = std::make_unique<clef_tokenizer>();
    CLEF_ASSIGN_OR_RETURN(Tokenizer loaded, clef::model::load_tokenizer(source->files, rule));
    made->tokenizer = std::make_shared<const Tokenizer>(std::move(loaded));
    *tokenizer = made.release();
    return {};
  });
}

clef_status clef_tokenizer_encode(const clef_tokenizer* tokenizer, const char* text, size_t size, int32_t control,
                                  int32_t* ids, size_t capacity, size_t* count, clef_error** error) {
  clear(count);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(tokenizer, "tokenizer"));
    CLEF_RETURN_IF_ERROR(require(count, "count"));
    if (capacity != 0) CLEF_RETURN_IF_ERROR(require(ids, "ids"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view input, utf8_text(text, size, "text"));
    using clef::text::SpecialText;
    std::vector<int32_t> encoded;
    CLEF_RETURN_IF_ERROR(
        tokenizer->tokenizer->encode(input, control ? SpecialText::control : SpecialText::literal, encoded));
    *count = encoded.size();
    if (!ids) return {};
    if (encoded.size() > capacity)
      return Status(Code::out_of_range, "the text has " + std::to_string(encoded.size()) +
                                            " tokens, there is room for " + std::to_string(capacity));
    std::copy(encoded.begin(), encoded.end(), ids);
    return {};
  });
}

clef_status clef_tokenizer_decode(const clef_tokenizer* tokenizer, const int32_t* ids, size_t count, clef_text** text,
                                  clef_error** error) {
  clear(text);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(tokenizer, "tokenizer"));
    CLEF_RETURN_IF_ERROR(require(text, "text"));
    if (count != 0) CLEF_RETURN_IF_ERROR(require(ids, "ids"));
    if (count > PTRDIFF_MAX / sizeof(int32_t))
      return Status(Code::invalid_argument, "the number of ids cannot be right");
    auto made = std::make_unique<clef_text>();
    made->text = tokenizer->tokenizer->decode({ids, count});
    *text = made.release();
    return {};
  });
}

void clef_tokenizer_free(clef_tokenizer* tokenizer) {
  guard_void([&] { delete tokenizer; });
}
