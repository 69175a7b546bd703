// Split GGUF files: their names and their merging.
#include <algorithm>

#include "container/gguf.hpp"
#include "container/sizes.hpp"

namespace clef::container {
namespace {

using base::Code;
using base::Status;

constexpr size_t kDigits = 5;

bool read_number(std::string_view digits, uint32_t& out) noexcept {
  out = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + static_cast<uint32_t>(c - '0');
  }
  return true;
}

std::string five_digits(uint32_t number) {
  std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits;
}

std::string file_of(const Gguf& part) {
  return part.files.empty() ? std::string("unnamed") : part.files.front();
}

Status split_key(const Gguf& part, std::string_view key, int64_t& out) {
  if (part.get_int(key, out) && out >= 0) return {};
  const std::string file = file_of(part);
  return Status(Code::bad_file, file + ": has no usable key " + quoted(key) + "; it is not a part of a split file")
      .in_file(file);
}

// Puts the parts in order and checks that they are all there, each once.
Status order_parts(std::vector<Gguf>& parts) {
  std::vector<std::pair<int64_t, size_t>> numbers;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t number = 0;
    int64_t count = 0;
    CLEF_RETURN_IF_ERROR(split_key(parts[i], "split.no", number));
    CLEF_RETURN_IF_ERROR(split_key(parts[i], "split.count", count));
    const std::string file = file_of(parts[i]);
    if (number >= count)
      return Status(Code::bad_file,
                    file + ": says that it is part " + std::to_string(number + 1) + " of " + std::to_string(count))
          .in_file(file);
    if (count != static_cast<int64_t>(parts.size()))
      return Status(Code::missing_part, file + ": is a part of a file in " + std::to_string(count) + " parts, but " +
                                            std::to_string(parts.size()) + " were given; give all of them")
          .in_file(file);
    numbers.emplace_back(number, i);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<Gguf> ordered;
  ordered.reserve(parts.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    Gguf& part = parts[numbers[i].second];
    // As many parts as numbers, so the first number that is not its place is there twice and another one is missing.
    if (numbers[i].first != static_cast<int64_t>(i)) {
      const std::string file = file_of(part);
      return Status(Code::missing_part, file + ": part " + std::to_string(i + 1) + " of " +
                                            std::to_string(parts.size()) + " is missing, another one was given twice")
          .in_file(file);
    }
    ordered.push_back(std::move(part));
  }
  parts = std::move(ordered);
  return {};
}

Status check_names(const Gguf& merged) {
  std::vector<const TensorView*> order;
  order.reserve(merged.tensors.size());
  for (const TensorView& tensor : merged.tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const TensorView* a, const TensorView* b) { return a->name < b->name; });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i - 1]->name == order[i]->name)
      return bad_tensor(order[i]->source->name(), order[i]->name,
                        "is there twice, in " + order[i - 1]->source->name() + " too", order[i]->offset);
  return {};
}

}  // namespace

base::Result<Gguf> merge_gguf(std::vector<Gguf> parts) {
  if (parts.empty()) return Status(Code::missing_part, "no part of a GGUF file was given");
  if (parts.size() == 1 && parts[0].find("split.count") == nullptr) return std::move(parts[0]);
  CLEF_RETURN_IF_ERROR(order_parts(parts));
  int64_t tensors = 0;
  CLEF_RETURN_IF_ERROR(split_key(parts[0], "split.tensors.count", tensors));
  Gguf merged = std::move(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    std::move(parts[i].tensors.begin(), parts[i].tensors.end(), std::back_inserter(merged.tensors));
    std::move(parts[i].files.begin(), parts[i].files.end(), std::back_inserter(merged.files));
  }
  const std::string file = file_of(merged);
  if (static_cast<uint64_t>(tensors) != merged.tensors.size())
    return Status(Code::bad_file, file + ": the parts hold " + std::to_string(merged.tensors.size()) +
                                      " tensors, but 'split.tensors.count' says " + std::to_string(tensors))
        .in_file(file);
  CLEF_RETURN_IF_ERROR(check_names(merged));
  return merged;
}

std::vector<std::string> split_names(std::string_view file_name) {
  // "-NNNNN-of-NNNNN.gguf"
  constexpr std::string_view kEnd = ".gguf";
  constexpr std::string_view kOf = "-of-";
  constexpr size_t kTail = 1 + kDigits + kOf.size() + kDigits + kEnd.size();
  if (file_name.size() <= kTail) return {};
  const std::string_view stem = file_name.substr(0, file_name.size() - kTail);
  const std::string_view tail = file_name.substr(stem.size());
  uint32_t number = 0;
  uint32_t count = 0;
  if (tail[0] != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf || !tail.ends_with(kEnd) ||
      !read_number(tail.substr(1, kDigits), number) ||
      !read_number(tail.substr(1 + kDigits + kOf.size(), kDigits), count))
    return {};
  if (number == 0 || number > count) return {};
  std::vector<std::string> names;
  names.reserve(count);
  for (uint32_t i = 1; i <= count; ++i) {
    std::string name(stem);
    name += '-';
    name += five_digits(i);
    name += kOf;
    name += five_digits(count);
    name += kEnd;
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace clef::container
