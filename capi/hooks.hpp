// Tables of callbacks: copied by the rule of their struct_size, released exactly once.
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>

#include "guard.hpp"

namespace clef::capi {

// A copied table. `release` runs when the last user drops it, but only once the function that took the table has
// succeeded: a refused table stays the host's.
template <class Table>
struct Hooks {
  Table table{};
  bool armed = false;
  Hooks() = default;
  Hooks(const Hooks&) = delete;
  Hooks& operator=(const Hooks&) = delete;
  ~Hooks() {
    if (armed && table.release) table.release(table.user);
  }
};

// Copies `given` of any size: a shorter one is filled with zeros, a longer one is refused when the rest says something.
template <class Table>
Status copy_table(const Table* given, std::string_view name, Table& copy) {
  CLEF_RETURN_IF_ERROR(require(given, name));
  constexpr size_t kShortest = 2 * sizeof(void*);  // struct_size and the first function
  constexpr size_t kLongest = 4096;                // beyond any version: struct_size was not set
  uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < kShortest || size > kLongest || size % alignof(Table) != 0)
    return Status(Code::invalid_argument, "struct_size of " + std::string(name) + " is " + std::to_string(size) +
                                              "; set it to sizeof of the table");
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(Table); i < size; ++i) {
    if (bytes[i] != 0)
      return Status(Code::unsupported,
                    std::string(name) + " has members that this version of the library does not know");
  }
  copy = Table{};
  std::memcpy(&copy, bytes, size < sizeof(Table) ? size : sizeof(Table));
  return {};
}

inline Status require_function(bool given, std::string_view table, std::string_view name) {
  if (given) return {};
  return Status(Code::invalid_argument, std::string(table) + " needs the function " + std::string(name));
}

// Runs a host's release function once: at the end of the block, unless it was handed on.
class Borrowed {
 public:
  Borrowed(clef_release release, void* user) noexcept : release_(release), user_(user) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    if (release_) release_(user_);
  }
  // The owner of what was borrowed; this one then does nothing any more.
  std::shared_ptr<const Borrowed> hand_on() {
    auto owner = std::make_shared<Borrowed>(nullptr, nullptr);
    std::swap(owner->release_, release_);
    std::swap(owner->user_, user_);
    return owner;
  }

 private:
  clef_release release_;
  void* user_;
};

}  // namespace clef::capi
