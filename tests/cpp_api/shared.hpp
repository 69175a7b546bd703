// What the tests of the C++ interface share.
#pragma once
#include <clef/clef.hpp>
#include <string>

#include "support/data.hpp"

namespace clef::test {

inline std::string nano() {
  return source_path("examples/clef-nano");
}

// Loaded once: it never changes.
inline const Model& nano_model() {
  static const Model model = Model::load(nano()).value();
  return model;
}

inline const char* const kText =
    "Hi, I was charged twice for my order #48213. Please refund the second payment. I need an answer today.";

inline Schema nano_schema() {
  return Schema::builder()
      .noul("refund", "Is the customer asking for a refund?")
      .choice("team", "Which team should handle this?", {"billing", "technical", "shipping"})
      .score("urgency", "How urgent is this?", {"can wait", "this week", "today"})
      .build()
      .value();
}

}  // namespace clef::test
