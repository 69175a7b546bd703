#include "convert/quantize.hpp"

#include "handles.hpp"
#include "strings.hpp"

using namespace clef::capi;

namespace {

namespace convert = clef::convert;

Status set_architecture(convert::Options& options, std::string_view name) {
  if (name == "clef") {
    options.architecture = convert::Architecture::clef;
  } else if (name == "qwen35") {
    options.architecture = convert::Architecture::qwen35;
  } else {
    return bad_value("architecture", name, "clef or qwen35");
  }
  return {};
}

// A text that becomes a part of a path or is compared with names.
Result<std::string_view> path_text(const char* data, size_t size, std::string_view what) {
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(data, size, what));
  if (text.empty()) return Status(Code::invalid_argument, "the " + std::string(what) + " is empty");
  if (text.find('\0') != std::string_view::npos)
    return Status(Code::invalid_argument, "the " + std::string(what) + " holds a NUL byte");
  return text;
}

}  // namespace

clef_status clef_quantize_options_create(clef_quantize_options** options, clef_error** error) {
  clear(options);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    *options = new clef_quantize_options;
    return {};
  });
}

clef_status clef_quantize_options_set_type(clef_quantize_options* options, const char* name, size_t size,
                                           clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    options->settings.convert.types.type = text;
    return {};
  });
}

clef_status clef_quantize_options_set_pure(clef_quantize_options* options, int32_t pure, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_RETURN_IF_ERROR(check_switch("pure", pure));
    options->settings.convert.types.pure = pure != 0;
    return {};
  });
}

clef_status clef_quantize_options_set_architecture(clef_quantize_options* options, const char* name, size_t size,
                                                   clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    return set_architecture(options->settings.convert, text);
  });
}

clef_status clef_quantize_options_set_head_type(clef_quantize_options* options, const char* name, size_t size,
                                                clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    options->settings.convert.types.head_type = text;
    return {};
  });
}

clef_status clef_quantize_options_set_tensor_type(clef_quantize_options* options, const char* pattern,
                                                  size_t pattern_size, const char* type, size_t type_size,
                                                  clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view names, utf8_text(pattern, pattern_size, "pattern"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(type, type_size, "type"));
    options->settings.convert.types.rules.push_back({std::string(names), std::string(text)});
    return {};
  });
}

clef_status clef_quantize_options_set_importance(clef_quantize_options* options, const char* path, size_t size,
                                                 clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, path_text(path, size, "path"));
    options->settings.convert.importance = text;
    return {};
  });
}

clef_status clef_quantize_options_set_overwrite(clef_quantize_options* options, int32_t overwrite, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_RETURN_IF_ERROR(check_switch("overwrite", overwrite));
    options->settings.convert.overwrite = overwrite != 0;
    return {};
  });
}

clef_status clef_quantize_options_set_cancel(clef_quantize_options* options, const clef_cancel* cancel,
                                             clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_RETURN_IF_ERROR(require(cancel, "cancel"));
    options->settings.watched.cancel = cancel->flag;
    return {};
  });
}

clef_status clef_quantize_options_set_progress(clef_quantize_options* options, const clef_progress_hooks* hooks,
                                               clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    return set_progress_hooks(hooks, options->settings.watched);
  });
}

void clef_quantize_options_free(clef_quantize_options* options) {
  guard_void([&] { delete options; });
}

clef_status clef_quantize(const clef_runtime* runtime, clef_source* source, const char* path, size_t size,
                          const clef_quantize_options* options, clef_text** report_json, clef_error** error) {
  clear(report_json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view out, path_text(path, size, "path"));
    Runtime& used = *runtime->runtime;
    CLEF_RETURN_IF_ERROR(used.check_process());
    const QuantizeSettings settings = options ? options->settings : QuantizeSettings();
    convert::Options for_call = settings.convert;
    for_call.hooks = settings.watched.hooks();
    auto text = std::make_unique<clef_text>();
    CLEF_ASSIGN_OR_RETURN(const convert::Report report,
                          convert::quantize(source->files, std::string(out), for_call, used.executor(), used.memory()));
    text->text = convert::report_json(report);
    if (report_json) *report_json = text.release();
    return {};
  });
}
