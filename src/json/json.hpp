// JSON reading (simdjson) and writing (Python's rules). The only folder that sees simdjson.
//
// A parsed text becomes a Document: an immutable tree of Values in one arena, in document order, with duplicate keys
// kept and numbers as the raw text of their token (so integers of any size and 1e400 survive).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace clef::json {

enum class Kind : uint8_t { null, boolean, number, string, array, object };

struct Member;

// Views stay valid as long as the Document lives.
class Value {
 public:
  Kind kind() const noexcept { return kind_; }
  bool is_object() const noexcept { return kind_ == Kind::object; }
  bool is_array() const noexcept { return kind_ == Kind::array; }
  bool is_string() const noexcept { return kind_ == Kind::string; }
  bool is_number() const noexcept { return kind_ == Kind::number; }
  bool is_null() const noexcept { return kind_ == Kind::null; }
  bool boolean() const noexcept { return size_ != 0; }
  // Decoded UTF-8 of a string, or the raw token of a number ("1e400", "-0", "123456789012345678901").
  std::string_view text() const noexcept { return {static_cast<const char*>(data_), size_}; }
  // Elements of an array (empty otherwise).
  std::span<const Value> items() const noexcept;
  // Members of an object in document order, duplicates included (empty otherwise).
  std::span<const Member> members() const noexcept;
  // The last member of that name (Python's rule), or nullptr; also nullptr when this is not an object.
  const Value* find(std::string_view key) const noexcept;

  // Numbers: false when this is not a number of that kind or out of its range.
  bool to_int64(int64_t& out) const noexcept;
  bool to_double(double& out) const noexcept;  // 1e400 gives infinity

  // For builders inside src/json.
  Value() noexcept = default;
  Value(Kind kind, const void* data, size_t size) noexcept
      : kind_(kind), size_(static_cast<uint32_t>(size)), data_(data) {}

 private:
  Kind kind_ = Kind::null;
  uint32_t size_ = 0;           // bytes, elements or members; 0/1 for a boolean. The parser takes texts below 4 GiB
  const void* data_ = nullptr;  // characters, Value[] or Member[]
};

struct Member {
  std::string_view key;
  Value value;
};

class Document {
 public:
  struct Storage;
  Document() noexcept;
  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();
  const Value& root() const noexcept { return root_; }

 private:
  friend base::Result<Document> parse(std::string_view, const struct ParseOptions&);
  std::unique_ptr<Storage> storage_;
  Value root_;
};

struct ParseOptions {
  uint32_t max_depth = 256;            // nested arrays and objects
  uint32_t max_integer_digits = 4300;  // as Python refuses longer ones
  size_t max_bytes = SIZE_MAX;         // texts of 4 GiB or more are refused in any case
};

// Parses one JSON text: UTF-8 without BOM, every value walked, nothing after it. Safe on hostile input: bounded depth,
// no recursion on input depth beyond max_depth, memory at most a small multiple of the text.
// Errors: invalid_json, invalid_unicode (bad UTF-8, lone surrogate), too_deep, out_of_range (integer too long),
// too_long. detail().at is the JSON Pointer of the innermost value in which the text breaks (found by a small locator
// where simdjson cannot name it) and detail().offset the byte offset.
base::Result<Document> parse(std::string_view text, const ParseOptions& options = {});

// ---- writing ----

// Appends what Python's json.dumps(v, ensure_ascii=False, separators=(",",":"), sort_keys=True) gives: sorted keys by
// code point with the last of duplicates, shortest round-trip doubles with Python's spelling, canonical integers of any
// size.
void append_python(const Value& value, std::string& out);
// A string with quotes, escaped as Python does with ensure_ascii=False.
void append_python_string(std::string_view utf8, std::string& out);
// repr() of a finite or infinite double as json.dumps spells it ("1e-05", "1.0", "Infinity").
void append_python_double(double value, std::string& out);
// round(value, 4) as json.dumps spells it: "0.0312", "1.0", "0.0". Locale-free.
void append_rounded4(double value, std::string& out);
// Value unchanged in document order, compact, duplicates: last wins (for echoing a legend).
void append_compact(const Value& value, std::string& out);

// Appends one reference token to a JSON Pointer with ~0 and ~1 escapes: "/questions" + "a/b" -> "/questions/a~1b".
void append_pointer(std::string& pointer, std::string_view token);

// Writes JSON with the commas in the right places. Keys and strings are escaped.
class Writer {
 public:
  explicit Writer(std::string& out, int indent = -1) : out_(out), indent_(indent) {}  // indent < 0: compact
  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view key);
  void string(std::string_view utf8);
  void integer(int64_t value);
  void unsigned_integer(uint64_t value);
  void number(double value);  // shortest round trip; NaN and infinities as null
  void rounded4(double value);
  void boolean(bool value);
  void null();
  void raw(std::string_view json);  // an already rendered value

 private:
  void before_value();
  void newline();
  std::string& out_;
  int indent_;
  int depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace clef::json
