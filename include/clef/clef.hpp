// clef for C++17 and later: decisions of the models Clef and Clef-Flash inside your program. Header-only over clef.h,
// which is the reference manual; link the CMake target clef::clef.
//
//     auto model = clef::Model::load("clef-flash.gguf");
//     if (!model) return complain(model.error().message());
//     auto schema = clef::Schema::builder().noul("refund", "Does the customer want a refund?").build();
//     auto decision = model->decide(*schema, "I was charged twice. Please send the money back.");
//     if (decision && (*decision)["refund"].probability() > 0.9) refund();
//
// Rules that hold for every class
//
// Errors. What can fail returns a Result: a value or an Error. Nothing of the library throws; Result::value() does,
// where
//   exceptions are on. The standard containers used in these headers may throw std::bad_alloc in your code.
// Ownership. Every class owns one C handle and is move-only; a moved-from object may only be assigned or destroyed.
//   Destroying in any order is fine: children keep their parents alive. What you pass in is copied, unless the name
//   ends in _borrow. Views (std::string_view, View, Answer) belong to the object they came from.
// Threads. Const functions may be called by any number of threads at once, others by one at a time.
// Texts. UTF-8; invalid UTF-8 is an error, an embedded NUL is data.
#pragma once
#include <clef/decision.hpp>
#include <clef/error.hpp>
#include <clef/model.hpp>
#include <clef/options.hpp>
#include <clef/quantize.hpp>
#include <clef/runtime.hpp>
#include <clef/schema.hpp>
#include <clef/session.hpp>
#include <clef/state.hpp>
#include <clef/tokenizer.hpp>
#include <clef/version.hpp>
