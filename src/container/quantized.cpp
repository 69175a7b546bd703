#include "container/quantized.hpp"

#include <algorithm>

#include "container/joiner.hpp"

namespace clef::container {

using base::Code;
using base::Status;
using Method = Quantization::Method;

namespace {

constexpr std::string_view kAdvice = "; use the BF16 release or a GGUF file";

struct Scheme {
  std::string_view key;  // quant_method
  Method method;
  std::string_view name;
};
constexpr Scheme kSchemes[] = {
    {"compressed-tensors", Method::compressed_tensors, "compressed-tensors"},
    {"awq", Method::awq, "AWQ"},
    {"gptq", Method::gptq, "GPTQ"},
    {"fp8", Method::fp8, "FP8"},
    {"fbgemm_fp8", Method::fp8, "FP8"},
    {"modelopt", Method::modelopt, "ModelOpt"},
    {"modelopt_fp4", Method::modelopt, "ModelOpt"},
};

Status unsupported(std::string_view file, std::string_view what) {
  return bad_file(file, std::string(what) + ", which clef does not read" + std::string(kAdvice), 0, Code::unsupported);
}

// AutoRound stores its codes in the layout of another scheme.
Method auto_round(const Quantization& config) {
  const std::string_view packing = config.text("packing_format");
  if (packing.find("auto_gptq") != packing.npos) return Method::gptq;
  return packing.find("awq") != packing.npos ? Method::awq : Method::none;
}

// The object with the settings, wherever the tool has put it.
const json::Value* find_settings(const json::Value& config) {
  const json::Value* text = config.find("text_config");
  for (const std::string_view key : {"quantization_config", "quantization", "compression_config"})
    for (const json::Value* place : {&config, text})
      if (const json::Value* found = place ? place->find(key) : nullptr; found && !found->is_null()) return found;
  return nullptr;
}

base::Result<std::string> recognise(const json::Value& config, std::string_view file, Quantization& out) {
  out.file = file;
  out.json = find_settings(config);
  if (!out.json) return std::string();
  if (!out.json->is_object()) return bad_file(file, "has an entry about quantization that is not an object", 0);
  const std::string_view method = out.text("quant_method");
  for (const Scheme& scheme : kSchemes) {
    if (method != scheme.key) continue;
    out.method = scheme.method;
    if (out.method == Method::compressed_tensors) CLEF_RETURN_IF_ERROR(check_compressed_tensors(out));
    if (out.method == Method::awq || out.method == Method::gptq) CLEF_RETURN_IF_ERROR(check_awq_gptq(out));
    return std::string(scheme.name);
  }
  if (method == "auto-round") {
    out.method = auto_round(out);
    if (out.method != Method::none)
      return std::string(out.method == Method::awq ? "AutoRound (AWQ)" : "AutoRound (GPTQ)");
    return unsupported(file, "says that the weights are packed by AutoRound as " + quoted(out.text("packing_format")));
  }
  if (method == "bitsandbytes") return unsupported(file, "says that the weights are quantized by bitsandbytes");
  if (method == "exl3" || method == "exl2") return unsupported(file, "says that the weights are quantized for ExLlama");
  if (!method.empty()) return unsupported(file, "says that the weights are quantized as " + quoted(method));
  if (out.json->find("quant_algo") || out.json->find("producer")) {
    out.method = Method::modelopt;
    return std::string("ModelOpt");
  }
  if (out.json->find("bits") || out.json->find("group_size") || out.json->find("mode")) {
    out.method = Method::mlx;
    const std::string_view mode = out.text("mode");
    for (const std::string_view known : {"affine", "nvfp4", "mxfp4", "mxfp8"})
      if (mode == known || (mode.empty() && known == "affine")) return "MLX (" + std::string(known) + ")";
    return unsupported(file, "says that the weights are quantized by MLX as " + quoted(mode));
  }
  if (out.json->members().empty()) return std::string();
  return unsupported(file, "says that the weights are quantized, but not how ('quant_method')");
}

// What other schemes call their tensors, should the configuration not name them.
Status refuse_others(const TensorView& tensor) {
  for (const std::string_view ending : {".absmax", ".quant_map", ".trellis", ".q_weight", ".SCB"})
    if (tensor.name.ends_with(ending))
      return Joiner::error(tensor,
                           "belongs to weights quantized by bitsandbytes or for ExLlama, which clef does not read" +
                               std::string(kAdvice),
                           Code::unsupported);
  return {};
}

Status join_one(Joiner& joiner, const Quantization& config, const TensorView& tensor) {
  std::string_view module;
  if (strip(tensor.name, ".qweight", module)) return join_awq_gptq(joiner, config, tensor, module);
  if (strip(tensor.name, ".weight_packed", module)) {
    if (tensor.type_name == "U8") return join_fp4(joiner, tensor, module);
    if (tensor.type_name == "I32" || tensor.type_name == "U32") return join_packed(joiner, config, tensor, module);
    return Joiner::error(tensor, "is " + describe(tensor) + "; packed weights are I32 or U8");
  }
  if (!strip(tensor.name, ".weight", module)) return refuse_others(tensor);
  // Without scales it is some other tensor, unless the configuration says that the weights are quantized.
  const bool mlx = tensor.type_name == "U32";
  if (config.method == Method::none && !joiner.find(module, mlx ? ".scales" : ".weight_scale") &&
      !joiner.find(module, mlx ? ".biases" : ".weight_scale_inv"))
    return {};
  if (mlx) return join_mlx(joiner, config, tensor, module);
  if (tensor.type_name == "F8_E4M3") return join_fp8(joiner, config, tensor, module);
  if (tensor.type_name == "I8") return join_int8(joiner, tensor, module);
  if (tensor.type_name == "U8") return join_fp4(joiner, tensor, module);
  return {};
}

// Scales without codes: the codes are missing, or of a type that has no meaning here.
Status check_leftover(const TensorView& tensor, const Quantization& config) {
  std::string_view module;
  for (const std::string_view ending : {".weight_scale", ".weight_scale_inv", ".weight_scale_2", ".weight_global_scale",
                                        ".weight_zero_point", ".weight_packed", ".qzeros", ".g_idx", ".scales"}) {
    if (config.method == Method::none && ending == ".scales") continue;
    if (strip(tensor.name, ending, module))
      return Joiner::error(tensor,
                           "belongs to a quantized matrix, but no codes of " + quoted(module) +
                               " fit it; the model is incomplete or damaged, fetch its files again",
                           Code::missing_part);
  }
  return {};
}

}  // namespace

base::Result<std::string> quantization_scheme(const json::Value& config, std::string_view config_file) {
  Quantization quantization;
  return recognise(config, config_file, quantization);
}

base::Status join_quantized(const json::Value& config, std::string_view config_file, std::vector<TensorView>& tensors) {
  Quantization quantization;
  CLEF_ASSIGN_OR_RETURN([[maybe_unused]] const std::string name, recognise(config, config_file, quantization));
  Joiner joiner(tensors);
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!joiner.taken(i)) CLEF_RETURN_IF_ERROR(join_one(joiner, quantization, tensors[i]));
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!joiner.taken(i)) CLEF_RETURN_IF_ERROR(check_leftover(tensors[i], quantization));
  joiner.finish();
  return {};
}

}  // namespace clef::container
