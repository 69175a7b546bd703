// Files that several forms of a model share: JSON, weights in safetensors, the release's decision head.
#include <algorithm>

#include "container/safetensors.hpp"
#include "model/message.hpp"
#include "model/package_forms.hpp"

namespace clef::model {

using base::Code;
using base::Status;
using container::TensorView;

namespace {

constexpr std::string_view kHeadConfig = "joint_head_config.json";
constexpr std::string_view kHeadWeights = "joint_head.safetensors";

Status add_safetensors_file(Package& package, const io::SourcePtr& source) {
  std::byte length[8];
  CLEF_RETURN_IF_ERROR(source->read(0, length));  // the reader has checked it
  uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | static_cast<uint64_t>(length[i]);
  package.files.push_back({source->name(), source->size(), source, std::min(source->size(), header + 8)});
  return {};
}

}  // namespace

void add_json_file(Package& package, const io::SourcePtr& source) {
  package.files.push_back({source->name(), source->size(), source, source->size()});
}

Status add_weight_tensors(Package& package, const io::SourcePtr& source, std::vector<TensorView> tensors) {
  CLEF_RETURN_IF_ERROR(add_safetensors_file(package, source));
  std::move(tensors.begin(), tensors.end(), std::back_inserter(package.tensors));
  return {};
}

Status add_weight_file(Package& package, const io::SourcePtr& source, const std::vector<std::string_view>* wanted) {
  CLEF_ASSIGN_OR_RETURN(container::Safetensors file, container::read_safetensors(source));
  if (!wanted) return add_weight_tensors(package, source, std::move(file.tensors));
  CLEF_RETURN_IF_ERROR(add_safetensors_file(package, source));
  std::sort(file.tensors.begin(), file.tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  auto next = file.tensors.begin();
  for (const std::string_view name : *wanted) {
    while (next != file.tensors.end() && next->name < name) ++next;
    if (next == file.tensors.end() || next->name != name)
      return tensor_error(
          Code::bad_file, source->name(), name,
          "is not in this file, although the index says so; the files are of different models or mixed up");
    package.tensors.push_back(std::move(*next++));
  }
  return {};
}

Status add_head_config(const FileSet& set, std::string_view advice, Package& package) {
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr config, set.open_head(kHeadConfig, advice));
  CLEF_ASSIGN_OR_RETURN(const json::Document document, read_json(*config));
  CLEF_ASSIGN_OR_RETURN(package.config.head, head_from_json(document.root(), config->name(), package.config.hidden));
  add_json_file(package, config);
  return {};
}

Status add_head_files(const FileSet& set, std::string_view advice, Package& package) {
  CLEF_RETURN_IF_ERROR(add_head_config(set, advice, package));
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr weights, set.open_head(kHeadWeights, advice));
  CLEF_RETURN_IF_ERROR(add_weight_file(package, weights, nullptr));
  package.head = {true, {}, weights->name(), true};
  return {};
}

}  // namespace clef::model
