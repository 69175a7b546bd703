// GGUF files: which model they hold, parts of split files, projectors beside them.
#include <algorithm>

#include "model/message.hpp"
#include "model/package_forms.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::Gguf;

namespace {

constexpr std::string_view kNoHead =
    "the GGUF file is a Qwen3.5 language model ('qwen35') and has no decision head, so alone it would give nonsense; "
    "name the directory with the head of the same model (\"head\", option --head), or use a GGUF file of architecture "
    "'clef', which holds it";
constexpr std::string_view kOllamaPrefix = "clef.";  // of the head's tensors in files of Ollama

std::string architecture_of(const Gguf& gguf) {
  std::string_view architecture;
  return gguf.get_string("general.architecture", architecture) ? std::string(architecture) : std::string();
}

int64_t parts_of(const Gguf& gguf) noexcept {
  int64_t count = 1;
  return gguf.get_int("split.count", count) ? count : 1;
}

enum class Head : uint8_t { clef, ollama, none };

// Which model the file holds, and how its decision head is stored.
base::Result<Head> recognise(const Gguf& gguf, const std::string& file) {
  const std::string architecture = architecture_of(gguf);
  if (architecture.empty())
    return file_error(Code::not_clef, file, "has no key 'general.architecture', so it is no model; use a file of Clef");
  if (architecture == "clip")
    return file_error(Code::not_clef, file,
                      "is a projector, the image part of a model ('clip'); give the model's own GGUF file");
  std::string_view type;
  const bool decides = gguf.get_string(architecture + ".decision.type", type);
  if (decides && type != "clef")
    return file_error(Code::not_clef, file,
                      "is a decision model of another family, " + quoted(type) + "; clef runs Clef and Clef-Flash");
  if (architecture == "qwen35") {
    const bool has_head =
        std::any_of(gguf.tensors.begin(), gguf.tensors.end(),
                    [](const container::TensorView& tensor) { return tensor.name.starts_with(kOllamaPrefix); });
    if (has_head != decides)
      return file_error(
          Code::bad_file, file,
          decides ? "has the key 'qwen35.decision.type', but no tensors 'clef.*': its decision head is cut off"
                  : "has tensors 'clef.*', but no key 'qwen35.decision.type' says how to use them");
    return has_head ? Head::ollama : Head::none;
  }
  if (architecture != "clef")
    return file_error(
        Code::not_clef, file,
        "holds a model of architecture " + quoted(architecture) + "; clef runs Clef and Clef-Flash ('clef')");
  if (!decides)
    return file_error(Code::bad_file, file, "has no key 'clef.decision.type', so its decision head cannot be known");
  return Head::clef;
}

Status read_head(const FileSet& set, const Gguf& gguf, Head head, Package& package) {
  const std::string& file = gguf.files.front();
  const int64_t hidden = package.config.hidden;
  if (set.head_given() || head == Head::none) {
    package.kind_name += head == Head::none ? " with a head of its own files" : ", another head";
    return add_head_files(set, kNoHead, package);
  }
  if (head == Head::ollama) {
    package.kind_name += " with the head as Ollama stores it";
    CLEF_ASSIGN_OR_RETURN(package.config.head, head_from_ollama(gguf, "qwen35", hidden));
    package.head = {true, std::string(kOllamaPrefix), file, false};
    return {};
  }
  CLEF_ASSIGN_OR_RETURN(package.config.head, head_from_gguf(gguf, hidden));
  package.head = {false, {}, file, false};
  return {};
}

// Opens the parts that were not given from the directory of one that was.
Status complete_parts(const FileSet& set, std::vector<FileSet::Item>& parts, std::vector<Gguf>& read) {
  const std::vector<std::string> names = container::split_names(parts.front().name);
  if (names.size() != static_cast<size_t>(parts_of(read.front()))) return {};  // merging says what is missing
  for (const std::string& name : names) {
    if (std::any_of(parts.begin(), parts.end(), [&](const FileSet::Item& part) { return part.name == name; })) continue;
    io::SourcePtr source;
    if (!parts.front().directory.empty()) {
      const std::string path = io::join_path(parts.front().directory, name);
      if (io::path_kind(path) == io::PathKind::file) {
        CLEF_ASSIGN_OR_RETURN(source, io::open_path(path));
      }
    }
    if (!source) {
      CLEF_ASSIGN_OR_RETURN(source, set.open(name, "it is a part of the same model as " + parts.front().name +
                                                       "; all " + std::to_string(names.size()) + " parts are needed"));
    }
    CLEF_ASSIGN_OR_RETURN(Gguf part, container::read_gguf(source));
    parts.push_back({name, std::move(source), parts.front().directory});
    read.push_back(std::move(part));
  }
  return {};
}

void add_file(Package& package, const io::SourcePtr& source) {
  uint64_t header = source->size();
  for (const container::TensorView& tensor : package.tensors)
    if (tensor.source == source) header = std::min(header, tensor.offset);
  package.files.push_back({source->name(), source->size(), source, header});
}

void attach_projector(Package& package, const FileSet::Item& item) {
  package.files.push_back({item.source->name(), item.source->size(), item.source, 0});
  package.projector = item.source;
  package.has_vision = true;
}

Status refuse_projector(const Gguf& gguf, const std::string& file) {
  return file_error(Code::invalid_argument, file,
                    "was given as the projector, but holds a model of architecture " + quoted(architecture_of(gguf)) +
                        "; a projector's is 'clip'");
}

std::string display_name(std::string_view name, bool split) {
  constexpr std::string_view kEnding = ".gguf";
  constexpr size_t kSplit = std::string_view("-00001-of-00003").size();
  if (name.size() > kEnding.size() && name[name.size() - kEnding.size()] == '.') name.remove_suffix(kEnding.size());
  if (split && name.size() > kSplit) name.remove_suffix(kSplit);
  return std::string(name);
}

}  // namespace

