// Options of a load and of a decision, progress and cancelling.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace clef {
inline namespace v0 {

// A switch that stops the calls it was given to, within some 50 ms; they answer Status::cancelled and what they worked
// on stays usable. Thread-safety: any thread, all functions.
class Cancel {
 public:
  // Errors: out_of_memory.
  static Result<Cancel> create() {
    return detail::make<Cancel, clef_cancel>(
        [](clef_cancel** out, clef_error** error) { return clef_cancel_create(out, error); });
  }
  // Takes over a C handle.
  explicit Cancel(clef_cancel* owned) noexcept : handle_(owned) {}

  void trip() const noexcept { clef_cancel_trip(handle_.get()); }
  // Makes the switch usable again.
  void reset() const noexcept { clef_cancel_reset(handle_.get()); }
  clef_cancel* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_cancel, &clef_cancel_free> handle_;
};

// What a call is doing. Treat stages that you do not know as "other".
enum class Stage : std::int32_t {
  load = CLEF_STAGE_LOAD,
  prefill = CLEF_STAGE_PREFILL,
  head = CLEF_STAGE_HEAD,
  quantize = CLEF_STAGE_QUANTIZE,
  decode = CLEF_STAGE_DECODE,
  scale = CLEF_STAGE_SCALE,
  vision = CLEF_STAGE_VISION
};

// How far a stage is: `done` of `total` units of work.
struct Progress {
  Stage stage = Stage::load;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

// Told at most about 20 times a second, on the thread of the call. May trip a Cancel, must not call anything else of
// the library, must not throw.
using ProgressFunction = std::function<void(const Progress&)>;
// Asked now and then on the thread of the call; true stops it with Status::cancelled. Must not throw.
using CancelledFunction = std::function<bool()>;

// How a model is loaded. A plain struct: set what you need, the rest has good defaults.
struct LoadOptions {
  // "auto", "exact" (f32 arithmetic), "bf16", "int8". What cannot be had is an error of the load, never a silent
  // change.
  std::string_view compute;
  std::string_view device;         // "cpu" (default), or a device of a module
  std::string_view pre_tokenizer;  // "auto" (default: the rule the files state), "qwen2", "qwen35"
  bool copy_weights = false;       // copy the weights into memory instead of mapping the file (network drives)
  bool check_weights = true;       // look at norm weights for a wrong convention
  const Cancel* cancel = nullptr;  // borrowed until the load is done
  ProgressFunction on_progress;
  CancelledFunction cancelled;
};

enum class Truncation : std::int32_t {
  never = CLEF_TRUNCATE_NEVER,           // a state that is too long is refused (default)
  state_tail = CLEF_TRUNCATE_STATE_TAIL  // its end is dropped; Decision::tokens_dropped() tells how much
};
enum class Alpha : std::int32_t {
  white = CLEF_ALPHA_WHITE,  // transparent pictures are composed on white (default)
  drop = CLEF_ALPHA_DROP     // their alpha is dropped
};
// Formula of "confidence" (0 to 1).
enum class Confidence : std::int32_t {
  max = CLEF_CONFIDENCE_MAX,         // the largest probability (default)
  jev = CLEF_CONFIDENCE_JEV,         // what is above chance, scaled to 0..1
  entropy = CLEF_CONFIDENCE_ENTROPY  // 1 - entropy / its largest value
};

// How a decision is made. A plain struct: set what you need, the rest has good defaults.
struct Options {
  std::uint64_t max_tokens = 0;  // most tokens of a prompt; 0: the model's own limit
  Truncation truncation = Truncation::never;
  bool control_tokens = false;     // true: text such as <|im_end|> in the user's text becomes the control token
  std::uint64_t chunk = 0;         // tokens per chunk of a layer; 0: chosen by memory. Never changes a result
  std::uint64_t memory_limit = 0;  // most bytes of scratch; 0: none
  bool exif = true;                // false: ignore the EXIF orientation of pictures
  Alpha alpha = Alpha::white;
  Confidence confidence = Confidence::max;  // formula in Decision::json()
  bool detail = false;                      // Decision::json() carries ids, spans, logits
  bool rounding = true;                     // Decision::json() rounds to 4 decimals; the accessors never round
  bool strict = false;                      // refuse unknown request fields and missing instructions
  std::uint64_t max_questions = 0;          // limits of requests; 0: 64 questions,
  std::uint64_t max_options = 0;            // 255 options of a choice,
  std::uint64_t max_levels = 0;             // 10 levels of a score,
  std::uint64_t max_images = 0;             // 4 pictures,
  std::uint64_t max_videos = 0;             // 4 videos,
  std::uint64_t max_image_pixels = 0;       // 16,777,216 pixels of one picture as it is given
  std::uint64_t max_image_tokens = 0;       // of one picture, larger ones are scaled down; 0: the model's processor
  const Cancel* cancel = nullptr;           // borrowed until the call (or the Run) is done
  ProgressFunction on_progress;
  CancelledFunction cancelled;
};

namespace detail {

// Runs setters until one fails.
class Setters {
 public:
  template <class Call>
  void set(bool wanted, Call&& call) {
    if (!wanted || !result_.ok()) return;
    result_ = run(call);
  }
  Result<void>& result() noexcept { return result_; }

 private:
  Result<void> result_;
};

// The functions of one call, owned by the library until it drops its copy of the hooks.
struct ProgressBox {
  ProgressFunction on_progress;
  CancelledFunction cancelled;

  static void CLEF_CALL progress(clef_stage stage, std::uint64_t done, std::uint64_t total, void* user) noexcept {
    static_cast<ProgressBox*>(user)->on_progress(Progress{static_cast<Stage>(stage), done, total});
  }
  static std::int32_t CLEF_CALL poll(void* user) noexcept {
    return static_cast<ProgressBox*>(user)->cancelled() ? 1 : 0;
  }
  static void CLEF_CALL release(void* user) noexcept { delete static_cast<ProgressBox*>(user); }

  // Gives the functions of `source` to a setter of the C interface, which owns them when it succeeds.
  template <class Source, class Set>
  static clef_status give(const Source& source, Set&& set) {
    auto box = std::make_unique<ProgressBox>(ProgressBox{source.on_progress, source.cancelled});
    clef_progress_hooks table = {};
    table.struct_size = sizeof(table);
    if (source.on_progress) table.progress = &ProgressBox::progress;
    if (source.cancelled) table.cancelled = &ProgressBox::poll;
    table.release = &ProgressBox::release;
    table.user = box.get();
    const clef_status status = set(&table);
    if (status == CLEF_OK) (void)box.release();
    return status;
  }
};

using LoadOptionsHandle = Handle<clef_load_options, &clef_load_options_free>;
using OptionsHandle = Handle<clef_options, &clef_options_free>;

inline Result<LoadOptionsHandle> make_load_options(const LoadOptions& from) {
  auto made = make<LoadOptionsHandle, clef_load_options>(
      [](clef_load_options** out, clef_error** error) { return clef_load_options_create(out, error); });
  if (!made) return made;
  clef_load_options* to = made->get();
  Setters s;
  s.set(!from.compute.empty(), [&](clef_error** error) {
    return clef_load_options_set_compute(to, from.compute.data(), from.compute.size(), error);
  });
  s.set(!from.device.empty(), [&](clef_error** error) {
    return clef_load_options_set_device(to, from.device.data(), from.device.size(), error);
  });
  s.set(!from.pre_tokenizer.empty(), [&](clef_error** error) {
    return clef_load_options_set_pre_tokenizer(to, from.pre_tokenizer.data(), from.pre_tokenizer.size(), error);
  });
  s.set(from.copy_weights, [&](clef_error** error) { return clef_load_options_set_copy_weights(to, 1, error); });
  s.set(!from.check_weights, [&](clef_error** error) { return clef_load_options_set_check_weights(to, 0, error); });
  s.set(from.cancel != nullptr,
        [&](clef_error** error) { return clef_load_options_set_cancel(to, from.cancel->get(), error); });
  s.set(from.on_progress || from.cancelled, [&](clef_error** error) {
    return ProgressBox::give(
        from, [&](const clef_progress_hooks* table) { return clef_load_options_set_progress(to, table, error); });
  });
  if (!s.result()) return std::move(s.result()).error();
  return made;
}

inline Result<OptionsHandle> make_options(const Options& from) {
  auto made = make<OptionsHandle, clef_options>(
      [](clef_options** out, clef_error** error) { return clef_options_create(out, error); });
  if (!made) return made;
  clef_options* to = made->get();
  Setters s;
  s.set(from.max_tokens != 0,
        [&](clef_error** error) { return clef_options_set_max_tokens(to, from.max_tokens, error); });
  s.set(from.truncation != Truncation::never, [&](clef_error** error) {
    return clef_options_set_truncation(to, static_cast<clef_truncation>(from.truncation), error);
  });
  s.set(from.control_tokens, [&](clef_error** error) { return clef_options_set_control_tokens(to, 1, error); });
  s.set(from.chunk != 0, [&](clef_error** error) { return clef_options_set_chunk(to, from.chunk, error); });
  s.set(from.memory_limit != 0,
        [&](clef_error** error) { return clef_options_set_memory_limit(to, from.memory_limit, error); });
  s.set(!from.exif, [&](clef_error** error) { return clef_options_set_exif(to, 0, error); });
  s.set(from.alpha != Alpha::white,
        [&](clef_error** error) { return clef_options_set_alpha(to, static_cast<clef_alpha>(from.alpha), error); });
  s.set(from.confidence != Confidence::max, [&](clef_error** error) {
    return clef_options_set_confidence(to, static_cast<clef_confidence>(from.confidence), error);
  });
  s.set(from.detail, [&](clef_error** error) { return clef_options_set_detail(to, 1, error); });
  s.set(!from.rounding, [&](clef_error** error) { return clef_options_set_rounding(to, 0, error); });
  s.set(from.strict, [&](clef_error** error) { return clef_options_set_strict(to, 1, error); });
  const auto limit = [&](clef_limit which, std::uint64_t value) {
    s.set(value != 0, [&](clef_error** error) { return clef_options_set_limit(to, which, value, error); });
  };
  limit(CLEF_LIMIT_QUESTIONS, from.max_questions);
  limit(CLEF_LIMIT_OPTIONS, from.max_options);
  limit(CLEF_LIMIT_LEVELS, from.max_levels);
  limit(CLEF_LIMIT_IMAGES, from.max_images);
  limit(CLEF_LIMIT_VIDEOS, from.max_videos);
  limit(CLEF_LIMIT_IMAGE_PIXELS, from.max_image_pixels);
  limit(CLEF_LIMIT_IMAGE_TOKENS, from.max_image_tokens);
  s.set(from.cancel != nullptr,
        [&](clef_error** error) { return clef_options_set_cancel(to, from.cancel->get(), error); });
  s.set(from.on_progress || from.cancelled, [&](clef_error** error) {
    return ProgressBox::give(
        from, [&](const clef_progress_hooks* table) { return clef_options_set_progress(to, table, error); });
  });
  if (!s.result()) return std::move(s.result()).error();
  return made;
}

}  // namespace detail

}  // namespace v0
}  // namespace clef
