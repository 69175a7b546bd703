// FP8 and FP4 with scales. FP8: X.weight (F8_E4M3) and X.weight_scale or X.weight_scale_inv, both multipliers, or U8
// (MXFP8). FP4: X.weight_packed or X.weight (U8), X.weight_scale, and X.weight_global_scale, by which is divided
// (compressed-tensors), or X.weight_scale_2, by which is multiplied (ModelOpt).
#include "container/joiner.hpp"

namespace clef::container {

using base::Code;
using base::Status;

namespace {

int64_t ceil_divide(int64_t a, int64_t b) noexcept {
  return (a + b - 1) / b;
}

}  // namespace

Status block_size(const Quantization& config, int64_t (&block)[2], bool& stated) {
  block[0] = block[1] = 128;
  stated = false;
  if (!config.json) return {};
  const json::Value* sizes = config.json->find("weight_block_size");
  if (const json::Value* groups = config.json->find("config_groups"); groups && !sizes)
    for (const json::Member& group : groups->members())
      if (const json::Value* weights = group.value.find("weights"))
        if (const json::Value* own = weights->find("block_structure"); own && own->is_array()) sizes = own;
  if (!sizes || sizes->is_null()) return {};
  const auto items = sizes->items();
  for (size_t i = 0; i < 2; ++i)
    if (items.size() != 2 || !items[i].to_int64(block[i]) || block[i] < 1 || block[i] > 65536)
      return bad_file(config.file, "gives the weights a block size that is not two sizes", 0);
  stated = config.method == Quantization::Method::fp8;
  return {};
}

Status place_scales(const TensorView& scales, int64_t out, int64_t in, const int64_t (&block)[2],
                    quant::Scaling& layout, std::string& text) {
  const auto& shape = scales.shape;
  if (shape.size() <= 2 && scales.elements() == 1) {
    layout.group = 0, layout.group_rows = 0;
    text = "per tensor";
  } else if (shape == Joiner::Shape{out} || shape == Joiner::Shape{out, 1}) {
    layout.group = 0, layout.group_rows = 1;
    text = "per row";
  } else if (shape.size() == 2 && shape[0] == out && shape[1] > 0 && in % shape[1] == 0) {
    layout.group = in / shape[1], layout.group_rows = 1;
    text = group_text(layout.group);
  } else if (block[0] > 0 && shape == Joiner::Shape{ceil_divide(out, block[0]), ceil_divide(in, block[1])}) {
    layout.group = block[1], layout.group_rows = block[0];
    text = std::to_string(block[0]) + "x" + std::to_string(block[1]);
  } else {
    return Joiner::error(scales, "is " + describe(scales) + ", which does not fit a matrix [" + std::to_string(out) +
                                     ", " + std::to_string(in) + "]");
  }
  return {};
}

Status join_fp8(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module) {
  const TensorView* scales = joiner.find(module, ".weight_scale");
  const TensorView* inverse = joiner.find(module, ".weight_scale_inv");
  if (scales && inverse)
    return Joiner::error(codes, "has both 'weight_scale' and 'weight_scale_inv'; only one of them can be right");
  if (!scales) scales = inverse;
  if (!scales) return joiner.need(codes, module, ".weight_scale").status();
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  const int64_t rows = codes.shape[0], in = codes.shape[1];
  Scales out;
  std::string text = "MXFP8";
  if (scales->type_name == "U8" || scales->type_name == "F8_E8M0") {
    const std::string_view types[] = {"U8", "F8_E8M0"};
    const Joiner::Shape shapes[] = {{rows, ceil_divide(in, 32)}};
    CLEF_RETURN_IF_ERROR(Joiner::check(*scales, types, shapes));
    out.layout.group = 32;
    Joiner::set_scales(*scales, out, &quant::format(quant::Type::f8_e8m0));
  } else {
    CLEF_RETURN_IF_ERROR(Joiner::check(*scales, kFloats, std::span(&scales->shape, 1)));
    int64_t block[2] = {};
    bool stated = false;
    CLEF_RETURN_IF_ERROR(block_size(config, block, stated));
    CLEF_RETURN_IF_ERROR(place_scales(*scales, rows, in, block, out.layout, text));
    const bool blocks = scales->shape == Joiner::Shape{ceil_divide(rows, block[0]), ceil_divide(in, block[1])};
    if (stated && !blocks)
      return Joiner::contradiction(*scales, "scales " + text, config,
                                   "blocks of " + std::to_string(block[0]) + "x" + std::to_string(block[1]));
    if (stated) out.layout.group_rows = block[0], out.layout.group = block[1];
    if (stated) text = std::to_string(block[0]) + "x" + std::to_string(block[1]);
    text = "FP8 " + text;
    Joiner::set_scales(*scales, out);
  }
  joiner.take(scales);
  joiner.add(codes, codes.name, quant::Type::scaled_fp8, text, rows, in, std::move(out));
  return {};
}

Status join_fp4(Joiner& joiner, const TensorView& codes, std::string_view module) {
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  CLEF_ASSIGN_OR_RETURN(const TensorView* scales, joiner.need(codes, module, ".weight_scale"));
  const bool nvfp4 = scales->type_name == "F8_E4M3";
  const int64_t in = codes.shape[1] * 2, group = nvfp4 ? 16 : 32;
  if (in > INT32_MAX || in % group != 0)
    return Joiner::error(codes, "is " + describe(codes) + ", whose rows are no whole groups of " +
                                    std::to_string(group) + " codes of 4 bits");
  const std::string_view types[] = {"F8_E4M3", "U8", "F8_E8M0"};
  const Joiner::Shape shapes[] = {{codes.shape[0], in / group}};
  CLEF_RETURN_IF_ERROR(Joiner::check(*scales, types, shapes));
  const TensorView* divisor = joiner.find(module, ".weight_global_scale");
  const TensorView* factor = joiner.find(module, ".weight_scale_2");
  if (divisor && factor)
    return Joiner::error(codes, "has both 'weight_global_scale' and 'weight_scale_2'; only one of them can be right");
  if (nvfp4 && !divisor && !factor)
    return joiner.need(codes, module, codes.name.ends_with("_packed") ? ".weight_global_scale" : ".weight_scale_2")
        .status();
  if (joiner.find(module, ".pre_quant_scale"))
    return Joiner::error(codes,
                         "has scales for its inputs ('pre_quant_scale'), which clef does not apply; use the BF16 "
                         "release or a GGUF file",
                         Code::unsupported);
  Scales out;
  out.layout.bits = 4;
  out.layout.group = group;
  if (divisor) CLEF_RETURN_IF_ERROR(Joiner::read_factor(*divisor, out.layout.divisor));
  if (factor) CLEF_RETURN_IF_ERROR(Joiner::read_factor(*factor, out.layout.global));
  Joiner::set_scales(*scales, out, &quant::format(nvfp4 ? quant::Type::f8_e4m3 : quant::Type::f8_e8m0));
  joiner.take(scales);
  joiner.take(divisor);
  joiner.take(factor);
  joiner.add(codes, std::string(module) + ".weight", quant::Type::scaled_fp4, nvfp4 ? "NVFP4" : "MXFP4", codes.shape[0],
             in, std::move(out));
  return {};
}

}  // namespace clef::container
