// What the sources of this folder share: places and messages of errors, rendering, questions before they are rendered.
#pragma once
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "json/json.hpp"
#include "schema/request.hpp"

namespace clef::schema {

// ---- errors (places.cpp) ----

base::Status fault(base::Code code, std::string_view at, std::string message);
// pointer + "/" + escaped token.
std::string place(std::string_view pointer, std::string_view token);
// The text between quotes with escapes, shortened to a readable length.
std::string quoted(std::string_view text);
std::string_view kind_name(json::Kind kind) noexcept;  // "a string", "null", ...
// `what` must be `allowed`, not a number.
base::Status wrong_type(std::string_view at, std::string_view what, std::string_view allowed, const json::Value& value);

// Turns the reader's place (innermost value of the text) into the innermost field of the contract: never inside a free
// value, and empty when the text breaks (invalid_json) outside of one.
base::Status at_contract_field(base::Status error);

// Refuses a second member of the same name, at `pointer`/name.
base::Status refuse_duplicates(const json::Value& object, std::string_view pointer);
base::Status refuse_unknown(const json::Value& object, std::string_view pointer,
                            std::initializer_list<std::string_view> known);

// ---- questions (questions.cpp, builder.cpp) ----

inline constexpr std::string_view kTrueDescription = "The proposition is true or the answer is yes.";
inline constexpr std::string_view kFalseDescription = "The proposition is false or the answer is no.";

base::Status check_question_id(std::string_view id, const Limits& limits);
base::Status check_question_count(size_t count, const Limits& limits);
base::Status check_option_count(std::string_view criteria_at, size_t count, const Limits& limits);
base::Status check_level_count(std::string_view criteria_at, size_t count, const Limits& limits);

// {"description":...,"option_id":...}; a null or absent description is left out.
std::string render_option(std::string_view id, const json::Value& description);
std::string render_option(std::string_view id, std::optional<std::string_view> description);
// Sorts the options by id, filling request_order.
void sort_options(Question& question);
void keep_request_order(Question& question);

// The object of questions, checked whole before anything is rendered.
base::Result<Schema> read_questions(const json::Value& questions, const Limits& limits);

// ---- images (images.cpp) ----

base::Result<std::vector<EncodedImage>> read_images(const json::Value& images, const Limits& limits);
base::Result<std::vector<EncodedVideo>> read_videos(const json::Value& videos, const Limits& limits);
// Refuses big data URLs of pictures in the state's strings; they would be read as text.
base::Status refuse_images_in_state(const json::Value& state);

}  // namespace clef::schema
