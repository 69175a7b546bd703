// compressed-tensors: integers. X.weight_packed (I32, codes in bit streams per row) or X.weight (I8), X.weight_scale,
// optionally X.weight_zero_point, X.weight_g_idx and X.weight_shape.
#include <algorithm>
#include <cstring>

#include "container/joiner.hpp"

namespace clef::container {

using base::Code;
using base::Status;

namespace {

constexpr std::string_view kReadable[] = {
    "dense",           "pack-quantized",       "int-quantized",        "float-quantized",
    "naive-quantized", "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mxfp8-quantized",
    "mixed-precision"};

Status check_format(const Quantization& config, const json::Value* format) {
  if (!format || !format->is_string() ||
      std::find(std::begin(kReadable), std::end(kReadable), format->text()) != std::end(kReadable))
    return {};
  return bad_file(config.file,
                  "says that the weights are stored as " + quoted(format->text()) +
                      " (compressed-tensors), which clef does not read; use the BF16 release or a GGUF file",
                  0, Code::unsupported);
}

// The entry of the only group of the configuration; nullptr when there are several, whose targets are patterns.
const json::Value* only_weights(const Quantization& config) {
  const json::Value* groups = config.json ? config.json->find("config_groups") : nullptr;
  if (!groups || groups->members().size() != 1) return nullptr;
  return groups->members()[0].value.find("weights");
}

// [out, in] of the matrix that was packed.
Status read_shape(const TensorView& tensor, int64_t (&shape)[2]) {
  const std::string_view types[] = {"I64", "I32"};
  const Joiner::Shape shapes[] = {{2}};
  CLEF_RETURN_IF_ERROR(Joiner::check(tensor, types, shapes));
  std::byte bytes[16];
  const bool wide = tensor.type_name == "I64";
  CLEF_RETURN_IF_ERROR(tensor.source->read(tensor.offset, std::span(bytes, wide ? 16 : 8)));
  for (int i = 0; i < 2; ++i) {
    if (wide) {
      std::memcpy(&shape[i], bytes + 8 * i, 8);
    } else {
      int32_t size = 0;
      std::memcpy(&size, bytes + 4 * i, 4);
      shape[i] = size;
    }
  }
  return {};
}

// Inputs and bits of each code, from the packed words of a row.
Status packed_size(const Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module,
                   int64_t& in, int64_t& bits) {
  const int64_t words = codes.shape[1];
  int64_t stated = 0;
  if (const json::Value* weights = only_weights(config))
    if (const json::Value* value = weights->find("num_bits")) value->to_int64(stated);
  const TensorView* tensor = joiner.find(module, ".weight_shape");
  if (!tensor) {
    if (stated < 2 || stated > 8 || words * 32 % stated != 0)
      return Joiner::error(codes,
                           "is packed, but neither " + quoted(std::string(module) + ".weight_shape") + " nor " +
                               std::string(config.file) + " tells its bits; the model is incomplete",
                           Code::missing_part);
    bits = stated;
    in = words * 32 / bits;
    return {};
  }
  int64_t shape[2] = {};
  CLEF_RETURN_IF_ERROR(read_shape(*tensor, shape));
  const auto fits = [&](int64_t candidate) { return (shape[1] * candidate + 31) / 32 == words; };
  if (shape[0] != codes.shape[0] || shape[1] < 1 || shape[1] > INT32_MAX)
    return Joiner::error(*tensor, "holds [" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) +
                                      "], which does not fit the codes " + describe(codes));
  in = shape[1];
  bits = stated >= 2 && stated <= 8 && fits(stated) ? stated : 2;
  while (bits <= 8 && !fits(bits)) ++bits;
  if (bits > 8)
    return Joiner::error(codes, "is " + describe(codes) + ", which no number of bits from 2 to 8 gives for rows of " +
                                    std::to_string(in));
  if (stated != 0 && stated != bits)
    return Joiner::contradiction(codes, std::to_string(bits) + " bits", config, std::to_string(stated));
  return {};
}

Status place_zero_points(Joiner& joiner, std::string_view module, int64_t out, bool packed, Scales& scales) {
  const TensorView* zeros = joiner.find(module, ".weight_zero_point");
  if (!zeros) return {};
  const Joiner::Shape plain = scales.scales.shape;
  if (!packed || zeros->type_name == "I8") {
    const std::string_view types[] = {"I8"};
    CLEF_RETURN_IF_ERROR(Joiner::check(*zeros, types, std::span(&plain, 1)));
    Joiner::set_offsets(*zeros, scales, &quant::format(quant::Type::i8));
  } else {
    const std::string_view types[] = {"I32"};
    const Joiner::Shape shapes[] = {{(out * scales.layout.bits + 31) / 32, plain.size() == 2 ? plain[1] : 1}};
    CLEF_RETURN_IF_ERROR(Joiner::check(*zeros, types, shapes));
    Joiner::set_offsets(*zeros, scales, nullptr);
  }
  joiner.take(zeros);
  return {};
}

// Everything but the codes.
Status place_integers(Joiner& joiner, const TensorView& codes, std::string_view module, int64_t in, bool packed,
                      Scales& out, std::string& text) {
  CLEF_ASSIGN_OR_RETURN(const TensorView* scales, joiner.need(codes, module, ".weight_scale"));
  CLEF_RETURN_IF_ERROR(Joiner::check(*scales, kFloats, std::span(&scales->shape, 1)));
  const TensorView* order = joiner.find(module, ".weight_g_idx");
  const bool grouped = order && scales->shape.size() == 2 && scales->shape[1] > 1;
  constexpr int64_t kNoBlock[2] = {0, 0};
  CLEF_RETURN_IF_ERROR(place_scales(*scales, codes.shape[0], in, kNoBlock, out.layout, text));
  Joiner::set_scales(*scales, out);
  joiner.take(scales);
  if (grouped) CLEF_RETURN_IF_ERROR(Joiner::read_groups(*order, in, scales->shape[1], out));
  joiner.take(order);
  return place_zero_points(joiner, module, codes.shape[0], packed, out);
}

}  // namespace

