// AWQ and GPTQ: X.qweight, X.qzeros, X.scales, for GPTQ also X.g_idx. The two lay their codes out differently, which the
// shapes show.
#include <algorithm>

#include "container/joiner.hpp"

namespace clef::container {

using base::Code;
using base::Status;

namespace {

constexpr std::string_view kPacked[] = {"I32", "U32"};

Status unsupported(const Quantization& config, std::string_view what) {
  return bad_file(config.file, std::string(what) + ", which clef does not read; use the BF16 release or a GGUF file", 0,
                  Code::unsupported);
}

bool same_word(std::string_view text, std::string_view lower) noexcept {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// What the configuration says must be what the tensors say.
Status compare(const Quantization& config, const TensorView& codes, int64_t bits, int64_t group, int64_t in) {
  int64_t stated = 0;
  if (config.number("bits", stated) && stated != bits)
    return Joiner::contradiction(codes, std::to_string(bits) + " bits", config, std::to_string(stated));
  if (config.number("group_size", stated) && (stated > 0 ? std::min(stated, in) : in) != group)
    return Joiner::contradiction(codes, "groups of " + std::to_string(group), config, std::to_string(stated));
  return {};
}

Status join_awq(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module,
                const TensorView& scales) {
  const int64_t in = codes.shape[0], words = codes.shape[1], groups = scales.shape[0];
  if (config.method == Quantization::Method::gptq) return Joiner::contradiction(codes, "AWQ", config, "'gptq'");
  if (in % groups != 0 || words > INT32_MAX / 8)
    return Joiner::error(codes, "is " + describe(codes) + ", which the " + std::to_string(groups) +
                                    " groups of its scales do not divide");
  CLEF_RETURN_IF_ERROR(compare(config, codes, 4, in / groups, in));
  Scales out;
  out.layout.bits = 4;
  out.layout.group = in / groups;
  Joiner::set_scales(scales, out);
  const TensorView* zeros = joiner.find(module, ".qzeros");
  const json::Value* asymmetric = config.json ? config.json->find("zero_point") : nullptr;
  const bool symmetric = asymmetric && asymmetric->kind() == json::Kind::boolean && !asymmetric->boolean();
  if (!zeros && !symmetric) return joiner.need(codes, module, ".qzeros").status();
  if (zeros) {
    const Joiner::Shape shapes[] = {{groups, words}};
    CLEF_RETURN_IF_ERROR(Joiner::check(*zeros, kPacked, shapes));
    Joiner::set_offsets(*zeros, out, nullptr);
  }
  joiner.take(&scales);
  joiner.take(zeros);
  joiner.add(codes, std::string(module) + ".weight", quant::Type::awq, "AWQ 4-bit " + group_text(in / groups),
             words * 8, in, std::move(out));
  return {};
}

Status join_gptq(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module,
                 const TensorView& scales) {
  const int64_t rows = codes.shape[1], groups = scales.shape[0];
  if (config.method == Quantization::Method::awq) return Joiner::contradiction(codes, "GPTQ", config, "'awq'");
  CLEF_ASSIGN_OR_RETURN(const TensorView* zeros, joiner.need(codes, module, ".qzeros"));
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(*zeros));
  const int64_t bits = zeros->shape[1] * 32 / rows;
  const Joiner::Shape shapes[] = {{groups, (rows * bits + 31) / 32}};
  CLEF_RETURN_IF_ERROR(Joiner::check(*zeros, kPacked, shapes));
  if (bits < 2 || bits > 8 || codes.shape[0] * 32 % bits != 0)
    return Joiner::error(codes, "is " + describe(codes) + " with the zero points " + describe(*zeros) +
                                    ", which no number of bits from 2 to 8 gives");
  const int64_t in = codes.shape[0] * 32 / bits;
  int64_t group = 0;
  if (!config.number("group_size", group) || group > in) group = (in + groups - 1) / groups;
  if (group <= 0) group = in;
  if (in > INT32_MAX || (in + group - 1) / group != groups)
    return Joiner::error(codes, "is " + describe(codes) + ", which does not fit the " + std::to_string(groups) +
                                    " groups of its scales");
  CLEF_RETURN_IF_ERROR(compare(config, codes, bits, group, in));
  Scales out;
  out.layout.bits = static_cast<int32_t>(bits);
  out.layout.group = group;
  // The first version stores zero points minus one.
  out.layout.offset_shift = config.text("checkpoint_format") == "gptq_v2" ? 0 : 1;
  Joiner::set_scales(scales, out);
  Joiner::set_offsets(*zeros, out, nullptr);
  const TensorView* order = joiner.find(module, ".g_idx");
  if (order) CLEF_RETURN_IF_ERROR(Joiner::read_groups(*order, in, groups, out));
  joiner.take(&scales);
  joiner.take(zeros);
  joiner.take(order);
  joiner.add(codes, std::string(module) + ".weight", quant::Type::gptq,
             "GPTQ " + std::to_string(bits) + "-bit " + group_text(group), rows, in, std::move(out));
  return {};
}

}  // namespace

Status check_awq_gptq(const Quantization& config) {
  const bool awq = config.method == Quantization::Method::awq;
  const std::string_view version = config.text(awq ? "version" : "checkpoint_format");
  if (awq && !version.empty() && !same_word(version, "gemm"))
    return unsupported(config, "says that the weights are AWQ of the version " + quoted(version));
  if (!awq && !version.empty() && version != "gptq" && version != "gptq_v2")
    return unsupported(config, "says that the weights are GPTQ of the format " + quoted(version));
  return {};
}

Status join_awq_gptq(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module) {
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(codes));
  CLEF_RETURN_IF_ERROR(Joiner::check(codes, kPacked, std::span(&codes.shape, 1)));
  CLEF_ASSIGN_OR_RETURN(const TensorView* scales, joiner.need(codes, module, ".scales"));
  CLEF_RETURN_IF_ERROR(Joiner::check_matrix(*scales));
  CLEF_RETURN_IF_ERROR(Joiner::check(*scales, kFloats, std::span(&scales->shape, 1)));
  if (scales->shape[1] == codes.shape[1] * 8) return join_awq(joiner, config, codes, module, *scales);
  if (scales->shape[1] == codes.shape[1]) return join_gptq(joiner, config, codes, module, *scales);
  return Joiner::error(
      codes, "is " + describe(codes) + " with the scales " + describe(*scales) + ", which is neither AWQ nor GPTQ");
}

}  // namespace clef::container
