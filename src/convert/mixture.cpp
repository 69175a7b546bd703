#include "convert/mixture.hpp"
#include "model/message.hpp"

#include <algorithm>
#include <cstring>

namespace clef::convert {

using base::Code;
using base::Status;
using model::quoted;
using quant::Type;

namespace {

// The file types of llama.cpp, with the rules that make some tensors better than the rest.
enum class Mixture : uint8_t {
  one,    // no rules at all: one type for everything
  plain,  // only the output
  q2_k,
  q3_k_m,
  q3_k_l,
  q4_k_s,
  medium,  // Q4_K_M, Q5_K_M
  legacy,  // Q4_0, Q5_0
  iq4,
};

struct FileType {
  const char* name;
  Type type;
  int32_t number;
  Mixture mixture;
};

constexpr FileType kFileTypes[] = {
    {"F32", Type::f32, 0, Mixture::one},         {"F16", Type::f16, 1, Mixture::one},
    {"BF16", Type::bf16, 32, Mixture::one},      {"Q8_0", Type::q8_0, 7, Mixture::plain},
    {"Q6_K", Type::q6_k, 18, Mixture::plain},    {"Q5_K_M", Type::q5_k, 17, Mixture::medium},
    {"Q5_K_S", Type::q5_k, 16, Mixture::plain},  {"Q5_K", Type::q5_k, 16, Mixture::one},
    {"Q5_1", Type::q5_1, 9, Mixture::plain},     {"Q5_0", Type::q5_0, 8, Mixture::legacy},
    {"Q4_K_M", Type::q4_k, 15, Mixture::medium}, {"Q4_K_S", Type::q4_k, 14, Mixture::q4_k_s},
    {"Q4_K", Type::q4_k, 14, Mixture::one},      {"IQ4_NL", Type::iq4_nl, 25, Mixture::iq4},
    {"IQ4_XS", Type::iq4_xs, 30, Mixture::iq4},  {"Q4_1", Type::q4_1, 3, Mixture::plain},
    {"Q4_0", Type::q4_0, 2, Mixture::legacy},    {"Q3_K_L", Type::q3_k, 13, Mixture::q3_k_l},
    {"Q3_K_M", Type::q3_k, 12, Mixture::q3_k_m}, {"Q3_K_S", Type::q3_k, 11, Mixture::plain},
    {"Q3_K", Type::q3_k, 11, Mixture::one},      {"Q2_K", Type::q2_k, 10, Mixture::q2_k},
};

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

base::Result<const FileType*> find_file_type(std::string_view name) {
  std::string known;
  for (const FileType& type : kFileTypes) {
    if (same_name(type.name, name)) return &type;
    known += (known.empty() ? "" : ", ") + std::string(type.name);
  }
  return Status(Code::invalid_value, "there is no type " + quoted(name) + " to write; there are " + known);
}

// A type of one tensor.
base::Result<const quant::Format*> find_type(std::string_view name) {
  std::string known;
  for (const quant::Format* format : quant::formats()) {
    if (format->ggml_id < 0 || format->encode == nullptr) continue;
    if (same_name(format->name, name)) return format;
    known += (known.empty() ? "" : ", ") + std::string(format->name);
  }
  return Status(Code::invalid_value, "there is no type " + quoted(name) + " of a tensor to write; there are " + known);
}

enum class Role : uint8_t { other, output, attention_value, attention_qkv, attention_output, down };

Role role_of(std::string_view name) noexcept {
  const auto has = [&](const char* part) { return name.find(part) != name.npos; };
  if (name == "output.weight") return Role::output;
  if (has("attn_qkv.weight")) return Role::attention_qkv;
  if (has("attn_v.weight")) return Role::attention_value;  // cross_attn_v too
  if (has("attn_output.weight")) return Role::attention_output;
  return has("ffn_down") ? Role::down : Role::other;
}

// The layer of a backbone's tensor, -1 for others.
int64_t layer_of(std::string_view name) noexcept {
  if (!name.starts_with("blk.")) return -1;
  int64_t layer = 0;
  for (size_t i = 4; i < name.size() && name[i] >= '0' && name[i] <= '9' && layer < 1'000'000; ++i)
    layer = layer * 10 + (name[i] - '0');
  return layer;
}

// Decides in the order in which llama.cpp does: names outside layers first, then layer by layer, by name in each.
class Assigner {
 public:
  Assigner(const FileType& type, const model::Config& config, bool importance)
      : type_(type), importance_(importance), layers_(static_cast<int64_t>(config.layers.size())) {
    many_queries_ = config.heads / std::max(config.kv_heads, 1) >= 4;
  }

