// Reading the JSON files that describe a model: fields with their types and ranges, and messages that name file and field.
// Inside src/model only.
#pragma once
#include <string>
#include <string_view>

#include "json/json.hpp"
#include "model/message.hpp"

namespace clef::model {

// A value as a message shows it.
inline std::string shown(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return value.boolean() ? "true" : "false";
    case json::Kind::number:
      return std::string(value.text().substr(0, 40));
    case json::Kind::string:
      return quoted(value.text());
    case json::Kind::array:
      return "an array";
    case json::Kind::object:
      return "an object";
  }
  return "unknown";
}

// An object of a file; fields that are null count as absent, as in the reference.
class Section {
 public:
  Section(const json::Value* object, std::string_view file, std::string path)
      : object_(object), file_(file), path_(std::move(path)) {}

  const json::Value* find(std::string_view key) const noexcept {
    const json::Value* value = object_ ? object_->find(key) : nullptr;
    return value && !value->is_null() ? value : nullptr;
  }
  Section inner(std::string_view key) const {
    const json::Value* value = find(key);
    return Section(value && value->is_object() ? value : nullptr, file_, path_ + std::string(key) + ".");
  }
  std::string name(std::string_view key) const { return path_ + std::string(key); }
  base::Status error(base::Code code, std::string_view key, std::string_view what) const {
    return file_error(code, file_, name(key) + " " + std::string(what));
  }
  base::Status missing(std::string_view key) const { return error(base::Code::bad_file, key, "is missing"); }
  base::Status unsupported(std::string_view key, std::string_view supported) const {
    return error(base::Code::unsupported, key,
                 "is " + shown(*find(key)) + "; clef computes only " + std::string(supported));
  }

  template <class Integer>
  base::Status integer(std::string_view key, int64_t low, int64_t high, Integer& out) const {
    const json::Value* value = find(key);
    if (!value) return missing(key);
    int64_t number = 0;
    if (!value->to_int64(number) || number < low || number > high)
      return error(base::Code::bad_file, key,
                   "is " + shown(*value) + "; it must be an integer from " + std::to_string(low) + " to " +
                       std::to_string(high));
    out = static_cast<Integer>(number);
    return {};
  }
  base::Status real(std::string_view key, double low, double high, double& out) const {
    const json::Value* value = find(key);
    if (!value) return missing(key);
    if (!value->to_double(out) || !(out >= low && out <= high))
      return error(base::Code::bad_file, key, "is " + shown(*value) + ", which is no usable number");
    return {};
  }
  // A boolean that may be absent.
  base::Status flag(std::string_view key, bool& out) const {
    const json::Value* value = find(key);
    if (!value) return {};
    if (value->kind() != json::Kind::boolean)
      return error(base::Code::bad_file, key, "is " + shown(*value) + "; it must be true or false");
    out = value->boolean();
    return {};
  }

 private:
  const json::Value* object_;
  std::string_view file_;
  std::string path_;
};

}  // namespace clef::model
