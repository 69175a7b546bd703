// What both readers of a configuration check in the same way. Inside src/model only.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/status.hpp"
#include "model/config.hpp"

namespace clef::model {

// Bounds far above any real model and low enough that no product of two of them overflows 64 bits.
inline constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
inline constexpr int64_t kMaxWidth = int64_t{1} << 20;
inline constexpr int64_t kMaxLayers = 4096;
inline constexpr int64_t kMaxHeads = 4096;
inline constexpr int64_t kMaxHeadDim = 4096;
inline constexpr int64_t kMaxConvWidth = 16;
inline constexpr int64_t kMaxHeadLayers = 256;
inline constexpr int64_t kMaxPositions = INT32_MAX;  // positions are 32-bit
inline constexpr int32_t kDefaultSections[3] = {11, 11, 10};

// How the checked fields are called in the file, for messages.
struct FieldNames {
  std::string_view heads, kv_heads, key_heads, value_heads, rotary, sections;
};

// Relations between fields: what must divide what, rotary sizes.
base::Status check_relations(const Config& config, std::string_view file, const FieldNames& names);
// The head's width divides among its heads, and it reads the backbone's rows. `hidden_name` and `width_name` are what
// the file calls the two.
base::Status check_head(const HeadConfig& head, std::string_view file, std::string_view width_name,
                        std::string_view heads_name, std::string_view hidden_name, int64_t head_hidden, int64_t hidden);

}  // namespace clef::model
