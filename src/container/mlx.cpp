// MLX: X.weight (U32, codes in bit streams per row), X.scales, X.biases (affine only). The same under other names in
// Ollama's store.
#include "container/joiner.hpp"
#include "container/quantized.hpp"

namespace clef::container {

using base::Code;
using base::Status;

namespace {

struct Names {
  std::string_view scales, biases;
};
constexpr Names kMlx = {".scales", ".biases"};
constexpr Names kOllama = {".scale", ".bias"};

constexpr int64_t kLargestGroup = 1 << 16;

bool is_bits(int64_t bits) noexcept {
  return (bits >= 2 && bits <= 6) || bits == 8;
}

// The kinds with scales of 8 bits; the number of code bits that share one tells them apart.
struct Micro {
  std::string_view name, type_name;
  quant::Type type, scale;
  int64_t bits, group;
};
constexpr Micro kMicros[] = {
    {"nvfp4", "NVFP4", quant::Type::scaled_fp4, quant::Type::f8_e4m3, 4, 16},
    {"mxfp4", "MXFP4", quant::Type::scaled_fp4, quant::Type::f8_e8m0, 4, 32},
    {"mxfp8", "MXFP8", quant::Type::scaled_fp8, quant::Type::f8_e8m0, 8, 32},
};

Status join_micro(Joiner& joiner, const TensorView& codes, std::string name, const TensorView& scales,
                  const Micro& micro) {
  const int64_t in = codes.shape[1] * 32 / micro.bits;
  const std::string_view types[] = {"U8"};
  const Joiner::Shape shapes[] = {{codes.shape[0], in / micro.group}};
  if (in % micro.group != 0 || in > INT32_MAX)
    return Joiner::error(codes, "is " + describe(codes) + ", whose rows are no whole groups of " +
                                    std::to_string(micro.group) + " codes");
  CLEF_RETURN_IF_ERROR(Joiner::check(scales, types, shapes));
  Scales out;
  out.layout.bits = static_cast<int32_t>(micro.bits);
  out.layout.group = micro.group;
  Joiner::set_scales(scales, out, &quant::format(micro.scale));
  joiner.take(&scales);
  joiner.add(codes, std::move(name), micro.type, std::string(micro.type_name), codes.shape[0], in, std::move(out));
  return {};
}

Status join_affine(Joiner& joiner, const TensorView& codes, std::string name, const TensorView& scales,
                   const TensorView& biases, int64_t bits, int64_t group, std::string_view owner) {
  const int64_t in = scales.shape[1] * group;  // both below 2^31
  const Joiner::Shape shapes[] = {{codes.shape[0], scales.shape[1]}};
  CLEF_RETURN_IF_ERROR(Joiner::check(scales, kFloats, shapes));
  CLEF_RETURN_IF_ERROR(Joiner::check(biases, kFloats, shapes));
  if (in > INT32_MAX || in * bits != codes.shape[1] * 32)
    return Joiner::error(codes, "is " + describe(codes) + " with the scales " + describe(scales) +
                                    ", which do not fit " + std::to_string(bits) + " bits in groups of " +
                                    std::to_string(group));
  Scales out;
  out.layout.bits = static_cast<int32_t>(bits);
  out.layout.group = group;
  Joiner::set_scales(scales, out);
  Joiner::set_offsets(biases, out, biases.format);
  joiner.take(&scales);
  joiner.take(&biases);
  joiner.add(codes, std::move(name), quant::Type::mlx_affine,
             std::string(owner) + " " + std::to_string(bits) + "-bit " + group_text(group), codes.shape[0], in,
             std::move(out));
  return {};
}

// Bits and group of a module: its own entry, else the general one. Names of entries may lack the first part of the
// tensor's name.
void module_settings(const Quantization& config, std::string_view module, int64_t& bits, int64_t& group) {
  config.number("bits", bits);
  config.number("group_size", group);
  if (!config.json) return;
  const json::Value* own = config.json->find(module);
  std::string_view shorter;
  if (!own && module.starts_with("language_model."))
    shorter = module.substr(std::string_view("language_model.").size());
  if (!shorter.empty()) own = config.json->find(shorter);
  if (!own) return;
  if (const json::Value* value = own->find("bits")) value->to_int64(bits);
  if (const json::Value* value = own->find("group_size")) value->to_int64(group);
}

}  // namespace

Status join_mlx(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module) {
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  CLEF_ASSIGN_OR_RETURN(const TensorView* scales, joiner.need(codes, module, kMlx.scales));
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(*scales));
  if (scales->type_name == "U8") {
    for (const Micro& micro : kMicros)
      if (codes.shape[1] * 32 == scales->shape[1] * micro.bits * micro.group)
        return join_micro(joiner, codes, codes.name, *scales, micro);
    return Joiner::error(codes, "is " + describe(codes) + " with the scales " + describe(*scales) +
                                    ", which is none of nvfp4, mxfp4 and mxfp8");
  }
  CLEF_ASSIGN_OR_RETURN(const TensorView* biases, joiner.need(codes, module, kMlx.biases));
  // Codes per scale are known, but not of how many bits each: 4 bits in groups of 64 look like 8 in groups of 32.
  int64_t bits = 0, group = 0;
  module_settings(config, module, bits, group);
  if (!is_bits(bits) || group < 1 || group > kLargestGroup)
    return Joiner::error(codes, "is quantized, but " + std::string(config.file) +
                                    " does not give a usable 'bits' and 'group_size' for it in 'quantization'; use the "
                                    "config.json that belongs to these files");
  if (codes.shape[1] * 32 != scales->shape[1] * bits * group)
    return Joiner::contradiction(codes,
                                 std::to_string(codes.shape[1] * 32 / scales->shape[1]) + " bits of codes per scale",
                                 config, std::to_string(bits) + " bits in groups of " + std::to_string(group));
  return join_affine(joiner, codes, codes.name, *scales, *biases, bits, group, "MLX");
}

