#include <span>

#include "decide/media_plan.hpp"
#include "handles.hpp"
#include "io/source.hpp"
#include "json/json.hpp"
#include "media/decode.hpp"
#include "model/compare.hpp"
#include "strings.hpp"

namespace clef::capi {
namespace {

// Files of a model are told apart by name.
Status check_new_name(const model::Files& files, std::string_view name) {
  for (const model::Files::Entry& entry : files.entries) {
    if (!name.empty() && entry.name == name)
      return Status(Code::invalid_argument, "a file of the name \"" + std::string(name) + "\" was added before")
          .in_file(name);
  }
  return {};
}

Result<std::string_view> file_name(const model::Files& files, const char* name, size_t size) {
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(name, size, "name"));
  if (text.empty())
    return Status(Code::invalid_argument,
                  "the name is empty; a file without a path needs the name it has in the model's directory");
  CLEF_RETURN_IF_ERROR(check_new_name(files, text));
  return text;
}

// The entry is made before anything that must not be lost is.
void add(model::Files& files, std::string_view name, std::string_view path, io::SourcePtr source) {
  files.entries.push_back({std::string(name), std::string(path), std::move(source)});
}

Result<std::string> image_json(std::span<const std::byte> encoded, const decide::MediaOptions& options,
                               const model::Processor& processor) {
  media::DecodeOptions decoding;
  decoding.exif_orientation = options.exif_orientation;
  decoding.max_pixels = options.max_pixels;
  CLEF_ASSIGN_OR_RETURN(const media::ImageInfo info, media::probe(encoded, decoding));
  CLEF_ASSIGN_OR_RETURN(const decide::PictureSize size, decide::picture_size({encoded, {}}, options, processor));
  std::string text;
  json::Writer writer(text);
  const auto number = [&](std::string_view key, uint64_t value) {
    writer.key(key);
    writer.unsigned_integer(value);
  };
  writer.begin_object();
  writer.key("format");
  writer.string(media::format_name(info.format));
  number("width", size.width);
  number("height", size.height);
  number("orientation", static_cast<uint64_t>(info.orientation));
  writer.key("alpha");
  writer.boolean(info.alpha);
  number("target_width", size.target.width);
  number("target_height", size.target.height);
  number("tokens", size.target.tokens);
  writer.end_object();
  return text;
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_source_create(const clef_runtime* runtime, clef_source** source, clef_error** error) {
  clear(source);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    auto made = std::make_unique<clef_source>();
    made->runtime = runtime->runtime;
    *source = made.release();
    return {};
  });
}

clef_status clef_source_add_path(clef_source* source, const char* name, size_t name_size, const char* path,
                                 size_t path_size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, utf8_text(name, name_size, "name"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, utf8_text(path, path_size, "path"));
    if (text.empty()) return Status(Code::invalid_argument, "the path is empty");
    if (text.find('\0') != std::string_view::npos) return Status(Code::invalid_argument, "the path holds a NUL byte");
    CLEF_RETURN_IF_ERROR(check_new_name(source->files, shown));
    add(source->files, shown, text, nullptr);
    return {};
  });
}

clef_status clef_source_add_fd(clef_source* source, const char* name, size_t name_size, int32_t fd, uint64_t offset,
                               uint64_t length, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, file_name(source->files, name, name_size));
    CLEF_ASSIGN_OR_RETURN(clef::io::SourcePtr bytes, clef::io::open_fd(fd, offset, length, shown));
    add(source->files, shown, "", std::move(bytes));
    return {};
  });
}

clef_status clef_source_add_handle(clef_source* source, const char* name, size_t name_size, void* handle,
                                   uint64_t offset, uint64_t length, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, file_name(source->files, name, name_size));
    CLEF_ASSIGN_OR_RETURN(clef::io::SourcePtr bytes, clef::io::open_handle(handle, offset, length, shown));
    add(source->files, shown, "", std::move(bytes));
    return {};
  });
}

clef_status clef_source_add_memory(clef_source* source, const char* name, size_t name_size, const void* bytes,
                                   size_t size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, file_name(source->files, name, name_size));
    if (size != 0) CLEF_RETURN_IF_ERROR(require(bytes, "bytes"));
    CLEF_ASSIGN_OR_RETURN(clef::io::SourcePtr made,
                          clef::io::from_memory({static_cast<const std::byte*>(bytes), size}, true, shown));
    add(source->files, shown, "", std::move(made));
    return {};
  });
}

clef_status clef_source_add_memory_borrow(clef_source* source, const char* name, size_t name_size, const void* bytes,
                                          size_t size, clef_release release, void* user, clef_error** error) {
  Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, file_name(source->files, name, name_size));
    if (size != 0) CLEF_RETURN_IF_ERROR(require(bytes, "bytes"));
    // The function does nothing: holding the owner is what counts, also when this fails halfway.
    CLEF_ASSIGN_OR_RETURN(clef::io::SourcePtr made,
                          clef::io::from_memory({static_cast<const std::byte*>(bytes), size}, false, shown,
                                                [owner = borrowed.hand_on()] { static_cast<void>(owner); }));
    add(source->files, shown, "", std::move(made));
    return {};
  });
}