  void run(std::vector<Tensor*> tensors) {
    std::sort(tensors.begin(), tensors.end(), [](const Tensor* a, const Tensor* b) {
      const int64_t x = layer_of(a->name), y = layer_of(b->name);
      return x != y ? x < y : a->name < b->name;
    });
    values_ = std::count_if(tensors.begin(), tensors.end(), [](const Tensor* tensor) {
      const Role role = role_of(tensor->name);
      return role == Role::attention_value || role == Role::attention_qkv;
    });
    for (Tensor* tensor : tensors) tensor->format = fitting(choose(*tensor), tensor->columns_count());
  }

  // The type itself, or one with smaller blocks where the rows are too short for it.
  static const quant::Format* fitting(Type type, int64_t columns) noexcept {
    const auto fits = [&](Type t) { return columns % quant::format(t).block_values == 0; };
    if (fits(type)) return &quant::format(type);
    Type smaller = type;
    if (type == Type::q2_k || type == Type::q3_k) smaller = Type::q4_0;
    if (type == Type::q4_k) smaller = Type::q5_0;
    if (type == Type::q5_k) smaller = Type::q5_1;
    if (type == Type::q6_k) smaller = Type::q8_0;
    if (type == Type::iq4_xs) smaller = Type::iq4_nl;
    return &quant::format(fits(smaller) ? smaller : Type::f16);
  }

 private:
  static bool more_bits(int64_t i, int64_t n) noexcept { return i < n / 8 || i >= 7 * n / 8 || (i - n / 8) % 3 == 2; }

  Type choose(const Tensor& tensor) noexcept {
    if (type_.mixture == Mixture::one) return type_.type;
    switch (role_of(tensor.name)) {
      case Role::output:
        // Rows too short for the blocks of the type go to Q8_0, not to what replaces Q6_K.
        if (type_.type == Type::q8_0 || tensor.columns_count() % quant::format(type_.type).block_values != 0)
          return Type::q8_0;
        return Type::q6_k;
      case Role::attention_value:
      case Role::attention_qkv:
        return value(next_value_++);
      case Role::attention_output:
        return attention_output();
      case Role::down:
        return down(next_down_++);
      case Role::other:
        break;
    }
    return type_.type;
  }

  Type value(int64_t i) const noexcept {
    switch (type_.mixture) {
      case Mixture::q2_k:
        return many_queries_ ? Type::q4_k : Type::q3_k;
      case Mixture::q3_k_m:
        return i < 2 ? Type::q5_k : Type::q4_k;
      case Mixture::q3_k_l:
        return Type::q5_k;
      case Mixture::q4_k_s:
        return i < 4 ? Type::q5_k : Type::q4_k;
      case Mixture::medium:
        return more_bits(i, values_) ? Type::q6_k : type_.type;
      case Mixture::iq4:
        return many_queries_ ? Type::q5_k : type_.type;
      default:
        return type_.type;
    }
  }

  Type attention_output() const noexcept {
    switch (type_.mixture) {
      case Mixture::q2_k:
        return Type::q3_k;
      case Mixture::q3_k_m:
        return Type::q4_k;
      case Mixture::q3_k_l:
        return Type::q5_k;
      default:
        return type_.type;
    }
  }

