#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {

base::Hooks CallHooks::hooks() const noexcept {
  base::Hooks hooks;
  hooks.cancel = cancel.get();
  if (!progress) return hooks;
  void* table = const_cast<clef_progress_hooks*>(&progress->table);
  if (progress->table.cancelled) {
    hooks.poll = [](void* user) {
      const auto& t = *static_cast<const clef_progress_hooks*>(user);
      return t.cancelled(t.user) != 0;
    };
    hooks.poll_user = table;
  }
  if (progress->table.progress) {
    hooks.progress = [](base::Stage stage, uint64_t done, uint64_t total, void* user) {
      const auto& t = *static_cast<const clef_progress_hooks*>(user);
      t.progress(static_cast<clef_stage>(stage), done, total, t.user);
    };
    hooks.progress_user = table;
  }
  return hooks;
}

Status set_progress_hooks(const clef_progress_hooks* hooks, CallHooks& watched) {
  auto copy = std::make_shared<Hooks<clef_progress_hooks>>();
  CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_progress_hooks", copy->table));
  copy->armed = true;
  watched.progress = std::move(copy);
  return {};
}

namespace {

Status set_compute(LoadSettings& settings, std::string_view name) {
  using model::Compute;
  if (name == "auto") {
    settings.load.compute = Compute::automatic;
  } else if (name == "exact") {
    settings.load.compute = Compute::exact;
  } else if (name == "bf16") {
    settings.load.compute = Compute::bf16;
  } else if (name == "int8") {
    settings.load.compute = Compute::int8;
  } else {
    return bad_value("compute", name, "auto, exact, bf16 or int8");
  }
  return {};
}

Status set_device(LoadSettings& settings, std::string_view name) {
  if (name.empty()) return bad_value("device", name, "cpu, or a device of a module");
  settings.device = name;
  return {};
}

Status set_pre_tokenizer(LoadSettings& settings, std::string_view name) {
  CLEF_ASSIGN_OR_RETURN(settings.load.pre_tokenizer, text::parse_pre_tokenizer(name));
  return {};
}

Status set_copy_weights(LoadSettings& settings, int32_t copy) {
  CLEF_RETURN_IF_ERROR(check_switch("copy_weights", copy));
  settings.load.copy_weights = copy != 0;
  return {};
}

Status set_check_weights(LoadSettings& settings, int32_t check) {
  CLEF_RETURN_IF_ERROR(check_switch("check_weights", check));
  settings.load.check_weights = check != 0;
  return {};
}

Status set_by_name(LoadSettings& settings, std::string_view name, std::string_view value) {
  if (name == "compute") return set_compute(settings, value);
  if (name == "device") return set_device(settings, value);
  if (name == "pre_tokenizer") return set_pre_tokenizer(settings, value);
  if (name == "copy_weights") {
    CLEF_ASSIGN_OR_RETURN(const int32_t copy, parse_switch(name, value));
    return set_copy_weights(settings, copy);
  }
  if (name == "check_weights") {
    CLEF_ASSIGN_OR_RETURN(const int32_t check, parse_switch(name, value));
    return set_check_weights(settings, check);
  }
  return Status(Code::unknown_field,
                "there is no load option \"" + std::string(name) +
                    "\"; there are compute, device, pre_tokenizer, copy_weights and check_weights");
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_load_options_create(clef_load_options** options, clef_error** error) {
  clear(options);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    *options = new clef_load_options;
    return {};
  });
}

clef_status clef_load_options_set_compute(clef_load_options* options, const char* name, size_t size,
                                          clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    return set_compute(options->settings, text);
  });
}

clef_status clef_load_options_set_device(clef_load_options* options, const char* name, size_t size,
                                         clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    return set_device(options->settings, text);
  });
}

clef_status clef_load_options_set_pre_tokenizer(clef_load_options* options, const char* name, size_t size,
                                                clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
    return set_pre_tokenizer(options->settings, text);
  });
}

clef_status clef_load_options_set_copy_weights(clef_load_options* options, int32_t copy, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    return set_copy_weights(options->settings, copy);
  });
}

clef_status clef_load_options_set_check_weights(clef_load_options* options, int32_t check, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    return set_check_weights(options->settings, check);
  });
}

clef_status clef_load_options_set_cancel(clef_load_options* options, const clef_cancel* cancel, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_RETURN_IF_ERROR(require(cancel, "cancel"));
    options->settings.watched.cancel = cancel->flag;
    return {};
  });
}

clef_status clef_load_options_set_progress(clef_load_options* options, const clef_progress_hooks* hooks,
                                           clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    return set_progress_hooks(hooks, options->settings.watched);
  });
}

clef_status clef_load_options_set(clef_load_options* options, const char* name, size_t name_size, const char* value,
                                  size_t value_size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(options, "options"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view key, utf8_text(name, name_size, "name"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(value, value_size, "value"));
    return set_by_name(options->settings, key, text);
  });
}

void clef_load_options_free(clef_load_options* options) {
  guard_void([&] { delete options; });
}
