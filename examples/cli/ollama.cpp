#include "ollama.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace cli {

namespace {

namespace fs = std::filesystem;

fs::path store_folder() {
  if (const char* folder = std::getenv("OLLAMA_MODELS"); folder != nullptr && *folder != '\0') return folder;
  for (const char* variable : {"HOME", "USERPROFILE"})
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0')
      return fs::path(home) / ".ollama" / "models";
  return {};
}

bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

// HOST/NAMESPACE/NAME/TAG, with what is left out filled in; empty when the text is no name.
std::vector<std::string> parts_of(std::string_view model) {
  std::vector<std::string> parts;
  std::string tag = "latest";
  const std::size_t colon = model.rfind(':');
  if (colon != model.npos && model.find('/', colon) == model.npos) {
    tag = model.substr(colon + 1);
    model = model.substr(0, colon);
  }
  for (std::size_t begin = 0; begin <= model.size();) {
    const std::size_t end = std::min(model.find('/', begin), model.size());
    parts.emplace_back(model.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() == 1) parts.insert(parts.begin(), "library");
  if (parts.size() == 2) parts.insert(parts.begin(), "registry.ollama.ai");
  parts.push_back(std::move(tag));
  if (parts.size() != 4 || !std::all_of(parts.begin(), parts.end(), is_name)) return {};
  return parts;
}

}  // namespace

std::string resolve_model(const std::string& model, std::string& missing) {
  std::error_code ignored;
  if (model.empty() || fs::exists(native(model), ignored)) return model;
  const std::vector<std::string> parts = parts_of(model);
  const fs::path store = store_folder();
  if (parts.empty() || store.empty() || !fs::is_directory(store / "manifests", ignored)) return model;
  fs::path manifest = store / "manifests";
  for (const std::string& part : parts) manifest /= part;
  if (fs::is_regular_file(manifest, ignored)) {
    const std::u8string path = manifest.u8string();
    return std::string(path.begin(), path.end());
  }
  missing = model +
            ": there is no such file or directory, and Ollama's store on this machine has no model of that name; " +
            "'ollama pull " + model + "' fetches it";
  return model;
}

}  // namespace cli
