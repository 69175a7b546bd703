// Options of a decision. Every setter exists as a function of its own and by name; both end in the same lines here.
#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {

DecideSettings settings_of(const clef_options* options) {
  DecideSettings settings = options ? options->settings : DecideSettings();
  // Pictures that come by other ways than the request are counted with its own.
  settings.decide.media.max_images = settings.limits.max_images;
  settings.decide.media.max_videos = settings.limits.max_videos;
  return settings;
}

namespace {

Status set_count(std::string_view name, uint64_t value, int64_t& out) {
  if (value > INT64_MAX)
    return Status(Code::out_of_range, std::string(name) + " is " + std::to_string(value) + ", beyond 2^63 - 1");
  out = static_cast<int64_t>(value);
  return {};
}

Status set_switch(std::string_view name, int32_t value, bool& out) {
  CLEF_RETURN_IF_ERROR(check_switch(name, value));
  out = value != 0;
  return {};
}

Status set_truncation(DecideSettings& settings, clef_truncation value) {
  if (value != CLEF_TRUNCATE_NEVER && value != CLEF_TRUNCATE_STATE_TAIL)
    return bad_value("truncation", std::to_string(value), "CLEF_TRUNCATE_NEVER or CLEF_TRUNCATE_STATE_TAIL");
  using schema::Truncation;
  settings.decide.truncation = value == CLEF_TRUNCATE_NEVER ? Truncation::refuse : Truncation::state_tail;
  return {};
}

Status set_control_tokens(DecideSettings& settings, int32_t value) {
  bool control = false;
  CLEF_RETURN_IF_ERROR(set_switch("control_tokens", value, control));
  settings.decide.user_text = control ? text::SpecialText::control : text::SpecialText::literal;
  return {};
}

Status set_exif(DecideSettings& settings, int32_t value) {
  return set_switch("exif", value, settings.decide.media.exif_orientation);
}

Status set_alpha(DecideSettings& settings, clef_alpha value) {
  if (value != CLEF_ALPHA_WHITE && value != CLEF_ALPHA_DROP)
    return bad_value("alpha", std::to_string(value), "CLEF_ALPHA_WHITE or CLEF_ALPHA_DROP");
  settings.decide.media.drop_alpha = value == CLEF_ALPHA_DROP;
  return {};
}

Status set_confidence(DecideSettings& settings, clef_confidence value) {
  if (value != CLEF_CONFIDENCE_MAX && value != CLEF_CONFIDENCE_JEV && value != CLEF_CONFIDENCE_ENTROPY)
    return bad_value("confidence", std::to_string(value),
                     "CLEF_CONFIDENCE_MAX, CLEF_CONFIDENCE_JEV or CLEF_CONFIDENCE_ENTROPY");
  settings.json.confidence = static_cast<decide::Confidence>(value);
  return {};
}

// Of one picture.
Status set_image_limit(std::string_view name, uint64_t value, uint64_t least, uint64_t& out) {
  constexpr uint64_t kMost = uint64_t{1} << 32;
  if (value < least || value > kMost)
    return Status(Code::out_of_range, std::string(name) + " is " + std::to_string(value) + "; it goes from " +
                                          std::to_string(least) + " to " + std::to_string(kMost));
  out = value;
  return {};
}

Status set_limit(DecideSettings& settings, clef_limit limit, uint64_t value) {
  struct Target {
    std::string_view name;
    uint32_t* value;
    uint64_t least;
  };
  Target target{};
  switch (limit) {
    case CLEF_LIMIT_QUESTIONS:
      target = {"max_questions", &settings.limits.max_questions, 1};
      break;
    case CLEF_LIMIT_OPTIONS:
      target = {"max_options", &settings.limits.max_options, 1};
      break;
    case CLEF_LIMIT_LEVELS:
      target = {"max_levels", &settings.limits.max_levels, settings.limits.min_levels};
      break;
    case CLEF_LIMIT_IMAGES:
      target = {"max_images", &settings.limits.max_images, 0};
      break;
    case CLEF_LIMIT_VIDEOS:
      target = {"max_videos", &settings.limits.max_videos, 0};
      break;
    case CLEF_LIMIT_IMAGE_PIXELS:
      return set_image_limit("max_image_pixels", value, 1, settings.decide.media.max_pixels);
    case CLEF_LIMIT_IMAGE_TOKENS:
      return set_image_limit("max_image_tokens", value, 0, settings.decide.media.max_image_tokens);
    default:
      return Status(Code::invalid_argument, "limit " + std::to_string(limit) +
                                                " cannot be set; those of questions, options, levels and pictures can");
  }
  constexpr uint64_t kMost = 1000000;
  if (value < target.least || value > kMost)
    return Status(Code::out_of_range, std::string(target.name) + " is " + std::to_string(value) + "; it goes from " +
                                          std::to_string(target.least) + " to " + std::to_string(kMost));
  *target.value = static_cast<uint32_t>(value);
  return {};
}

struct NamedValue {
  std::string_view name;
  int32_t value;
};

template <size_t count>
Result<int32_t> parse_named(std::string_view name, std::string_view value, const NamedValue (&values)[count]) {
  std::string allowed;
  for (const NamedValue& named : values) {
    if (named.name == value) return named.value;
    if (!allowed.empty()) allowed += &named == &values[count - 1] ? " or " : ", ";
    allowed += named.name;
  }
  return bad_value(name, value, allowed);
}

Status set_switch_by_name(DecideSettings& settings, std::string_view name, std::string_view text) {
  CLEF_ASSIGN_OR_RETURN(const int32_t value, parse_switch(name, text));
  if (name == "control_tokens") return set_control_tokens(settings, value);
  if (name == "exif") return set_exif(settings, value);
  if (name == "detail") return set_switch(name, value, settings.json.detail);
  if (name == "rounding") return set_switch(name, value, settings.json.rounded);
  return set_switch(name, value, settings.limits.strict);
}

Status set_number_by_name(DecideSettings& settings, std::string_view name, std::string_view text) {
  CLEF_ASSIGN_OR_RETURN(const uint64_t value, parse_number(name, text));
  if (name == "max_tokens") return set_count(name, value, settings.decide.max_tokens);
  if (name == "chunk") return set_count(name, value, settings.decide.chunk);
  settings.decide.memory_limit = value;
  return {};
}

struct NamedLimit {
  std::string_view name;
  clef_limit limit;
};
constexpr NamedLimit kLimits[] = {{"max_questions", CLEF_LIMIT_QUESTIONS},
                                  {"max_options", CLEF_LIMIT_OPTIONS},
                                  {"max_levels", CLEF_LIMIT_LEVELS},
                                  {"max_images", CLEF_LIMIT_IMAGES},
                                  {"max_videos", CLEF_LIMIT_VIDEOS},
                                  {"max_image_pixels", CLEF_LIMIT_IMAGE_PIXELS},
                                  {"max_image_tokens", CLEF_LIMIT_IMAGE_TOKENS}};

Status set_by_name(DecideSettings& settings, std::string_view name, std::string_view text) {
  for (const std::string_view known : {"control_tokens", "exif", "detail", "rounding", "strict"}) {
    if (name == known) return set_switch_by_name(settings, name, text);
  }
  for (const std::string_view known : {"max_tokens", "chunk", "memory_limit"}) {
    if (name == known) return set_number_by_name(settings, name, text);
  }
  for (const NamedLimit& limit : kLimits) {
    if (name != limit.name) continue;
    CLEF_ASSIGN_OR_RETURN(const uint64_t value, parse_number(name, text));
    return set_limit(settings, limit.limit, value);
  }
  if (name == "truncation") {
    constexpr NamedValue kValues[] = {
        {"never", CLEF_TRUNCATE_NEVER}, {"refuse", CLEF_TRUNCATE_NEVER}, {"state_tail", CLEF_TRUNCATE_STATE_TAIL}};
    CLEF_ASSIGN_OR_RETURN(const int32_t value, parse_named(name, text, kValues));
    return set_truncation(settings, value);
  }
  if (name == "alpha") {
    constexpr NamedValue kValues[] = {{"white", CLEF_ALPHA_WHITE}, {"drop", CLEF_ALPHA_DROP}};
    CLEF_ASSIGN_OR_RETURN(const int32_t value, parse_named(name, text, kValues));
    return set_alpha(settings, value);
  }
  if (name == "confidence") {
    constexpr NamedValue kValues[] = {
        {"max", CLEF_CONFIDENCE_MAX}, {"jev", CLEF_CONFIDENCE_JEV}, {"entropy", CLEF_CONFIDENCE_ENTROPY}};
    CLEF_ASSIGN_OR_RETURN(const int32_t value, parse_named(name, text, kValues));
    return set_confidence(settings, value);
  }
  return Status(
      Code::unknown_field,
      "there is no option \"" + std::string(name) +
          "\"; there are max_tokens, truncation, control_tokens, chunk, memory_limit, exif, alpha, confidence, "
          "detail, rounding, strict, max_questions, max_options, max_levels, max_images, max_videos, max_image_pixels "
          "and "
          "max_image_tokens");
}

// What all setters have in common.
template <class Function>
clef_status change(clef_options* options, clef_error** error, Function&& function) noexcept {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    return function(options->settings);
  });
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_options_create(clef_options** options, clef_error** error) {
  clear(options);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    *options = new clef_options;
    return {};
  });
}

