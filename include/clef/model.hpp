// Model: weights and tokenizer, loaded and ready to decide.
#pragma once
#include <clef.h>

#include <clef/decision.hpp>
#include <clef/error.hpp>
#include <clef/options.hpp>
#include <clef/runtime.hpp>
#include <clef/schema.hpp>
#include <clef/session.hpp>
#include <clef/state.hpp>
#include <clef/tokenizer.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace clef {
inline namespace v0 {

enum class Limit : std::int32_t {
  tokens = CLEF_LIMIT_TOKENS,          // of a prompt
  vocabulary = CLEF_LIMIT_VOCABULARY,  // token ids
  questions = CLEF_LIMIT_QUESTIONS,    // of a request, by default
  options = CLEF_LIMIT_OPTIONS,        // of a choice, by default
  levels = CLEF_LIMIT_LEVELS,          // of a score, by default
  images = CLEF_LIMIT_IMAGES,          // of a request, by default
  videos = CLEF_LIMIT_VIDEOS,          // of a request, by default
  image_pixels = CLEF_LIMIT_IMAGE_PIXELS,
  image_tokens = CLEF_LIMIT_IMAGE_TOKENS
};

// Bytes that a decision needs: scratch beyond the weights, and the weights that become resident.
struct Estimate {
  std::uint64_t scratch = 0;
  std::uint64_t weights = 0;
};

// Tokens of a prompt: everything but the state, and the state.
struct TokenCounts {
  std::uint64_t fixed = 0;
  std::uint64_t state = 0;
};

// Weights and tokenizer, immutable. Keeps its runtime alive. Move-only. Thread-safety: any number of threads at once.
class Model {
 public:
  // Loads a model from a path (a GGUF file, a release directory, a file inside one; UTF-8), with a runtime of its own
  // that has default options. Errors: not_found, not_clef, missing_part, bad_file, unsupported (file() and tensor() say
  // where), out_of_memory, cancelled.
  static Result<Model> load(std::string_view path, const LoadOptions& options = {}) {
    auto runtime = Runtime::create();
    if (!runtime) return std::move(runtime).error();
    return load(*runtime, path, options);
  }
  // The same with your runtime, which may be destroyed before the model.
  static Result<Model> load(const Runtime& runtime, std::string_view path, const LoadOptions& options = {}) {
    auto source = Source::create(runtime);
    if (!source) return std::move(source).error();
    auto added = source->add_path(path);
    if (!added) return std::move(added).error();
    return load(runtime, *source, options);
  }
  // The same from files of any kind. The source may be destroyed afterwards.
  static Result<Model> load(const Runtime& runtime, Source& source, const LoadOptions& options = {}) {
    auto handle = detail::make_load_options(options);
    if (!handle) return std::move(handle).error();
    return detail::make<Model, clef_model>([&](clef_model** out, clef_error** error) {
      return clef_model_load(runtime.get(), source.get(), handle->get(), out, error);
    });
  }
  // Takes over a C handle.
  explicit Model(clef_model* owned) noexcept : handle_(owned) {}

  // Scratch memory for decisions; make one per thread and keep it. Errors: out_of_memory, forked.
  Result<Session> session() const {
    return detail::make<Session, clef_session>(
        [&](clef_session** out, clef_error** error) { return clef_session_create(handle_.get(), out, error); });
  }
  // One decision with a session of its own: short to write, any thread at any time. Many decisions in a row are a
  // little cheaper with a Session that is kept. Errors: those of Session.
  Result<Decision> decide(const Schema& schema, const State& state, const Options& options = {}) const {
    auto made = session();
    if (!made) return std::move(made).error();
    return made->decide(schema, state, options);
  }
  Result<Decision> decide(const Schema& schema, std::string_view text, const Options& options = {}) const {
    auto made = session();
    if (!made) return std::move(made).error();
    return made->decide(schema, text, options);
  }
  Result<Decision> decide_json(std::string_view request, const Options& options = {}) const {
    auto made = session();
    if (!made) return std::move(made).error();
    return made->decide_json(request, options);
  }

  // What was loaded, as JSON: kind, files, geometry, limits, compute kind, kernels. Lives as long as this object.
  std::string_view describe() const noexcept {
    std::size_t size = 0;
    const char* text = clef_model_describe(handle_.get(), &size);
    return detail::view(text, size);
  }
  // 64 hexadecimal digits that change when the files do. Lives as long as this object.
  std::string_view digest() const noexcept {
    std::size_t size = 0;
    const char* text = clef_model_digest(handle_.get(), &size);
    return detail::view(text, size);
  }
  // A number of the model, or of the default limits of requests; 0 for an unknown one.
  std::uint64_t limit(Limit limit) const noexcept {
    return clef_model_limit(handle_.get(), static_cast<clef_limit>(limit));
  }
  // Memory that a decision of so many tokens will need. Errors: out_of_range.
  Result<Estimate> estimate(std::uint64_t tokens, const Options& options = {}) const {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    Estimate estimate;
    auto done = detail::run([&](clef_error** error) {
      return clef_model_estimate(handle_.get(), tokens, handle->get(), &estimate.scratch, &estimate.weights, error);
    });
    if (!done) return std::move(done).error();
    return estimate;
  }
  // Tokens of the prompt that this schema and state make, before any cut. Errors: invalid_unicode.
  Result<TokenCounts> count_tokens(const Schema& schema, const State& state, const Options& options = {}) const {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    TokenCounts counts;
    auto done = detail::run([&](clef_error** error) {
      return clef_model_count_tokens(handle_.get(), schema.get(), state.get(), handle->get(), &counts.fixed,
                                     &counts.state, error);
    });
    if (!done) return std::move(done).error();
    return counts;
  }
  // The prompt as the model reads it, as JSON: {"tokens","pieces":[{"role","text","ids","scaffold"}]}.
  // Errors: those of a request, too_long.
  Result<std::string> prompt(const Schema& schema, const State& state, const Options& options = {}) const {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_model_prompt(handle_.get(), schema.get(), state.get(), handle->get(), out, error);
    });
  }
  // The same for a whole request as JSON.
  Result<std::string> prompt_json(std::string_view request, const Options& options = {}) const {
    auto handle = detail::make_options(options);
    if (!handle) return std::move(handle).error();
    return detail::text([&](clef_text** out, clef_error** error) {
      return clef_model_prompt_json(handle_.get(), detail::data(request), request.size(), handle->get(), out, error);
    });
  }
  // The model's tokenizer, which keeps what it needs alive. Errors: out_of_memory.
  Result<Tokenizer> tokenizer() const {
    return detail::make<Tokenizer, clef_tokenizer>(
        [&](clef_tokenizer** out, clef_error** error) { return clef_model_tokenizer(handle_.get(), out, error); });
  }
  // The C handle, still owned by this object.
  const clef_model* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_model, &clef_model_free> handle_;
};

}  // namespace v0
}  // namespace clef
