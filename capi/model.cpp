#include "handles.hpp"
#include "json/json.hpp"
#include "schema/prompt.hpp"
#include "strings.hpp"

namespace clef::capi {

namespace {

// What the files are, and how this runtime computes with them.
std::string description_of(const model::Model& model, const Runtime& runtime) {
  std::string text = model.describe();
  const size_t end = text.rfind('}');
  if (end == std::string::npos) return text;
  std::string more = R"(,"kernels":)";
  json::append_python_string(base::isa_name(runtime.isa()), more);
  text.insert(end, more);
  return text;
}

Result<std::shared_ptr<const LoadedModel>> load(const std::shared_ptr<Runtime>& runtime, const model::Files& files,
                                                const LoadSettings& settings) {
  CLEF_RETURN_IF_ERROR(runtime->check_process());
  if (settings.device != "cpu")
    return Status(Code::unsupported,
                  "there is no device \"" + settings.device + "\"; this version of the library has \"cpu\" only");
  model::LoadOptions options = settings.load;
  options.hooks = settings.watched.hooks();
  auto loaded = std::make_shared<LoadedModel>();
  loaded->runtime = runtime;
  CLEF_ASSIGN_OR_RETURN(loaded->model, model::Model::load(files, options, runtime->memory()));
  loaded->description = description_of(*loaded->model, *runtime);
  if (runtime->logs()) runtime->log(CLEF_LOG_INFO, "loaded the model " + loaded->model->name());
  return std::shared_ptr<const LoadedModel>(std::move(loaded));
}

std::string prompt_json(const schema::Prompt& prompt) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("tokens");
  writer.unsigned_integer(prompt.ids.size());
  writer.key("pieces");
  writer.begin_array();
  for (const schema::Piece& piece : prompt.pieces) {
    writer.begin_object();
    writer.key("role");
    writer.string(schema::role_name(piece.role));
    writer.key("text");
    writer.string(piece.text);
    writer.key("ids");
    writer.begin_array();
    for (const int32_t id : piece.ids) writer.integer(id);
    writer.end_array();
    writer.key("scaffold");
    writer.boolean(piece.scaffold);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return text;
}

Result<std::unique_ptr<clef_text>> make_prompt(const LoadedModel& loaded, std::string_view state,
                                               const schema::Schema& schema, const decide::Options& options,
                                               decide::Media media) {
  CLEF_ASSIGN_OR_RETURN(const schema::Prompt prompt, decide::make_prompt(*loaded.model, schema, state, options,
                                                                         std::move(media), loaded.runtime->memory()));
  auto text = std::make_unique<clef_text>();
  text->text = prompt_json(prompt);
  return text;
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_model_load(const clef_runtime* runtime, clef_source* source, const clef_load_options* options,
                            clef_model** model, clef_error** error) {
  clear(model);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    auto made = std::make_unique<clef_model>();
    CLEF_ASSIGN_OR_RETURN(made->loaded,
                          load(runtime->runtime, source->files, options ? options->settings : LoadSettings()));
    *model = made.release();
    return {};
  });
}

const char* clef_model_describe(const clef_model* model, size_t* size) {
  return guard_string(size,
                      [&] { return model ? std::string_view(model->loaded->description) : std::string_view(""); });
}

uint64_t clef_model_limit(const clef_model* model, clef_limit limit) {
  return guard_value<uint64_t>(0, [&]() -> uint64_t {
    if (!model) return 0;
    const clef::model::Config& config = model->loaded->model->config();
    const clef::schema::Limits limits;
    switch (limit) {
      case CLEF_LIMIT_TOKENS:
        return static_cast<uint64_t>(config.max_positions);
      case CLEF_LIMIT_VOCABULARY:
        return static_cast<uint64_t>(config.vocabulary);
      case CLEF_LIMIT_QUESTIONS:
        return limits.max_questions;
      case CLEF_LIMIT_OPTIONS:
        return limits.max_options;
      case CLEF_LIMIT_LEVELS:
        return limits.max_levels;
      case CLEF_LIMIT_IMAGES:
        return limits.max_images;
      case CLEF_LIMIT_VIDEOS:
        return limits.max_videos;
      case CLEF_LIMIT_IMAGE_PIXELS:
        return clef::decide::MediaOptions().max_pixels;
      default:
        return 0;
    }
  });
}

const char* clef_model_digest(const clef_model* model, size_t* size) {
  return guard_string(size,
                      [&] { return model ? std::string_view(model->loaded->model->digest()) : std::string_view(""); });
}

clef_status clef_model_estimate(const clef_model* model, uint64_t tokens, const clef_options* options,
                                uint64_t* scratch, uint64_t* weights, clef_error** error) {
  clear(scratch);
  clear(weights);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    const int64_t chunk = settings_of(options).decide.chunk;
    CLEF_ASSIGN_OR_RETURN(const uint64_t bytes,
                          clef::decide::estimate_scratch(model->loaded->model->config(), tokens, chunk,
                                                         model->loaded->runtime->executor().concurrency()));
    if (scratch) *scratch = bytes;
    const clef::model::Weights& held = model->loaded->model->weights();
    if (weights) *weights = held.mapped_bytes + held.copied_bytes;
    return {};
  });
}

clef_status clef_model_count_tokens(const clef_model* model, const clef_schema* schema, const clef_state* state,
                                    const clef_options* options, uint64_t* fixed_tokens, uint64_t* state_tokens,
                                    clef_error** error) {
  clear(fixed_tokens);
  clear(state_tokens);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_ASSIGN_OR_RETURN(
        const clef::schema::TokenCounts counts,
        clef::decide::count_tokens(*model->loaded->model, *schema->schema, state->text(), settings_of(options).decide,
                                   state->media, model->loaded->runtime->memory()));
    if (fixed_tokens) *fixed_tokens = static_cast<uint64_t>(counts.fixed);
    if (state_tokens) *state_tokens = static_cast<uint64_t>(counts.state);
    return {};
  });
}

clef_status clef_model_prompt(const clef_model* model, const clef_schema* schema, const clef_state* state,
                              const clef_options* options, clef_text** json, clef_error** error) {
  clear(json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(json, "json"));
    CLEF_ASSIGN_OR_RETURN(auto text, make_prompt(*model->loaded, state->text(), *schema->schema,
                                                 settings_of(options).decide, state->media));
    *json = text.release();
    return {};
  });
}

clef_status clef_model_prompt_json(const clef_model* model, const char* request, size_t size,
                                   const clef_options* options, clef_text** json, clef_error** error) {
  clear(json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(model, "model"));
    CLEF_RETURN_IF_ERROR(require(json, "json"));
    DecideSettings settings = settings_of(options);
    clef::decide::Media media;
    CLEF_ASSIGN_OR_RETURN(const clef::schema::Request parsed, parse_request(request, size, settings, media));
    CLEF_ASSIGN_OR_RETURN(auto text,
                          make_prompt(*model->loaded, parsed.state, parsed.schema, settings.decide, std::move(media)));
    *json = text.release();
    return {};
  });
}

void clef_model_free(clef_model* model) {
  guard_void([&] { delete model; });
}
