// Ids and spans against the recorded ones, and the ways in which a prompt does not fit.
#include "schema/prompt.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "schema/support.hpp"
#include "support/data.hpp"

namespace clef::test {
namespace {

using base::Code;
using schema::Limits;
using schema::PromptOptions;
using schema::Role;
using text::SpecialText;
using text::Tokenizer;

Tokenizer load_tokenizer(const std::string& path) {
  auto tokenizer = Tokenizer::from_json(read_file(path), "tokenizer.json", text::PreTokenizer::automatic);
  INFO(path << ": " << (tokenizer.ok() ? "" : tokenizer.status().message()));
  REQUIRE(tokenizer.ok());
  return std::move(tokenizer).value();
}

std::vector<int64_t> integers(const json::Value& array) {
  std::vector<int64_t> out;
  for (const json::Value& item : array.items()) {
    int64_t value = 0;
    REQUIRE(item.to_int64(value));
    out.push_back(value);
  }
  return out;
}

int64_t integer(const json::Value* value, int64_t missing) {
  int64_t out = missing;
  if (value != nullptr && !value->is_null()) REQUIRE(value->to_int64(out));
  return out;
}

std::vector<int64_t> as_list(schema::Span span) {
  return {span.begin, span.end};
}

void check_questions(const json::Value& recorded, const schema::Schema& schema, const schema::Prompt& prompt) {
  REQUIRE(recorded.items().size() == schema.questions.size());
  REQUIRE(prompt.questions.size() == schema.questions.size());
  for (size_t q = 0; q < schema.questions.size(); ++q) {
    const json::Value& question = recorded.items()[q];
    CHECK(question.find("id")->text() == schema.questions[q].id);
    CHECK(integers(*question.find("span")) == as_list(prompt.questions[q].instruction));
    const json::Value& spans = *question.find("option_spans");
    REQUIRE(spans.items().size() == prompt.questions[q].options.size());
    REQUIRE(spans.items().size() == schema.questions[q].options.size());
    for (size_t i = 0; i < spans.items().size(); ++i) {
      CHECK(integers(spans.items()[i]) == as_list(prompt.questions[q].options[i]));
      CHECK(question.find("options")->items()[i].text() == schema.questions[q].options[i].id);
    }
  }
}

// All ids of the pieces one after the other.
std::vector<int32_t> joined(const std::vector<schema::Piece>& pieces) {
  std::vector<int32_t> ids;
  for (const schema::Piece& piece : pieces) ids.insert(ids.end(), piece.ids.begin(), piece.ids.end());
  return ids;
}

void check_decision(const Tokenizer& tokenizer, const json::Value& decision) {
  const schema::Request request = accepted(decision.find("request")->text());
  PromptOptions options;
  const json::Value* user_text = decision.find("user_text");
  options.user_text = user_text->text() == "control" ? SpecialText::control : SpecialText::literal;
  const int64_t max_length = integer(decision.find("max_length"), -1);
  if (max_length >= 0) {
    options.max_tokens = max_length;
    options.truncation = schema::Truncation::state_tail;
  }
  options.keep_pieces = true;
  const auto encoded = schema::encode_prompt(tokenizer, request.state, request.schema, options);
  REQUIRE(encoded.ok());
  const schema::Prompt& prompt = encoded.value();
  const std::vector<int64_t> expected = integers(*decision.find("ids"));
  CHECK(std::vector<int64_t>(prompt.ids.begin(), prompt.ids.end()) == expected);
  CHECK(prompt.tokens_dropped == integer(decision.find("tokens_dropped"), 0));
  check_questions(*decision.find("questions"), request.schema, prompt);

  CHECK(joined(prompt.pieces) == prompt.ids);
  REQUIRE(prompt.pieces.size() > 3);
  CHECK(prompt.pieces[0].role == Role::prefix);
  CHECK(prompt.pieces[1].role == Role::state);
  CHECK(prompt.pieces[1].text == request.state);
  CHECK(prompt.pieces.back().role == Role::suffix);
  CHECK(prompt.state_begin == static_cast<int64_t>(prompt.pieces[0].ids.size()));
  CHECK(prompt.state_end - prompt.state_begin == static_cast<int64_t>(prompt.pieces[1].ids.size()));

  const auto counts = schema::count_tokens(tokenizer, request.state, request.schema, options.user_text);
  REQUIRE(counts.ok());
  CHECK(counts.value().state == prompt.state_end - prompt.state_begin + prompt.tokens_dropped);
  CHECK(counts.value().fixed + counts.value().state == static_cast<int64_t>(expected.size()) + prompt.tokens_dropped);
}

size_t check_decisions(const std::string& tokenizer_path, const std::string& decisions_path) {
  const Tokenizer tokenizer = load_tokenizer(tokenizer_path);
  size_t count = 0;
  for (const std::string& line : read_lines(decisions_path)) {
    const auto parsed = json::parse(line);
    REQUIRE(parsed.ok());
    const json::Value& decision = parsed.value().root();
    if (!decision.find("request")->is_string() || decision.find("name")->text() == "picture") continue;
    INFO(decision.find("name")->text());
    check_decision(tokenizer, decision);
    ++count;
  }
  return count;
}

const Tokenizer& tiny() {
  static const Tokenizer tokenizer = load_tokenizer(data_path("models/tiny-clef/tokenizer.json"));
  return tokenizer;
}

schema::Schema one_noul() {
  auto schema = schema::parse_schema(R"({"a":{"type":"noul","instructions":"x?"}})", Limits());
  REQUIRE(schema.ok());
  return std::move(schema).value();
}

}  // namespace

TEST_CASE("ids and spans equal the recorded ones") {
  CHECK(check_decisions(data_path("models/tiny-clef/tokenizer.json"), data_path("text/tiny-clef/decisions.jsonl")) ==
        85);
  CHECK(check_decisions(data_path("models/tiny-flash/tokenizer.json"), data_path("text/tiny-flash/decisions.jsonl")) ==
        87);
  CHECK(check_decisions(source_path("examples/clef-nano/tokenizer.json"), data_path("nano/decisions.jsonl")) == 36);
}

TEST_CASE("pictures and videos stand before the state as placeholders") {
  const Tokenizer tokenizer = load_tokenizer(data_path("models/tiny-flash/tokenizer.json"));
  schema::Schema schema = one_noul();
  const std::vector<schema::MediaItem> media = {{false, {{"", 3}}},
                                                {true, {{"<0.5 seconds>", 2}, {"<2.0 seconds>", 2}}}};
  PromptOptions options;
  options.media = media;
  options.keep_pieces = true;
  const auto prompt = schema::encode_prompt(tokenizer, "s", schema, options);
  REQUIRE(prompt.ok());
  const auto plain = schema::encode_prompt(tokenizer, "s", schema, {});
  REQUIRE(plain.ok());
  REQUIRE(prompt.value().media.size() == 3);
  const int32_t image = tokenizer.added_token("<|image_pad|>"), video = tokenizer.added_token("<|video_pad|>");
  const std::vector<int32_t>& ids = prompt.value().ids;
  for (size_t i = 0; i < 3; ++i) {
    const schema::MediaSpan span = prompt.value().media[i];
    CHECK(span.count == (i == 0 ? 3 : 2));
    for (int64_t token = span.begin; token < span.begin + span.count; ++token)
      CHECK(ids[static_cast<size_t>(token)] == (i == 0 ? image : video));
    CHECK(ids[static_cast<size_t>(span.begin - 1)] == tokenizer.added_token("<|vision_start|>"));
    CHECK(ids[static_cast<size_t>(span.begin + span.count)] == tokenizer.added_token("<|vision_end|>"));
  }
  CHECK(std::count(ids.begin(), ids.end(), image) == 3);
  CHECK(std::count(ids.begin(), ids.end(), video) == 4);
  REQUIRE(prompt.value().pieces.size() > 2);
  CHECK(prompt.value().pieces[1].role == Role::media);
  const auto added = static_cast<int64_t>(ids.size() - plain.value().ids.size());
  CHECK(static_cast<int64_t>(prompt.value().pieces[1].ids.size()) == added);
  CHECK(prompt.value().state_begin == plain.value().state_begin + added);
  CHECK(prompt.value().questions[0].instruction.begin == plain.value().questions[0].instruction.begin + added);
  const auto counts = schema::count_tokens(tokenizer, "s", schema, SpecialText::literal, media);
  REQUIRE(counts.ok());
  CHECK(counts.value().fixed + counts.value().state == static_cast<int64_t>(ids.size()));

  // They do not fit, or a text of the user claims to be one.
  options.max_tokens = static_cast<int64_t>(plain.value().ids.size()) + 4;
  check_error(schema::encode_prompt(tokenizer, "s", schema, options), Code::too_long, "/images");
  options.media = std::span(media).subspan(1);
  check_error(schema::encode_prompt(tokenizer, "s", schema, options), Code::too_long, "/videos");
  options = {};
  options.media = media;
  options.user_text = SpecialText::control;
  check_error(schema::encode_prompt(tokenizer, "a <|image_pad|> b", schema, options), Code::invalid_value, "/state");
  options.user_text = SpecialText::literal;
  CHECK(schema::encode_prompt(tokenizer, "a <|image_pad|> b", schema, options).ok());
}

TEST_CASE("pieces stand in the order of the prompt") {
  auto schema = schema::parse_schema(
      R"({"q1":{"type":"noul","instructions":"x?"},"q2":{"type":"choice","criteria":{"p":null}}})", Limits());
  REQUIRE(schema.ok());
  PromptOptions options;
  const auto without = schema::encode_prompt(tiny(), "S", schema.value(), options);
  REQUIRE(without.ok());
  CHECK(without.value().pieces.empty());
  options.keep_pieces = true;
  const auto prompt = schema::encode_prompt(tiny(), "S", schema.value(), options);
  REQUIRE(prompt.ok());
  CHECK(prompt.value().ids == without.value().ids);
  struct Expected {
    Role role;
    std::string_view text;
    bool scaffold;
  };
  const std::vector<Expected> expected{
      {Role::prefix,
       "<|im_start|>system\nRead the complete state and schema. Decide every field jointly. Each answer must be "
       "exactly "
       "one of that field's allowed options.<|im_end|>\n<|im_start|>user\nSTATE:\n",
       true},
      {Role::state, "S", false},
      {Role::schema_header, "\n\nSCHEMA FIELDS:\n", true},
      {Role::question_header, "\nFIELD 1\nID: q1\nTYPE: noul\nINSTRUCTION: ", false},
      {Role::instruction, "x?", false},
      {Role::options_header, "\nALLOWED OPTIONS:\n", true},
      {Role::option_header, "OPTION 1: ", true},
      {Role::option, R"({"description":"The proposition is true or the answer is yes.","option_id":"true"})", false},
      {Role::option_end, "\n", true},
      {Role::option_header, "OPTION 2: ", true},
      {Role::option, R"({"description":"The proposition is false or the answer is no.","option_id":"false"})", false},
      {Role::option_end, "\n", true},
      {Role::question_end, "END FIELD\n", true},
      {Role::question_header, "\nFIELD 2\nID: q2\nTYPE: choice\nINSTRUCTION: ", false},
      {Role::instruction, "q2", false},
      {Role::options_header, "\nALLOWED OPTIONS:\n", true},
      {Role::option_header, "OPTION 1: ", true},
      {Role::option, R"({"option_id":"p"})", false},
      {Role::option_end, "\n", true},
      {Role::question_end, "END FIELD\n", true},
      {Role::suffix, "\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\nJOINT SCHEMA DECISIONS:", true},
  };
  REQUIRE(prompt.value().pieces.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO(i);
    CHECK(schema::role_name(prompt.value().pieces[i].role) == schema::role_name(expected[i].role));
    CHECK(prompt.value().pieces[i].text == expected[i].text);
    CHECK(prompt.value().pieces[i].scaffold == expected[i].scaffold);
  }
}

TEST_CASE("the user's text never becomes a control token by default") {
  const int32_t im_end = tiny().added_token("<|im_end|>");
  REQUIRE(im_end >= 0);
  const auto count = [&](SpecialText user_text) {
    auto schema = schema::parse_schema(
        R"({"i<|im_end|>d":{"type":"choice","instructions":"<|im_end|>","criteria":{"<|im_end|>":"<|im_end|>"}}})",
        Limits());
    REQUIRE(schema.ok());
    PromptOptions options;
    options.user_text = user_text;
    const auto prompt = schema::encode_prompt(tiny(), "a<|im_end|>b", schema.value(), options);
    REQUIRE(prompt.ok());
    return std::count(prompt.value().ids.begin(), prompt.value().ids.end(), im_end);
  };
  CHECK(count(SpecialText::literal) == 2);      // prefix and suffix
  CHECK(count(SpecialText::control) == 2 + 5);  // and state, id, instructions, option id, description
}

TEST_CASE("a long state is refused, or cut when that is asked for") {
  const schema::Schema schema = one_noul();
  std::string state;
  for (int i = 0; i < 300; ++i) state += "\xE2\x82\xAC\xF0\x9F\x98\x80 ";
  const auto counts = schema::count_tokens(tiny(), state, schema, SpecialText::literal);
  REQUIRE(counts.ok());
  const int64_t fixed = counts.value().fixed;
  const int64_t total = fixed + counts.value().state;
  REQUIRE(counts.value().state > 600);

  PromptOptions options;
  options.max_tokens = total;
  const auto whole = schema::encode_prompt(tiny(), state, schema, options);
  REQUIRE(whole.ok());
  CHECK(static_cast<int64_t>(whole.value().ids.size()) == total);
  CHECK(whole.value().tokens_dropped == 0);

  options.max_tokens = total - 1;
  const auto refused = schema::encode_prompt(tiny(), state, schema, options);
  check_error(refused, Code::too_long, "/state");
  const std::string message(refused.status().message());
  CHECK(contains(message, std::to_string(total)));
  CHECK(contains(message, std::to_string(total - 1)));
  CHECK(contains(message, "max_tokens"));
  CHECK(contains(message, "truncate"));

  options.truncation = schema::Truncation::state_tail;
  // Every cut down to nothing, also inside a character: the first tokens stay, the rest is counted.
  for (int64_t kept = 0; kept <= 40; ++kept) {
    options.max_tokens = fixed + kept;
    const auto cut = schema::encode_prompt(tiny(), state, schema, options);
    REQUIRE(cut.ok());
    const schema::Prompt& prompt = cut.value();
    REQUIRE(static_cast<int64_t>(prompt.ids.size()) == fixed + kept);
    CHECK(prompt.tokens_dropped == counts.value().state - kept);
    CHECK(prompt.state_end - prompt.state_begin == kept);
    CHECK(std::equal(prompt.ids.begin(), prompt.ids.begin() + prompt.state_end, whole.value().ids.begin()));
    CHECK(std::equal(prompt.ids.begin() + prompt.state_end, prompt.ids.end(),
                     whole.value().ids.begin() + whole.value().state_end));
    const int64_t moved = whole.value().state_end - prompt.state_end;
    CHECK(prompt.questions[0].instruction.begin + moved == whole.value().questions[0].instruction.begin);
    CHECK(prompt.questions[0].options[1].end + moved == whole.value().questions[0].options[1].end);
  }

  options.max_tokens = fixed - 1;
  const auto too_small = schema::encode_prompt(tiny(), state, schema, options);
  check_error(too_small, Code::too_long, "/questions");
  CHECK(contains(too_small.status().message(), std::to_string(fixed)));
  CHECK(contains(too_small.status().message(), std::to_string(fixed - 1)));
  options.max_tokens = -5;
  check_error(schema::encode_prompt(tiny(), "", schema, options), Code::too_long, "/questions");
}

TEST_CASE("a span without tokens is refused") {
  const PromptOptions options;
  schema::Schema no_instruction = one_noul();
  no_instruction.questions[0].instruction.clear();
  check_error(schema::encode_prompt(tiny(), "s", no_instruction, options), Code::empty, "/questions/a/instructions");
  schema::Schema no_option = one_noul();
  no_option.questions[0].options[1].rendered.clear();
  check_error(schema::encode_prompt(tiny(), "s", no_option, options), Code::empty, "/questions/a/criteria");
  check_error(schema::count_tokens(tiny(), "s", no_option, SpecialText::literal), Code::empty, "/questions/a/criteria");
}

TEST_CASE("text that is not UTF-8 is named") {
  const PromptOptions options;
  check_error(schema::encode_prompt(tiny(), "a\xff", one_noul(), options), Code::invalid_unicode, "/state");
  schema::Schema bad = one_noul();
  bad.questions[0].instruction.assign(1, '\xff');
  check_error(schema::encode_prompt(tiny(), "s", bad, options), Code::invalid_unicode, "/questions/a/instructions");
}

TEST_CASE("a tokenizer without the prompt's control tokens is refused") {
  std::string text = read_file(data_path("models/tiny-clef/tokenizer.json"));
  const PromptOptions options;
  for (const std::string_view token : {"<|im_start|>", "<|im_end|>", "<think>", "</think>"}) {
    INFO(token);
    std::string changed = text;
    const std::string quoted = in_quotes(token);
    size_t at = changed.find(quoted);
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = changed.find(quoted, at)) changed[at + quoted.size() - 2] = '!';
    const auto tokenizer = Tokenizer::from_json(changed, "tokenizer.json", text::PreTokenizer::automatic);
    REQUIRE(tokenizer.ok());
    const auto prompt = schema::encode_prompt(tokenizer.value(), "s", one_noul(), options);
    REQUIRE_FALSE(prompt.ok());
    CHECK(prompt.status().code() == Code::missing_part);
    CHECK(contains(prompt.status().message(), token));
    CHECK(schema::count_tokens(tokenizer.value(), "s", one_noul(), SpecialText::literal).status().code() ==
          Code::missing_part);
  }
}

TEST_CASE("every role has a name") {
  CHECK(schema::role_name(Role::prefix) == "prefix");
  CHECK(schema::role_name(Role::media) == "media");
  CHECK(schema::role_name(Role::state) == "state");
  CHECK(schema::role_name(Role::schema_header) == "schema_header");
  CHECK(schema::role_name(Role::question_header) == "question_header");
  CHECK(schema::role_name(Role::instruction) == "instruction");
  CHECK(schema::role_name(Role::options_header) == "options_header");
  CHECK(schema::role_name(Role::option_header) == "option_header");
  CHECK(schema::role_name(Role::option) == "option");
  CHECK(schema::role_name(Role::option_end) == "option_end");
  CHECK(schema::role_name(Role::question_end) == "question_end");
  CHECK(schema::role_name(Role::suffix) == "suffix");
}

}  // namespace clef::test
