#include <simdjson.h>

#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "json/arena.hpp"
#include "json/json.hpp"
#include "json/locator.hpp"
#include "json/number.hpp"

namespace clef::json {

namespace ondemand = simdjson::ondemand;

struct Document::Storage {
  std::unique_ptr<char[]> text;  // strings without escapes and numbers are views of it
  Arena arena;                   // elements, members and decoded strings
};

Document::Document() noexcept = default;
Document::Document(Document&& other) noexcept
    : storage_(std::move(other.storage_)), root_(std::exchange(other.root_, Value())) {}
Document& Document::operator=(Document&& other) noexcept {
  storage_ = std::move(other.storage_);
  root_ = std::exchange(other.root_, Value());
  return *this;
}
Document::~Document() = default;

namespace {

// One array or object that is being read. Both kinds of iterators are plain values of three words.
struct Frame {
  bool is_object = false;
  ondemand::array_iterator item, item_end;
  ondemand::object_iterator field, field_end;
  size_t first = 0;      // of its elements or members in the walker's stacks
  std::string_view key;  // of the current member

  bool at_end() { return is_object ? !(field != field_end) : !(item != item_end); }
  void advance() {
    if (is_object) {
      ++field;
    } else {
      ++item;
    }
  }
};

std::string_view raw_token(ondemand::value& value) {
  return value.raw_json_token();
}
std::string_view raw_token(ondemand::document& document) {
  return document.raw_json_token().value_unsafe();
}

// Visits every value, since On-Demand validates only what is read. Two things it does not look at are checked here:
// the raw number tokens and, for a text that is one scalar, what follows it. Any doubt ends the walk with false; the
// locator then names the error.
class Walker {
 public:
  Walker(ondemand::parser& parser, std::string_view text, const ParseOptions& options, Arena& arena)
      : parser_(parser), text_end_(text.data() + text.size()), options_(options), arena_(arena) {}

  bool run(ondemand::document& document, Value& root) {
    if (!take(document)) return false;
    if (frames_.empty()) {
      root = root_;
      const std::string_view token = raw_token(document);
      return token.data() + token.size() == text_end_;  // On-Demand's tokens reach to the next one
    }
    while (!frames_.empty()) {
      if (frames_.back().at_end()) {
        deliver(close());
      } else if (!next()) {
        return false;
      }
    }
    root = root_;
    return document.current_location().error() == simdjson::OUT_OF_BOUNDS;  // nothing follows
  }

 private:
  bool next() {
    Frame& frame = frames_.back();
    ondemand::value value;
    if (frame.is_object) {
      ondemand::field field;
      if ((*frame.field).get(field) || !string(field.key(), frame.key)) return false;
      value = std::move(field).value();
    } else if ((*frame.item).get(value)) {
      return false;
    }
    return take(value);
  }

  // Reads a scalar, or enters an array or object.
  template <class Source>
  bool take(Source& source) {
    std::string_view token = raw_token(source);
    switch (token.empty() ? '\0' : token[0]) {
      case '{': {
        ondemand::object object;
        if (frames_.size() >= options_.max_depth || source.get_object().get(object)) return false;
        Frame& frame = frames_.emplace_back();
        frame.is_object = true;
        frame.first = members_.size();
        return !object.begin().get(frame.field) && !object.end().get(frame.field_end);
      }
      case '[': {
        ondemand::array array;
        if (frames_.size() >= options_.max_depth || source.get_array().get(array)) return false;
        Frame& frame = frames_.emplace_back();
        frame.first = values_.size();
        return !array.begin().get(frame.item) && !array.end().get(frame.item_end);
      }
      case '"': {
        ondemand::raw_json_string raw;
        std::string_view decoded;
        if (source.get_raw_json_string().get(raw) || !string(raw, decoded)) return false;
        deliver(Value(Kind::string, decoded.data(), decoded.size()));
        return true;
      }
      default:
        break;
    }
    while (!token.empty() && std::string_view(" \t\n\r").find(token.back()) != std::string_view::npos) {
      token.remove_suffix(1);
    }
    if (token == "null") {
      deliver(Value());
    } else if (token == "true" || token == "false") {
      deliver(Value(Kind::boolean, nullptr, token == "true" ? 1 : 0));
    } else {
      const NumberScan scan = scan_number(token);
      if (scan.error != std::string_view::npos) return false;
      if (scan.is_integer && scan.integer_digits > options_.max_integer_digits) return false;
      deliver(Value(Kind::number, token.data(), token.size()));
    }
    return true;
  }

