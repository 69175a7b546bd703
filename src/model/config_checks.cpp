#include "model/config_checks.hpp"

#include "model/message.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

Status must_divide(std::string_view file, std::string_view divisor_name, int64_t divisor, std::string_view name,
                   int64_t value) {
  if (divisor > 0 && value % divisor == 0) return {};
  return file_error(Code::bad_file, file,
                    std::string(name) + " is " + std::to_string(value) + ", which is not a multiple of " +
                        std::string(divisor_name) + ", " + std::to_string(divisor));
}

}  // namespace

Status check_relations(const Config& config, std::string_view file, const FieldNames& names) {
  CLEF_RETURN_IF_ERROR(must_divide(file, names.kv_heads, config.kv_heads, names.heads, config.heads));
  CLEF_RETURN_IF_ERROR(must_divide(file, names.key_heads, config.key_heads, names.value_heads, config.value_heads));
  if (config.rotary_dims < 2 || config.rotary_dims % 2 != 0 || config.rotary_dims > config.head_dim)
    return file_error(Code::bad_file, file,
                      std::string(names.rotary) + " rotates " + std::to_string(config.rotary_dims) +
                          " values of a head of " + std::to_string(config.head_dim) +
                          "; it must be an even part of it");
  int64_t pairs = 0;
  for (const int32_t section : config.rope_sections) pairs += section;
  if (pairs != config.rotary_dims / 2)
    return file_error(Code::bad_file, file,
                      std::string(names.sections) + " adds up to " + std::to_string(pairs) + ", but " +
                          std::to_string(config.rotary_dims / 2) + " pairs of values are rotated");
  return {};
}

Status check_head(const HeadConfig& head, std::string_view file, std::string_view width_name,
                  std::string_view heads_name, std::string_view hidden_name, int64_t head_hidden, int64_t hidden) {
  if (head_hidden != hidden)
    return file_error(Code::bad_file, file,
                      std::string(hidden_name) + " is " + std::to_string(head_hidden) +
                          ", but the backbone's hidden rows have " + std::to_string(hidden) +
                          " values; the decision head belongs to another model");
  return must_divide(file, heads_name, head.heads, width_name, head.width);
}

}  // namespace clef::model