Status check_compressed_tensors(const Quantization& config) {
  CLEF_RETURN_IF_ERROR(check_format(config, config.json->find("format")));
  if (const json::Value* groups = config.json->find("config_groups"))
    for (const json::Member& group : groups->members())
      CLEF_RETURN_IF_ERROR(check_format(config, group.value.find("format")));
  if (const json::Value* sparsity = config.json->find("sparsity_config"))
    CLEF_RETURN_IF_ERROR(check_format(config, sparsity->find("format")));
  const json::Value* transforms = config.json->find("transform_config");
  if (const json::Value* inner = transforms ? transforms->find("config_groups") : nullptr;
      inner && !inner->members().empty())
    return bad_file(config.file,
                    "asks for transforms of the activations ('transform_config'), which clef does not compute; use the "
                    "BF16 release or a GGUF file",
                    0, Code::unsupported);
  return {};
}

Status join_packed(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module) {
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  int64_t in = 0, bits = 0;
  CLEF_RETURN_IF_ERROR(packed_size(joiner, config, codes, module, in, bits));
  if (in > INT32_MAX) return Joiner::error(codes, "is " + describe(codes) + ", which is too large");
  Scales scales;
  scales.layout.bits = static_cast<int32_t>(bits);
  std::string text;
  CLEF_RETURN_IF_ERROR(place_integers(joiner, codes, module, in, true, scales, text));
  joiner.take(joiner.find(module, ".weight_shape"));
  joiner.add(codes, std::string(module) + ".weight", quant::Type::packed_int, "INT" + std::to_string(bits) + " " + text,
             codes.shape[0], in, std::move(scales));
  return {};
}

Status join_int8(Joiner& joiner, const TensorView& codes, std::string_view module) {
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  Scales scales;
  scales.layout.bits = 8;
  std::string text;
  CLEF_RETURN_IF_ERROR(place_integers(joiner, codes, module, codes.shape[1], false, scales, text));
  joiner.add(codes, codes.name, quant::Type::scaled_int8, "INT8 " + text, codes.shape[0], codes.shape[1],
             std::move(scales));
  return {};
}

}  // namespace clef::container
