#include "container/sizes.hpp"

#include <algorithm>

namespace clef::container {

bool count_elements(std::span<const int64_t> shape, uint64_t& elements) noexcept {
  uint64_t product = 1;
  bool empty = false;
  for (const int64_t dimension : shape) {
    if (dimension < 0) return false;
    if (dimension == 0) {
      empty = true;
    } else if (!multiply(product, static_cast<uint64_t>(dimension), product) || product > INT64_MAX) {
      return false;
    }
  }
  elements = empty ? 0 : product;
  return true;
}

std::string quoted(std::string_view name) {
  constexpr size_t kLongest = 120;
  size_t shown = std::min(name.size(), kLongest);
  // Never cut inside a character: step back over continuation bytes.
  while (shown < name.size() && shown > 0 && (static_cast<unsigned char>(name[shown]) & 0xc0) == 0x80) --shown;
  std::string text = "'";
  for (const char c : name.substr(0, shown)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  text += shown < name.size() ? "...'" : "'";
  return text;
}

base::Status bad_file(std::string_view file, std::string_view what, uint64_t offset, base::Code code) {
  std::string message(file);
  message += ": ";
  message += what;
  return base::Status(code, std::move(message)).in_file(file).at_offset(static_cast<int64_t>(offset));
}

base::Status bad_tensor(std::string_view file, std::string_view tensor, std::string_view what, uint64_t offset,
                        base::Code code) {
  return bad_file(file, "tensor " + quoted(tensor) + " " + std::string(what), offset, code).in_tensor(tensor);
}

FileKind guess_kind(std::string_view start) noexcept {
  if (start.empty()) return FileKind::empty;
  if (start.starts_with("GGUF") || start.starts_with("FUGG")) return FileKind::gguf;
  // A length below 4 GiB and the brace of a header.
  if (start.size() > 8 && start[8] == '{' && start.substr(4, 4).find_first_not_of('\0') == start.npos)
    return FileKind::safetensors;
  if (start.starts_with("version https://git-lfs")) return FileKind::lfs_pointer;
  if (start.starts_with("PK\x03\x04")) return FileKind::zip;
  for (const std::string_view magic : {"lmgg", "fmgg", "tjgg", "algg"})
    if (start.starts_with(magic)) return FileKind::old_ggml;
  const std::string_view text = start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  for (const std::string_view tag : {"<!DOCTYPE", "<!doctype", "<html", "<HTML"})
    if (text.starts_with(tag)) return FileKind::html;
  if (text.starts_with("<?xml")) return FileKind::xml;
  const bool is_text = start.substr(0, 8).find('\0') == start.npos;
  if (is_text && (text.starts_with("{") || text.starts_with("["))) return FileKind::json;
  return FileKind::unknown;
}

base::Status wrong_kind(std::string_view file, std::string_view wanted, FileKind kind) {
  std::string what = "is not a " + std::string(wanted);
  switch (kind) {
    case FileKind::unknown:
      break;
    case FileKind::empty:
      what += " but an empty file; fetch it again";
      break;
    case FileKind::gguf:
      what += " but a GGUF file";
      break;
    case FileKind::safetensors:
      what += " but a safetensors file";
      break;
    case FileKind::old_ggml:
      what += " but an old GGML file; use a GGUF file";
      break;
    case FileKind::json:
      what += " but a JSON text";
      break;
    case FileKind::html:
      what += " but an HTML page; the download went wrong, fetch it again";
      break;
    case FileKind::xml:
      what += " but an XML text; the download went wrong, fetch it again";
      break;
    case FileKind::zip:
      what += " but a zip archive (a PyTorch file?); use safetensors or GGUF files";
      break;
    case FileKind::lfs_pointer:
      what += " but a Git LFS pointer; fetch the file itself (git lfs pull)";
      break;
  }
  return bad_file(file, what, 0);
}

}  // namespace clef::container
