// Schema: the questions of a decision and their allowed answers, independent of a model.
//
//     auto schema = clef::Schema::builder()
//                       .noul("refund", "Does the customer want a refund?")
//                       .choice("team", "Who handles it?", {{"billing", "Invoices and payments."}, "technical"})
//                       .score("urgency", "How urgent is it?", {"low", "medium", "high"})
//                       .build();
//
// A question's id is part of the model's prompt, and all questions are decided jointly: renaming, adding or reordering
// questions changes the answers.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <clef/options.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace clef {
inline namespace v0 {

enum class QuestionType : std::int32_t { noul = CLEF_NOUL, choice = CLEF_CHOICE, score = CLEF_SCORE };

// One option of a choice: its id, which the answer names, and optionally what it means. Texts are borrowed until the
// question was added.
struct ChoiceOption {
  std::string_view id;
  std::string_view description;  // a default-made view means none

  ChoiceOption(const char* option_id) : id(option_id) {}
  ChoiceOption(std::string_view option_id) : id(option_id) {}
  ChoiceOption(std::string_view option_id, std::string_view text) : id(option_id), description(text) {}
};

class SchemaBuilder;

// Questions, immutable. Move-only. Thread-safety: any number of threads at once.
class Schema {
 public:
  // Parses the "questions" object of a request, or an object that has one. `options` carries limits and strictness.
  // Errors: those of a request (invalid_json, wrong_type, missing_field, too_many, ...), at() points to the place.
  static Result<Schema> parse(std::string_view json, const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Schema, clef_schema>([&](clef_schema** out, clef_error** error) {
      return clef_schema_parse(detail::data(json), json.size(), handle->get(), out, error);
    });
  }
  // Starts a schema that is made question by question. `options` as in parse.
  static SchemaBuilder builder(const Options& options = {});
  // Takes over a C handle.
  explicit Schema(clef_schema* owned) noexcept : handle_(owned) {}

  // Number of questions.
  std::size_t size() const noexcept { return clef_schema_count(handle_.get()); }
  // Id, type and number of options of a question below size(); "", other or 0 beyond. The id lives as long as this.
  std::string_view id(std::size_t question) const noexcept {
    std::size_t size = 0;
    const char* text = clef_schema_id(handle_.get(), question, &size);
    return detail::view(text, size);
  }
  QuestionType type(std::size_t question) const noexcept {
    return static_cast<QuestionType>(clef_schema_type(handle_.get(), question));
  }
  std::size_t option_count(std::size_t question) const noexcept {
    return clef_schema_option_count(handle_.get(), question);
  }
  // The C handle, still owned by this object.
  const clef_schema* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_schema, &clef_schema_free> handle_;
};

// Collects questions in prompt order; the first error is kept and comes out of build(). Texts are copied. A text that
// is a default-made std::string_view counts as absent: absent instructions are replaced by the id. Move-only.
// Thread-safety: one thread at a time.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(const Options& options = {}) {
    auto handle = detail::make_options(options);
    if (!handle) {
      error_ = std::move(handle).error();
      return;
    }
    keep(detail::run([&](clef_error** error) {
      clef_schema_builder* made = nullptr;
      const clef_status status = clef_schema_builder_create(handle->get(), &made, error);
      handle_.reset(made);
      return status;
    }));
  }

  // A yes/no question. The texts say what yes and no mean; absent ones keep the wording that the models were trained
  // on.
  SchemaBuilder& noul(std::string_view id, std::string_view instructions = {}, std::string_view true_text = {},
                      std::string_view false_text = {}) & {
    return add([&](clef_error** error) {
      return clef_schema_builder_add_noul(handle_.get(), detail::data(id), id.size(), instructions.data(),
                                          instructions.size(), true_text.data(), true_text.size(), false_text.data(),
                                          false_text.size(), error);
    });
  }
  // One of several options (1 to 255 of them).
  SchemaBuilder& choice(std::string_view id, std::string_view instructions,
                        std::initializer_list<ChoiceOption> options) & {
    return add_choice(id, instructions, options.begin(), options.size());
  }
  SchemaBuilder& choice(std::string_view id, std::string_view instructions,
                        const std::vector<ChoiceOption>& options) & {
    return add_choice(id, instructions, options.data(), options.size());
  }
  // A grade on a scale, levels described from low to high (2 to 10 of them).
  SchemaBuilder& score(std::string_view id, std::string_view instructions,
                       std::initializer_list<std::string_view> levels) & {
    return add_score(id, instructions, levels.begin(), levels.size());
  }
  SchemaBuilder& score(std::string_view id, std::string_view instructions,
                       const std::vector<std::string_view>& levels) & {
    return add_score(id, instructions, levels.data(), levels.size());
  }

  // The same on a temporary, for chains.
  SchemaBuilder&& noul(std::string_view id, std::string_view instructions = {}, std::string_view true_text = {},
                       std::string_view false_text = {}) && {
    return std::move(noul(id, instructions, true_text, false_text));
  }
  SchemaBuilder&& choice(std::string_view id, std::string_view instructions,
                         std::initializer_list<ChoiceOption> options) && {
    return std::move(choice(id, instructions, options));
  }
  SchemaBuilder&& choice(std::string_view id, std::string_view instructions,
                         const std::vector<ChoiceOption>& options) && {
    return std::move(choice(id, instructions, options));
  }
  SchemaBuilder&& score(std::string_view id, std::string_view instructions,
                        std::initializer_list<std::string_view> levels) && {
    return std::move(score(id, instructions, levels));
  }
  SchemaBuilder&& score(std::string_view id, std::string_view instructions,
                        const std::vector<std::string_view>& levels) && {
    return std::move(score(id, instructions, levels));
  }

  // The schema, or the first error; the builder is empty afterwards. Errors: those of a request, at() points to the
  // place as in a request ("/questions/team/criteria").
  Result<Schema> build() {
    if (failed()) return std::exchange(error_, Error(CLEF_OK, nullptr));
    return detail::make<Schema, clef_schema>(
        [&](clef_schema** out, clef_error** error) { return clef_schema_builder_finish(handle_.get(), out, error); });
  }

 private:
  bool failed() const noexcept { return error_.status() != Status::ok; }
  void keep(Result<void> result) {
    if (!result) error_ = std::move(result).error();
  }
  template <class Call>
  SchemaBuilder& add(Call&& call) {
    if (!failed()) keep(detail::run(call));
    return *this;
  }
  SchemaBuilder& add_choice(std::string_view id, std::string_view instructions, const ChoiceOption* options,
                            std::size_t count) {
    if (failed()) return *this;
    std::vector<const char*> ids(count), texts(count);
    std::vector<std::size_t> id_sizes(count), text_sizes(count);
    for (std::size_t i = 0; i < count; ++i) {
      ids[i] = detail::data(options[i].id), id_sizes[i] = options[i].id.size();
      texts[i] = options[i].description.data(), text_sizes[i] = options[i].description.size();
    }
    return add([&](clef_error** error) {
      return clef_schema_builder_add_choice(handle_.get(), detail::data(id), id.size(), instructions.data(),
                                            instructions.size(), count, ids.data(), id_sizes.data(), texts.data(),
                                            text_sizes.data(), error);
    });
  }
  SchemaBuilder& add_score(std::string_view id, std::string_view instructions, const std::string_view* levels,
                           std::size_t count) {
    if (failed()) return *this;
    std::vector<const char*> texts(count);
    std::vector<std::size_t> sizes(count);
    for (std::size_t i = 0; i < count; ++i) texts[i] = detail::data(levels[i]), sizes[i] = levels[i].size();
    return add([&](clef_error** error) {
      return clef_schema_builder_add_score(handle_.get(), detail::data(id), id.size(), instructions.data(),
                                           instructions.size(), count, texts.data(), sizes.data(), error);
    });
  }

  detail::Handle<clef_schema_builder, &clef_schema_builder_free> handle_;
  Error error_{CLEF_OK, nullptr};
};

inline SchemaBuilder Schema::builder(const Options& options) {
  return SchemaBuilder(options);
}

}  // namespace v0
}  // namespace clef