clef_status clef_options_set_max_tokens(clef_options* options, uint64_t tokens, clef_error** error) {
  return change(options, error,
                [&](DecideSettings& settings) { return set_count("max_tokens", tokens, settings.decide.max_tokens); });
}

clef_status clef_options_set_truncation(clef_options* options, clef_truncation truncation, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_truncation(settings, truncation); });
}

clef_status clef_options_set_control_tokens(clef_options* options, int32_t control, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_control_tokens(settings, control); });
}

clef_status clef_options_set_chunk(clef_options* options, uint64_t tokens, clef_error** error) {
  return change(options, error,
                [&](DecideSettings& settings) { return set_count("chunk", tokens, settings.decide.chunk); });
}

clef_status clef_options_set_memory_limit(clef_options* options, uint64_t bytes, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) {
    settings.decide.memory_limit = bytes;
    return Status();
  });
}

clef_status clef_options_set_exif(clef_options* options, int32_t apply, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_exif(settings, apply); });
}

clef_status clef_options_set_alpha(clef_options* options, clef_alpha alpha, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_alpha(settings, alpha); });
}

clef_status clef_options_set_confidence(clef_options* options, clef_confidence formula, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_confidence(settings, formula); });
}

clef_status clef_options_set_detail(clef_options* options, int32_t detail, clef_error** error) {
  return change(options, error,
                [&](DecideSettings& settings) { return set_switch("detail", detail, settings.json.detail); });
}

