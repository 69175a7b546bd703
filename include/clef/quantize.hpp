// Writing a model as one GGUF file, quantized or not.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <clef/options.hpp>
#include <clef/runtime.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clef {
inline namespace v0 {

// A type for the matrices whose names in the written file match a pattern with * and ?.
struct TensorType {
  std::string_view pattern;
  std::string_view type;
};

// How a model is written. A plain struct: set what you need, the rest has good defaults.
struct QuantizeOptions {
  std::string_view type;          // "Q4_K_M" (default), "Q8_0", "BF16", ...: see clef.h
  bool pure = false;              // one type for all matrices instead of the mixture of that name
  std::string_view architecture;  // "clef" (default), or "qwen35": the backbone alone, for other programs
  // Of the decision head's matrices: "" keeps them precise, "mixture" treats them as the rest, or a type.
  std::string_view head_type;
  std::vector<TensorType> tensor_types;  // later ones win
  std::string_view importance;           // path of an importance matrix of llama.cpp, UTF-8
  bool overwrite = false;                // a file that exists is replaced
  const Cancel* cancel = nullptr;        // borrowed until the call is done
  ProgressFunction on_progress;
  CancelledFunction cancelled;
};

namespace detail {

using QuantizeOptionsHandle = Handle<clef_quantize_options, &clef_quantize_options_free>;

inline Result<QuantizeOptionsHandle> make_quantize_options(const QuantizeOptions& from) {
  auto made = make<QuantizeOptionsHandle, clef_quantize_options>(
      [](clef_quantize_options** out, clef_error** error) { return clef_quantize_options_create(out, error); });
  if (!made) return made;
  clef_quantize_options* to = made->get();
  Setters s;
  s.set(!from.type.empty(), [&](clef_error** error) {
    return clef_quantize_options_set_type(to, from.type.data(), from.type.size(), error);
  });
  s.set(from.pure, [&](clef_error** error) { return clef_quantize_options_set_pure(to, 1, error); });
  s.set(!from.architecture.empty(), [&](clef_error** error) {
    return clef_quantize_options_set_architecture(to, from.architecture.data(), from.architecture.size(), error);
  });
  s.set(!from.head_type.empty(), [&](clef_error** error) {
    return clef_quantize_options_set_head_type(to, from.head_type.data(), from.head_type.size(), error);
  });
  for (const TensorType& item : from.tensor_types)
    s.set(true, [&](clef_error** error) {
      return clef_quantize_options_set_tensor_type(to, data(item.pattern), item.pattern.size(), data(item.type),
                                                   item.type.size(), error);
    });
  s.set(!from.importance.empty(), [&](clef_error** error) {
    return clef_quantize_options_set_importance(to, from.importance.data(), from.importance.size(), error);
  });
  s.set(from.overwrite, [&](clef_error** error) { return clef_quantize_options_set_overwrite(to, 1, error); });
  s.set(from.cancel != nullptr,
        [&](clef_error** error) { return clef_quantize_options_set_cancel(to, from.cancel->get(), error); });
  s.set(from.on_progress || from.cancelled, [&](clef_error** error) {
    return ProgressBox::give(
        from, [&](const clef_progress_hooks* table) { return clef_quantize_options_set_progress(to, table, error); });
  });
  if (!s.result()) return std::move(s.result()).error();
  return made;
}

}  // namespace detail

// Writes the model of `source`, in whatever form, as one GGUF file at `path` (UTF-8), with the threads of the runtime.
// Returns a report as JSON: {"file","file_bytes","tensors","weights","tensor_bytes","bits_per_weight","types","seconds",
// "notes"}. After a cancel or an error of the disk the same call goes on where it was (PATH.part). Errors: those of a
// load, invalid_value, invalid_argument, io, busy, non_finite, cancelled. Thread-safety: the source is used by this call alone.
inline Result<std::string> quantize(const Runtime& runtime, Source& source, std::string_view path,
                                    const QuantizeOptions& options = {}) {
  auto handle = detail::make_quantize_options(options);
  if (!handle) return std::move(handle).error();
  return detail::text([&](clef_text** out, clef_error** error) {
    return clef_quantize(runtime.get(), source.get(), detail::data(path), path.size(), handle->get(), out, error);
  });
}

}  // namespace v0
}  // namespace clef
