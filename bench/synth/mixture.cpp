#include "mixture.hpp"

#include <algorithm>
#include <stdexcept>

namespace synth {
namespace {

using clef::quant::Format;
using clef::quant::Type;

// Number of the file type in llama.cpp; a type of tensors on its own has the same rules as none.
struct Mixture {
  const char* name;
  Type base;
  uint32_t file_type;
};
constexpr Mixture kMixtures[] = {{"Q4_K_M", Type::q4_k, 15},
                                 {"Q4_K_S", Type::q4_k, 14},
                                 {"Q5_K_M", Type::q5_k, 17},
                                 {"Q3_K_M", Type::q3_k, 12},
                                 {"Q2_K", Type::q2_k, 10}};

struct FileType {
  Type type;
  uint32_t number;
};
constexpr FileType kFileTypes[] = {{Type::f32, 0},      {Type::f16, 1},     {Type::q4_0, 2},     {Type::q4_1, 3},
                                   {Type::q8_0, 7},     {Type::q5_0, 8},    {Type::q5_1, 9},     {Type::q2_k, 10},
                                   {Type::q3_k, 11},    {Type::q4_k, 14},   {Type::q5_k, 16},    {Type::q6_k, 18},
                                   {Type::iq2_xxs, 19}, {Type::iq2_xs, 20}, {Type::iq3_xxs, 23}, {Type::iq1_s, 24},
                                   {Type::iq4_nl, 25},  {Type::iq3_s, 26},  {Type::iq2_s, 28},   {Type::iq4_xs, 30},
                                   {Type::iq1_m, 31},   {Type::bf16, 32},   {Type::tq1_0, 36},   {Type::tq2_0, 37},
                                   {Type::mxfp4, 38},   {Type::nvfp4, 39}};

// Types that matrices can have.
bool usable(const Format& format) {
  return std::any_of(std::begin(kFileTypes), std::end(kFileTypes),
                     [&](const FileType& each) { return each.type == format.type; });
}

bool ends_with(const std::string& text, const char* end) {
  return std::string_view(text).ends_with(end);
}

// The values of the backbone, of the head too, and ffn_down are counted in the order of the names.
struct Counts {
  int64_t values = 0, value = 0, down = 0, layers = 0;
};

bool more_bits(int64_t i, int64_t n) {
  return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2;
}

bool is_value(const std::string& name) {
  return ends_with(name, "attn_v.weight") || ends_with(name, "attn_qkv.weight");
}

Type choose(const std::string& mixture, Type base, const std::string& tensor, Counts& counts) {
  const bool value = is_value(tensor), down = ends_with(tensor, "ffn_down.weight");
  if (tensor == "output.weight") return Type::q6_k;
  if (mixture == "Q2_K") {
    if (value) return Type::q4_k;
    return down || ends_with(tensor, "attn_output.weight") ? Type::q3_k : base;
  }
  if (mixture == "Q3_K_M") {
    if (value) return counts.value++ < 2 ? Type::q5_k : Type::q4_k;
    if (down) return counts.down++ < counts.layers / 16 ? Type::q5_k : Type::q4_k;
    return ends_with(tensor, "attn_output.weight") ? Type::q4_k : base;
  }
  if (mixture == "Q4_K_S") {
    if (value) return counts.value++ < 4 ? Type::q5_k : base;
    return down && counts.down++ < counts.layers / 8 ? Type::q5_k : base;
  }
  if (value) return more_bits(counts.value++, counts.values) ? Type::q6_k : base;
  return down && more_bits(counts.down++, counts.layers) ? Type::q6_k : base;
}

// Types of short blocks for rows that do not divide.
const Format& fitting(Type type, int64_t columns) {
  const auto fits = [&](Type each) { return columns % clef::quant::format(each).block_values == 0; };
  for (const Type each : {type, Type::q8_0})
    if (fits(each)) return clef::quant::format(each);
  return clef::quant::format(Type::f16);
}

bool stays_f32(const Tensor& tensor) {
  return tensor.shape.size() == 1 || tensor.content != Content::matrix || tensor.name == "token_types.weight";
}

const Mixture* find_mixture(const std::string& name) {
  for (const Mixture& mixture : kMixtures)
    if (name == mixture.name) return &mixture;
  return nullptr;
}

const Format* find_type(const std::string& name) {
  for (const Format* format : clef::quant::formats())
    if (name == format->name && usable(*format)) return format;
  return nullptr;
}

}  // namespace

std::string known_mixtures() {
  std::string all;
  for (const Mixture& mixture : kMixtures) all += std::string(all.empty() ? "" : ", ") + mixture.name;
  for (const Format* format : clef::quant::formats())
    if (usable(*format) && format->type != Type::q2_k) all += std::string(", ") + format->name;
  return all;
}

uint32_t assign_types(const std::string& name, std::span<Tensor> tensors, int64_t layers) {
  const Mixture* mixture = find_mixture(name);
  const Format* single = mixture ? nullptr : find_type(name);
  if (!mixture && !single)
    throw std::runtime_error("there is no mixture '" + name + "'; there are " + known_mixtures());
  Counts counts;
  counts.layers = layers;
  counts.values = std::count_if(tensors.begin(), tensors.end(), [](const Tensor& each) { return is_value(each.name); });
  for (Tensor& tensor : tensors) {
    if (stays_f32(tensor)) {
      tensor.format = &clef::quant::format(Type::f32);
    } else if (tensor.name == "decision.scorer_out.weight") {
      tensor.format = &clef::quant::format(Type::bf16);
    } else {
      const Type type = single ? single->type : choose(name, mixture->base, tensor.name, counts);
      tensor.format = &fitting(type, tensor.columns());
    }
    const auto columns = static_cast<uint64_t>(tensor.columns());
    tensor.bytes = tensor.values() / columns * clef::quant::row_bytes(*tensor.format, columns);
  }
  if (mixture) return mixture->file_type;
  return std::find_if(std::begin(kFileTypes), std::end(kFileTypes),
                      [&](const FileType& each) { return each.type == single->type; })
      ->number;
}

}  // namespace synth