clef_status clef_options_set_rounding(clef_options* options, int32_t rounding, clef_error** error) {
  return change(options, error,
                [&](DecideSettings& settings) { return set_switch("rounding", rounding, settings.json.rounded); });
}

clef_status clef_options_set_strict(clef_options* options, int32_t strict, clef_error** error) {
  return change(options, error,
                [&](DecideSettings& settings) { return set_switch("strict", strict, settings.limits.strict); });
}

clef_status clef_options_set_limit(clef_options* options, clef_limit limit, uint64_t value, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_limit(settings, limit, value); });
}

clef_status clef_options_set_cancel(clef_options* options, const clef_cancel* cancel, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) -> Status {
    CLEF_RETURN_IF_ERROR(require(cancel, "cancel"));
    settings.watched.cancel = cancel->flag;
    return {};
  });
}

clef_status clef_options_set_progress(clef_options* options, const clef_progress_hooks* hooks, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) { return set_progress_hooks(hooks, settings.watched); });
}

clef_status clef_options_set(clef_options* options, const char* name, size_t name_size, const char* value,
                             size_t value_size, clef_error** error) {
  return change(options, error, [&](DecideSettings& settings) -> Status {
    CLEF_ASSIGN_OR_RETURN(const std::string_view key, utf8_text(name, name_size, "name"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(value, value_size, "value"));
    return set_by_name(settings, key, text);
  });
}

void clef_options_free(clef_options* options) {
  guard_void([&] { delete options; });
}
