#include <algorithm>
#include <initializer_list>

#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Status;

Status fault(Code code, std::string_view at, std::string message) {
  return Status(code, std::move(message)).at(at);
}

std::string place(std::string_view pointer, std::string_view token) {
  std::string out(pointer);
  json::append_pointer(out, token);
  return out;
}

std::string quoted(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  const bool shortened = text.size() > kMaxShown;
  if (shortened) {
    size_t end = kMaxShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  std::string out;
  json::append_python_string(text, out);
  if (shortened) out += "...";
  return out;
}

std::string_view kind_name(json::Kind kind) noexcept {
  switch (kind) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return "a boolean";
    case json::Kind::number:
      return "a number";
    case json::Kind::string:
      return "a string";
    case json::Kind::array:
      return "an array";
    case json::Kind::object:
      return "an object";
  }
  return "a value";
}

Status wrong_type(std::string_view at, std::string_view what, std::string_view allowed, const json::Value& value) {
  std::string message(what);
  message.append(" must be ").append(allowed).append(", not ").append(kind_name(value.kind()));
  return fault(Code::wrong_type, at, std::move(message));
}

namespace {

// The first `count` reference tokens of a pointer; all of it when there are fewer.
std::string_view first_tokens(std::string_view pointer, size_t count) {
  size_t end = 0;
  for (; count > 0 && end < pointer.size(); --count) end = std::min(pointer.find('/', end + 1), pointer.size());
  return pointer.substr(0, end);
}

// The token after `prefix` (which is a prefix of whole tokens); empty when there is none.
std::string_view token_after(std::string_view pointer, std::string_view prefix) {
  if (pointer.size() <= prefix.size()) return {};
  const size_t begin = prefix.size() + 1;
  const size_t end = std::min(pointer.find('/', begin), pointer.size());
  return pointer.substr(begin, end - begin);
}

struct Field {
  std::string_view at;
  bool free = false;  // a value in which every JSON is allowed
};

// An image of `count` tokens, or one of its members.
std::string_view image_field(std::string_view pointer, size_t count) {
  const std::string_view image = first_tokens(pointer, count), member = token_after(pointer, image);
  return member == "base64" || member == "content_type" ? first_tokens(pointer, count + 1) : image;
}

Field contract_field(std::string_view pointer) {
  const std::string_view root = token_after(pointer, "");
  if (root == "state") return {first_tokens(pointer, 1), true};
  if (root == "model" || root == "truncation") return {first_tokens(pointer, 1), false};
  if (root == "images") return {image_field(pointer, 2), false};
  if (root == "videos") {
    const std::string_view video = first_tokens(pointer, 2);
    const std::string_view member = token_after(pointer, video);
    if (member == "frames") return {image_field(pointer, 4), false};
    return {member == "fps" || member == "sample" ? first_tokens(pointer, 3) : video, false};
  }
  if (root != "questions") return {"", false};
  const std::string_view question = first_tokens(pointer, 2);
  const std::string_view member = token_after(pointer, question);
  if (member == "instructions") return {first_tokens(pointer, 3), true};
  if (member == "type") return {first_tokens(pointer, 3), false};
  if (member == "criteria") {
    const std::string_view criterion = first_tokens(pointer, 4);
    return {criterion, criterion.size() > first_tokens(pointer, 3).size()};
  }
  return {question, false};
}

}  // namespace

Status at_contract_field(Status error) {
  if (error.ok()) return error;
  base::ErrorDetail& detail = error.detail();
  const Field field = contract_field(detail.at);
  // Copied before the assignment: it is a view into detail.at.
  const std::string at(detail.code == Code::invalid_json && !field.free ? std::string_view() : field.at);
  detail.at = at;
  detail.has_at = true;
  return error;
}

Status refuse_duplicates(const json::Value& object, std::string_view pointer) {
  const std::span<const json::Member> members = object.members();
  if (members.size() < 2) return {};
  std::vector<size_t> order(members.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int compared = members[a].key.compare(members[b].key);
    return compared != 0 ? compared < 0 : a < b;
  });
  size_t first = members.size();
  for (size_t i = 1; i < order.size(); ++i)
    if (members[order[i]].key == members[order[i - 1]].key) first = std::min(first, order[i]);
  if (first == members.size()) return {};
  const std::string_view key = members[first].key;
  return fault(Code::duplicate_key, place(pointer, key), "the name " + quoted(key) + " is given twice in one object");
}

Status refuse_unknown(const json::Value& object, std::string_view pointer,
                      std::initializer_list<std::string_view> known) {
  for (const json::Member& member : object.members()) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    std::string message = "the field " + quoted(member.key) + " is not known here; allowed are ";
    size_t i = 0;
    for (const std::string_view name : known) message.append(i++ == 0 ? "" : ", ").append(name);
    return fault(Code::unknown_field, place(pointer, member.key), std::move(message));
  }
  return {};
}

}  // namespace clef::schema