clef_status clef_source_add_callbacks(clef_source* source, const char* name, size_t name_size,
                                      const clef_read_hooks* hooks, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view shown, file_name(source->files, name, name_size));
    auto copy = std::make_shared<Hooks<clef_read_hooks>>();
    CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_read_hooks", copy->table));
    CLEF_RETURN_IF_ERROR(require_function(copy->table.read_at, "clef_read_hooks", "read_at"));
    clef::io::ReadCallbacks callbacks;
    callbacks.size = copy->table.size;
    callbacks.read_at = [copy](uint64_t offset, void* out, size_t bytes) -> int {
      return copy->table.read_at(offset, out, bytes, copy->table.user);
    };
    CLEF_ASSIGN_OR_RETURN(clef::io::SourcePtr made, clef::io::from_callbacks(std::move(callbacks), shown));
    add(source->files, shown, "", std::move(made));
    copy->armed = true;
    return {};
  });
}

void clef_source_free(clef_source* source) {
  guard_void([&] { delete source; });
}

clef_status clef_source_describe(const clef_runtime* runtime, clef_source* source, clef_text** json,
                                 clef_error** error) {
  clear(json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_RETURN_IF_ERROR(require(json, "json"));
    CLEF_ASSIGN_OR_RETURN(const clef::model::Package package, clef::model::open_package(source->files));
    // Files whose tokenizer is broken can still be described; loading names the fault.
    const auto tokenizer = clef::model::load_tokenizer(package, clef::text::PreTokenizer::automatic);
    auto text = std::make_unique<clef_text>();
    text->text = clef::model::describe(package, tokenizer.ok() ? &tokenizer.value() : nullptr, true);
    *json = text.release();
    return {};
  });
}

clef_status clef_source_describe_image(const clef_runtime* runtime, clef_source* source, const void* bytes, size_t size,
                                       const clef_options* options, clef_text** json, clef_error** error) {
  clear(json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_RETURN_IF_ERROR(require(bytes, "bytes"));
    CLEF_RETURN_IF_ERROR(require(json, "json"));
    CLEF_ASSIGN_OR_RETURN(const clef::model::Package package, clef::model::open_package(source->files));
    CLEF_ASSIGN_OR_RETURN(const clef::model::VisionSettings vision, clef::model::vision_settings(package));
    const std::span<const std::byte> encoded(static_cast<const std::byte*>(bytes), size);
    auto text = std::make_unique<clef_text>();
    CLEF_ASSIGN_OR_RETURN(text->text, image_json(encoded, settings_of(options).decide.media, vision.processor));
    *json = text.release();
    return {};
  });
}

clef_status clef_source_compare(const clef_runtime* runtime, clef_source* a, clef_source* b,
                                const clef_load_options* options, clef_text** json, clef_error** error) {
  clear(json);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(a, "a"));
    CLEF_RETURN_IF_ERROR(require(b, "b"));
    CLEF_RETURN_IF_ERROR(require(json, "json"));
    CLEF_RETURN_IF_ERROR(runtime->runtime->check_process());
    const CallHooks watched = options ? options->settings.watched : CallHooks();
    CLEF_ASSIGN_OR_RETURN(const clef::model::Package first, clef::model::open_package(a->files));
    CLEF_ASSIGN_OR_RETURN(const clef::model::Package second, clef::model::open_package(b->files));
    CLEF_ASSIGN_OR_RETURN(
        const clef::model::Comparison comparison,
        clef::model::compare(first, second, runtime->runtime->executor(), runtime->runtime->memory(), watched.hooks()));
    auto text = std::make_unique<clef_text>();
    text->text = clef::model::describe(comparison, first, second);
    *json = text.release();
    return {};
  });
}

clef_status clef_source_estimate(const clef_runtime* runtime, clef_source* source, uint64_t tokens, uint64_t* scratch,
                                 uint64_t* weights, clef_error** error) {
  clear(scratch);
  clear(weights);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(runtime, "runtime"));
    CLEF_RETURN_IF_ERROR(require(source, "source"));
    CLEF_ASSIGN_OR_RETURN(const clef::model::Package package, clef::model::open_package(source->files));
    CLEF_ASSIGN_OR_RETURN(
        const uint64_t scratch_bytes,
        clef::decide::estimate_scratch(package.config, tokens, 0, runtime->runtime->executor().concurrency()));
    uint64_t weight_bytes = 0;
    for (const clef::container::TensorView& tensor : package.tensors) {
      if (!clef::model::is_vision_tensor(tensor.name)) weight_bytes += clef::container::total_bytes(tensor);
    }
    if (scratch) *scratch = scratch_bytes;
    if (weights) *weights = weight_bytes;
    return {};
  });
}