Status add_projector(Package& package, const FileSet::Item& item) {
  CLEF_ASSIGN_OR_RETURN(const Gguf gguf, container::read_gguf(item.source));
  if (architecture_of(gguf) != "clip") return refuse_projector(gguf, item.name);
  attach_projector(package, item);
  return {};
}

base::Result<Package> open_gguf(const FileSet& set, std::vector<FileSet::Item> items) {
  // One model: either one whole file or the parts of one, and projectors beside it.
  std::vector<FileSet::Item> parts, projectors;
  std::vector<Gguf> read;
  std::string several;
  size_t whole = 0;
  for (FileSet::Item& item : items) {
    CLEF_ASSIGN_OR_RETURN(Gguf gguf, container::read_gguf(item.source));
    const bool clip = architecture_of(gguf) == "clip";
    if (item.projector && !clip) return refuse_projector(gguf, item.name);
    if (items.size() > 1 && clip) {
      projectors.push_back(std::move(item));
      continue;
    }
    if (parts_of(gguf) <= 1) ++whole;
    several += (parts.empty() ? " " : ", ") + item.name;
    parts.push_back(std::move(item));
    read.push_back(std::move(gguf));
  }
  if (parts.empty())
    return file_error(Code::not_clef, projectors.front().name,
                      "and the other files are projectors; give the model's file");
  if (whole > 0 && parts.size() > 1)
    return file_error(Code::invalid_argument, parts.front().name,
                      "is one of several models that were given; give one of them:" + several);
  const bool split = whole == 0;
  if (split) CLEF_RETURN_IF_ERROR(complete_parts(set, parts, read));

  Package package;
  package.kind = Kind::gguf;
  package.name = display_name(parts.front().name, split && !container::split_names(parts.front().name).empty());
  package.conventions = {.value_heads_tiled = true};
  Gguf merged;
  if (split) {
    CLEF_ASSIGN_OR_RETURN(merged, container::merge_gguf(std::move(read)));
  } else {
    merged = std::move(read.front());
  }
  CLEF_ASSIGN_OR_RETURN(const Head head, recognise(merged, merged.files.front()));
  if (head == Head::none) CLEF_RETURN_IF_ERROR(set.open_head("joint_head_config.json", kNoHead).status());
  package.kind_name = "GGUF (" + architecture_of(merged) + ")";
  package.gguf = std::make_shared<const Gguf>(std::move(merged));
  package.tensors = package.gguf->tensors;
  std::sort(parts.begin(), parts.end(), [](const FileSet::Item& a, const FileSet::Item& b) { return a.name < b.name; });
  for (const FileSet::Item& part : parts) add_file(package, part.source);
  if (!projectors.empty()) attach_projector(package, projectors.front());
  CLEF_ASSIGN_OR_RETURN(package.config, config_from_gguf(*package.gguf, architecture_of(*package.gguf)));
  CLEF_RETURN_IF_ERROR(read_head(set, *package.gguf, head, package));
  CLEF_RETURN_IF_ERROR(finish_tensors(package));
  return package;
}

}  // namespace clef::model
