// Requests and schemas: parsing, validation with the published limits, and their rendering for the prompt
// (docs: the request contract). A Schema does not depend on a model.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace clef::schema {

enum class QuestionType : uint8_t { noul = 0, choice = 1, score = 2 };  // the numbers of the head's type embedding
std::string_view question_type_name(QuestionType type) noexcept;

struct Option {
  std::string id;        // "true"/"false", the choice's key, "0".."9"
  std::string rendered;  // {"description":...,"option_id":...} exactly as the prompt carries it
};

struct Question {
  std::string id;
  QuestionType type = QuestionType::noul;
  std::string instruction;              // rendered: instructions, or the id standing in for them
  std::vector<Option> options;          // in prompt order (choice: sorted by id in code-point order)
  std::vector<uint32_t> request_order;  // request_order[i] = index in `options` of the i-th option of the request
  std::vector<std::string> legend;      // score only: the levels as compact JSON, in order
};

struct Limits {
  uint32_t max_questions = 64;
  uint32_t max_options = 255;
  uint32_t min_levels = 2;
  uint32_t max_levels = 10;
  uint32_t max_id_bytes = 4096;  // of a question id
  uint32_t max_images = 4;
  uint32_t max_videos = 4;
  uint32_t max_frames = 65536;  // of one video, before frames are chosen
  size_t max_request_bytes = size_t{256} << 20;
  bool strict = false;                 // refuse unknown fields, and instructions that are missing, null or ""
  bool lenient_noul_criteria = false;  // ignore unknown keys in a noul's criteria
};

struct Schema {
  std::vector<Question> questions;
};

// A picture as it stands in a request; bytes are decoded from base64, the picture itself is not.
struct EncodedImage {
  std::vector<uint8_t> bytes;
};

// The frames of a video, which are pictures.
struct EncodedVideo {
  std::vector<EncodedImage> frames;
  double fps = 0;      // of the source; 0: unknown
  bool sample = true;  // let the model's processor choose frames
};

enum class Truncation : uint8_t { refuse, state_tail };

struct Request {
  std::optional<std::string> model;
  std::string state;  // rendered for the prompt
  Schema schema;
  std::vector<EncodedImage> images;
  std::vector<EncodedVideo> videos;
  std::optional<Truncation> truncation;  // request field "truncation": "refuse" (or null) | "state_tail"
};

// A whole request {"model"?, "state", "questions", "images"?, "videos"?, ...}. Every error carries code and `at` (JSON Pointer) as
// golden/requests/refused.jsonl has them, and a message that names the value and says what is allowed.
base::Result<Request> parse_request(std::string_view json, const Limits& limits);
// The `questions` object alone, or an object with a member "questions". `at` is as in a request ("/questions/...").
base::Result<Schema> parse_schema(std::string_view json, const Limits& limits);
// Any JSON value as the prompt carries it (a string is itself). `at` is "/state".
base::Result<std::string> render_state(std::string_view json, const Limits& limits);

// Builds a schema question by question, with the same validation. Texts are plain strings. An absent description is a
// criteria member that is null in a choice, and one that is missing in a noul (the default wording stays). A question
// that is refused leaves the builder as it was.
class SchemaBuilder {
 public:
  explicit SchemaBuilder(const Limits& limits) : limits_(limits) {}
  struct Described {
    std::string_view id;
    std::optional<std::string_view> description;
  };
  base::Status add_noul(std::string_view id, std::optional<std::string_view> instructions,
                        std::optional<std::string_view> true_description,
                        std::optional<std::string_view> false_description);
  base::Status add_choice(std::string_view id, std::optional<std::string_view> instructions,
                          const std::vector<Described>& options);
  base::Status add_score(std::string_view id, std::optional<std::string_view> instructions,
                         const std::vector<std::string_view>& levels);
  base::Result<Schema> finish() &&;

 private:
  base::Result<Question> begin(std::string_view id, QuestionType type,
                               std::optional<std::string_view> instructions) const;
  void finish_question(Question question);

  Limits limits_;
  Schema schema_;
  std::set<std::string, std::less<>> ids_;
};

}  // namespace clef::schema
