#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {
namespace {

const schema::Question* question_of(const clef_schema* schema, size_t index) noexcept {
  if (!schema || index >= schema->schema->questions.size()) return nullptr;
  return &schema->schema->questions[index];
}

Result<std::unique_ptr<clef_schema>> make_schema(schema::Schema parsed) {
  auto made = std::make_unique<clef_schema>();
  made->schema = std::make_shared<const schema::Schema>(std::move(parsed));
  return made;
}

// Arrays of the host: a missing array of sizes means that all strings are NUL-terminated.
size_t size_at(const size_t* sizes, size_t index) noexcept {
  return sizes ? sizes[index] : CLEF_NUL;
}

// The limits of the builder bound the counts; this keeps an absurd one from taking memory first.
Status check_array(const void* array, size_t count, uint32_t most, std::string_view name) {
  if (count != 0) CLEF_RETURN_IF_ERROR(require(array, name));
  if (count <= most) return {};
  return Status(Code::too_many, std::string(name) + " has " + std::to_string(count) + " entries; at most " +
                                    std::to_string(most) + " are allowed");
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_schema_parse(const char* json, size_t size, const clef_options* options, clef_schema** schema,
                              clef_error** error) {
  clear(schema);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, raw_text(json, size, "json"));
    CLEF_ASSIGN_OR_RETURN(clef::schema::Schema parsed, clef::schema::parse_schema(text, settings_of(options).limits));
    CLEF_ASSIGN_OR_RETURN(std::unique_ptr<clef_schema> made, make_schema(std::move(parsed)));
    *schema = made.release();
    return {};
  });
}

size_t clef_schema_count(const clef_schema* schema) {
  return guard_value<size_t>(0, [&] { return schema ? schema->schema->questions.size() : size_t{0}; });
}

const char* clef_schema_id(const clef_schema* schema, size_t question, size_t* size) {
  return guard_string(size, [&] {
    const auto* q = question_of(schema, question);
    return q ? std::string_view(q->id) : std::string_view("");
  });
}

clef_question_type clef_schema_type(const clef_schema* schema, size_t question) {
  return guard_value<clef_question_type>(0, [&] {
    const auto* q = question_of(schema, question);
    return q ? static_cast<clef_question_type>(q->type) : clef_question_type{0};
  });
}

size_t clef_schema_option_count(const clef_schema* schema, size_t question) {
  return guard_value<size_t>(0, [&] {
    const auto* q = question_of(schema, question);
    return q ? q->options.size() : size_t{0};
  });
}

void clef_schema_free(clef_schema* schema) {
  guard_void([&] { delete schema; });
}

clef_status clef_schema_builder_create(const clef_options* options, clef_schema_builder** builder, clef_error** error) {
  clear(builder);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(builder, "builder"));
    const clef::schema::Limits limits = settings_of(options).limits;
    *builder = new clef_schema_builder{limits, clef::schema::SchemaBuilder(limits)};
    return {};
  });
}

clef_status clef_schema_builder_add_noul(clef_schema_builder* builder, const char* id, size_t id_size,
                                         const char* instructions, size_t instructions_size, const char* true_text,
                                         size_t true_size, const char* false_text, size_t false_size,
                                         clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(builder, "builder"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view name, raw_text(id, id_size, "id"));
    CLEF_ASSIGN_OR_RETURN(const auto text, optional_text(instructions, instructions_size, "instructions"));
    CLEF_ASSIGN_OR_RETURN(const auto yes, optional_text(true_text, true_size, "true_text"));
    CLEF_ASSIGN_OR_RETURN(const auto no, optional_text(false_text, false_size, "false_text"));
    return builder->builder.add_noul(name, text, yes, no);
  });
}

clef_status clef_schema_builder_add_choice(clef_schema_builder* builder, const char* id, size_t id_size,
                                           const char* instructions, size_t instructions_size, size_t count,
                                           const char* const* ids, const size_t* id_sizes,
                                           const char* const* descriptions, const size_t* description_sizes,
                                           clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(builder, "builder"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view name, raw_text(id, id_size, "id"));
    CLEF_ASSIGN_OR_RETURN(const auto text, optional_text(instructions, instructions_size, "instructions"));
    CLEF_RETURN_IF_ERROR(check_array(ids, count, builder->limits.max_options, "ids"));
    std::vector<clef::schema::SchemaBuilder::Described> options(count);
    for (size_t i = 0; i < count; ++i) {
      CLEF_ASSIGN_OR_RETURN(options[i].id, raw_text(ids[i], size_at(id_sizes, i), "ids"));
      if (!descriptions) continue;
      CLEF_ASSIGN_OR_RETURN(options[i].description,
                            optional_text(descriptions[i], size_at(description_sizes, i), "descriptions"));
    }
    return builder->builder.add_choice(name, text, options);
  });
}

clef_status clef_schema_builder_add_score(clef_schema_builder* builder, const char* id, size_t id_size,
                                          const char* instructions, size_t instructions_size, size_t count,
                                          const char* const* levels, const size_t* level_sizes, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(builder, "builder"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view name, raw_text(id, id_size, "id"));
    CLEF_ASSIGN_OR_RETURN(const auto text, optional_text(instructions, instructions_size, "instructions"));
    CLEF_RETURN_IF_ERROR(check_array(levels, count, builder->limits.max_levels, "levels"));
    std::vector<std::string_view> texts(count);
    for (size_t i = 0; i < count; ++i) {
      CLEF_ASSIGN_OR_RETURN(texts[i], raw_text(levels[i], size_at(level_sizes, i), "levels"));
    }
    return builder->builder.add_score(name, text, texts);
  });
}

clef_status clef_schema_builder_finish(clef_schema_builder* builder, clef_schema** schema, clef_error** error) {
  clear(schema);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(builder, "builder"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    clef::schema::SchemaBuilder full(builder->limits);
    std::swap(full, builder->builder);
    CLEF_ASSIGN_OR_RETURN(clef::schema::Schema parsed, std::move(full).finish());
    CLEF_ASSIGN_OR_RETURN(std::unique_ptr<clef_schema> made, make_schema(std::move(parsed)));
    *schema = made.release();
    return {};
  });
}

void clef_schema_builder_free(clef_schema_builder* builder) {
  guard_void([&] { delete builder; });
}