  Type down(int64_t i) const noexcept {
    const bool first = i < layers_ / 8;
    switch (type_.mixture) {
      case Mixture::q2_k:
        return Type::q3_k;
      case Mixture::q3_k_m:
        return i < layers_ / 16 ? Type::q5_k : Type::q4_k;
      case Mixture::q3_k_l:
        return Type::q5_k;
      case Mixture::q4_k_s:
        return first ? Type::q5_k : Type::q4_k;
      case Mixture::medium:
        return more_bits(i, layers_) ? Type::q6_k : type_.type;
      case Mixture::legacy:
        if (!first || !importance_) return type_.type;
        return type_.type == Type::q4_0 ? Type::q4_1 : Type::q5_1;
      case Mixture::iq4:
        return first && !importance_ ? Type::q5_k : type_.type;
      default:
        return type_.type;
    }
  }

  const FileType& type_;
  const bool importance_;
  const int64_t layers_;
  bool many_queries_ = false;
  int64_t values_ = 0, next_value_ = 0, next_down_ = 0;
};

// Unlike the other matrices of the head it stays as precise as it is in the release.
constexpr std::string_view kScorerOut = "decision.scorer_out.weight";

Status apply_rule(const TypeRule& rule, std::span<Tensor> tensors) {
  CLEF_ASSIGN_OR_RETURN(const quant::Format* format, find_type(rule.type));
  bool matched = false;
  std::string examples;
  for (Tensor& tensor : tensors) {
    if (!tensor.matrix) continue;
    const std::string_view name = tensor.name;
    const bool first_of_kind = !name.starts_with("blk.") || name.starts_with("blk.0.") || name.starts_with("blk.3.");
    if (first_of_kind && (!tensor.head || name.find(".0.") != name.npos || name.starts_with("decision.")))
      examples += (examples.empty() ? "" : ", ") + tensor.name;
    if (!glob_matches(rule.pattern, name)) continue;
    matched = true;
    if (tensor.columns_count() % format->block_values != 0)
      return Status(Code::invalid_value, "tensor " + quoted(name) + " cannot be " + format->name + ": its rows of " +
                                             std::to_string(tensor.columns_count()) + " values are no multiple of " +
                                             std::to_string(format->block_values))
          .in_tensor(name);
    tensor.format = format;
  }
  if (matched) return {};
  return Status(Code::invalid_value, "the pattern " + quoted(rule.pattern) +
                                         " of a tensor type matches no matrix; there are, in every layer alike, " +
                                         examples);
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view name) noexcept {
  size_t p = 0, n = 0, star = pattern.npos, after_star = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, after_star = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != pattern.npos) {
      p = star + 1, n = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

base::Result<int32_t> file_type(const TypeOptions& options) {
  CLEF_ASSIGN_OR_RETURN(const FileType* type, find_file_type(options.type));
  if (!options.head_type.empty() && options.head_type != "mixture")
    CLEF_RETURN_IF_ERROR(find_type(options.head_type).status());
  for (const TypeRule& rule : options.rules) CLEF_RETURN_IF_ERROR(find_type(rule.type).status());
  return type->number;
}

Status assign_types(const TypeOptions& options, const model::Config& config, bool importance,
                    std::span<Tensor> tensors) {
  CLEF_ASSIGN_OR_RETURN(const FileType* named, find_file_type(options.type));
  FileType type = *named;
  if (options.pure) type.mixture = Mixture::one;
  const bool whole = options.head_type == "mixture";
  const bool sixteen = type.type == Type::f32 || type.type == Type::f16 || type.type == Type::bf16;
  const quant::Format* head = &quant::format(sixteen ? type.type : Type::q8_0);
  if (!whole && !options.head_type.empty()) {
    CLEF_ASSIGN_OR_RETURN(head, find_type(options.head_type));
  }
  std::vector<Tensor*> mixed;
  for (Tensor& tensor : tensors) {
    tensor.format = &quant::format(Type::f32);
    if (tensor.name == kScorerOut) {
      tensor.format = &quant::format(sixteen ? type.type : Type::bf16);
    } else if (!tensor.matrix) {
      continue;
    } else if (tensor.head && !whole) {
      tensor.format = Assigner::fitting(head->type, tensor.columns_count());
    } else {
      mixed.push_back(&tensor);
    }
  }
  Assigner(type, config, importance).run(std::move(mixed));
  for (const TypeRule& rule : options.rules) CLEF_RETURN_IF_ERROR(apply_rule(rule, tensors));
  return {};
}

}  // namespace clef::convert