  void deliver(Value value) {
    if (frames_.empty()) {
      root_ = value;
      return;
    }
    Frame& frame = frames_.back();
    if (frame.is_object) {
      members_.push_back({frame.key, value});
    } else {
      values_.push_back(value);
    }
    frame.advance();  // an error shows when the iterator is read
  }

  // The finished array or object of the last frame.
  Value close() {
    const Frame frame = frames_.back();
    frames_.pop_back();
    if (frame.is_object) {
      const size_t count = members_.size() - frame.first;
      const Value value(Kind::object, arena_.copy(members_.data() + frame.first, count), count);
      members_.resize(frame.first);
      return value;
    }
    const size_t count = values_.size() - frame.first;
    const Value value(Kind::array, arena_.copy(values_.data() + frame.first, count), count);
    values_.resize(frame.first);
    return value;
  }

  // `raw` points behind the opening quote.
  bool string(ondemand::raw_json_string raw, std::string_view& decoded) {
    const char* begin = raw.raw();
    const char* end = static_cast<const char*>(std::memchr(begin, '"', static_cast<size_t>(text_end_ - begin)));
    if (end == nullptr) return false;
    if (std::memchr(begin, '\\', static_cast<size_t>(end - begin)) == nullptr) {
      decoded = {begin, static_cast<size_t>(end - begin)};
      return true;
    }
    end = begin;
    while (end < text_end_ && *end != '"') end += *end == '\\' ? 2 : 1;
    if (end >= text_end_) return false;
    char* room = arena_.reserve(static_cast<size_t>(end - begin) + simdjson::SIMDJSON_PADDING);
    uint8_t* used = reinterpret_cast<uint8_t*>(room);
    if (parser_.unescape(raw, used).get(decoded)) return false;
    arena_.commit(reinterpret_cast<char*>(used));
    return true;
  }

  ondemand::parser& parser_;
  const char* text_end_;
  const ParseOptions& options_;
  Arena& arena_;
  std::vector<Frame> frames_;
  std::vector<Value> values_;    // elements of the open arrays
  std::vector<Member> members_;  // members of the open objects
  Value root_;
};

base::Status too_long(std::string message) {
  return base::Status(base::Code::too_long, std::move(message)).at("");
}

}  // namespace

base::Result<Document> parse(std::string_view text, const ParseOptions& options) {
  constexpr size_t kLargestText = simdjson::SIMDJSON_MAXSIZE_BYTES - simdjson::SIMDJSON_PADDING;
  const size_t limit = std::min(options.max_bytes, kLargestText);
  if (text.size() > limit) {
    return too_long("The JSON text has " + std::to_string(text.size()) + " bytes; at most " + std::to_string(limit) +
                    " are allowed");
  }
  Document document;
  if (!text.empty()) {
    document.storage_ = std::make_unique<Document::Storage>();
    Document::Storage& storage = *document.storage_;
    const size_t capacity = text.size() + simdjson::SIMDJSON_PADDING;
    storage.text.reset(new char[capacity]);
    std::memcpy(storage.text.get(), text.data(), text.size());
    std::memset(storage.text.get() + text.size(), 0, simdjson::SIMDJSON_PADDING);

    // simdjson keeps a few words for each level in debug builds; a text cannot be deeper than it is long.
    const size_t depth = std::min<size_t>(options.max_depth, text.size()) + 2;
    ondemand::parser parser;
    ondemand::document source;
    simdjson::error_code error = parser.allocate(text.size(), depth);
    if (!error) error = parser.iterate(storage.text.get(), text.size(), capacity).get(source);
    if (error == simdjson::MEMALLOC)
      throw std::bad_alloc();  // as everywhere else, so that no caller takes it for bad JSON
    if (!error &&
        Walker(parser, {storage.text.get(), text.size()}, options, storage.arena).run(source, document.root_)) {
      return document;
    }
  }
  base::Status status = locate_error(text, options);
  if (!status.ok()) return status;
  // Both readers follow the same grammar, so this is not reached.
  return base::Status(base::Code::invalid_json, "The text is not JSON").at("");
}

}  // namespace clef::json