base::Status join_ollama(const std::map<std::string, std::string>& metadata, std::vector<TensorView>& tensors) {
  Joiner joiner(tensors);
  const auto setting = [&](const std::string& name, const char* key) -> std::string_view {
    auto found = metadata.find(std::string(name).append(1, '.').append(key));
    if (found == metadata.end()) found = metadata.find(key);
    return found == metadata.end() ? std::string_view() : std::string_view(found->second);
  };
  for (const TensorView& codes : tensors) {
    if (codes.type_name != "U32") continue;
    const std::string_view kind = setting(codes.name, "quant_type"), size = setting(codes.name, "group_size");
    if (kind.empty())
      return Joiner::error(codes, "is U32, but the file does not say what that means ('quant_type'); fetch it again");
    CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
    CLEF_ASSIGN_OR_RETURN(const TensorView* scales, joiner.need(codes, codes.name, kOllama.scales));
    CLEF_RETURN_IF_ERROR(Joiner::check_matrix(*scales));
    const Micro* micro = nullptr;
    for (const Micro& candidate : kMicros)
      if (kind == candidate.name) micro = &candidate;
    int64_t group = micro ? micro->group : 64;
    if (!size.empty()) {
      const auto text = json::parse(size, {.max_depth = 1, .max_integer_digits = 9});
      const bool usable = text.ok() && text.value().root().to_int64(group) && group > 0;
      if (!usable || (micro && group != micro->group))
        return Joiner::error(codes, "has the unusable 'group_size' " + quoted(size) + " for " + quoted(kind));
    }
    if (micro) {
      CLEF_RETURN_IF_ERROR(join_micro(joiner, codes, codes.name, *scales, *micro));
      continue;
    }
    if (kind != "int4" && kind != "int8")
      return Joiner::error(codes,
                           "has the 'quant_type' " + quoted(kind) + ", which clef does not read; use a GGUF file",
                           Code::unsupported);
    CLEF_ASSIGN_OR_RETURN(const TensorView* biases, joiner.need(codes, codes.name, kOllama.biases));
    CLEF_RETURN_IF_ERROR(
        join_affine(joiner, codes, codes.name, *scales, *biases, kind == "int4" ? 4 : 8, group, "MLX"));
  }
  std::string_view name;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!joiner.taken(i) && strip(tensors[i].name, kOllama.scales, name))
      return Joiner::error(tensors[i], "holds scales of " + quoted(name) + ", which is missing; fetch the model again",
                           Code::missing_part);
  joiner.finish();
  return {};
}

}  // namespace clef::container
