// Rendering of values as Python's json.dumps does it.
#include <algorithm>
#include <functional>
#include <vector>

#include "json/json.hpp"
#include "json/number.hpp"

namespace clef::json {
namespace {

enum class Order { sorted, document };

// A name of an object: where it stands first and where last, since Python keeps the first place and the last value.
struct Entry {
  const Member* first;
  const Member* last;
};

void append_python_number(std::string_view token, std::string& out) {
  if (token.find_first_of(".eE") != std::string_view::npos) {
    append_python_double(parse_double(token), out);
  } else {
    out += token == "-0" ? std::string_view("0") : token;  // JSON's integers are canonical but for this one
  }
}

class Renderer {
 public:
  Renderer(Order order, std::string& out) : order_(order), out_(out) {}

  void run(const Value& root) {
    value(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      if (frame.next == frame.count) {
        out_ += frame.container->is_object() ? '}' : ']';
        entries_.resize(frame.first_entry);
        frames_.pop_back();
        continue;
      }
      if (frame.next != 0) out_ += ',';
      const size_t i = frame.next++;
      if (frame.container->is_object()) {
        const Entry entry = entries_[frame.first_entry + i];
        append_python_string(entry.first->key, out_);
        out_ += ':';
        value(entry.last->value);
      } else {
        value(frame.container->items()[i]);
      }
    }
  }

 private:
  struct Frame {
    const Value* container;
    size_t next;
    size_t count;
    size_t first_entry;  // of an object in entries_
  };

  void value(const Value& v) {
    switch (v.kind()) {
      case Kind::null:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += v.boolean() ? "true" : "false";
        return;
      case Kind::string:
        append_python_string(v.text(), out_);
        return;
      case Kind::number:
        if (order_ == Order::sorted) {
          append_python_number(v.text(), out_);
        } else {
          out_ += v.text();
        }
        return;
      case Kind::array:
        out_ += '[';
        frames_.push_back({&v, 0, v.items().size(), entries_.size()});
        return;
      case Kind::object:
        out_ += '{';
        const size_t first_entry = entries_.size();
        add_entries(v);
        frames_.push_back({&v, 0, entries_.size() - first_entry, first_entry});
        return;
    }
  }

  void add_entries(const Value& object) {
    const size_t first_entry = entries_.size();
    for (const Member& member : object.members()) entries_.push_back({&member, &member});
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_entry);
    // The order of UTF-8 bytes is that of the code points.
    std::sort(begin, entries_.end(), [](const Entry& a, const Entry& b) {
      const int order = a.first->key.compare(b.first->key);
      return order != 0 ? order < 0 : std::less<>()(a.first, b.first);
    });
    auto kept = begin;
    for (auto entry = begin; entry != entries_.end(); ++entry) {
      if (kept != begin && (kept - 1)->first->key == entry->first->key) {
        (kept - 1)->last = entry->last;
      } else {
        *kept++ = *entry;
      }
    }
    entries_.erase(kept, entries_.end());
    if (order_ == Order::document) {
      std::sort(begin, entries_.end(), [](const Entry& a, const Entry& b) { return std::less<>()(a.first, b.first); });
    }
  }

  Order order_;
  std::string& out_;
  std::vector<Frame> frames_;
  std::vector<Entry> entries_;  // of the open objects
};

}  // namespace

void append_python(const Value& value, std::string& out) {
  Renderer(Order::sorted, out).run(value);
}

void append_compact(const Value& value, std::string& out) {
  Renderer(Order::document, out).run(value);
}

void append_python_string(std::string_view utf8, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  size_t plain = 0;  // start of the characters not yet written
  for (size_t i = 0; i < utf8.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(utf8[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out += utf8.substr(plain, i - plain);
    plain = i + 1;
    out += '\\';
    switch (c) {
      case '"':
      case '\\':
        out += static_cast<char>(c);
        break;
      case '\b':
        out += 'b';
        break;
      case '\f':
        out += 'f';
        break;
      case '\n':
        out += 'n';
        break;
      case '\r':
        out += 'r';
        break;
      case '\t':
        out += 't';
        break;
      default:
        out += "u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
  }
  out += utf8.substr(plain);
  out += '"';
}

}  // namespace clef::json
