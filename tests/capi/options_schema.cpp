// Options by function and by name; schemas by builder and by JSON.
#include "owned.hpp"

using namespace clef::test;

TEST_CASE("options by name") {
  const auto options = make_options();
  clef_options* o = options.get();
  const auto set = [&](const char* name, const char* value) {
    return clef_options_set(o, name, CLEF_NUL, value, CLEF_NUL, nullptr);
  };
  struct Good {
    const char *name, *value;
  };
  for (const Good& good : {Good{"max_tokens", "512"},
                           {"max_tokens", "0"},
                           {"truncation", "state_tail"},
                           {"truncation", "never"},
                           {"truncation", "refuse"},
                           {"control_tokens", "true"},
                           {"control_tokens", "0"},
                           {"chunk", "64"},
                           {"memory_limit", "18446744073709551615"},
                           {"exif", "0"},
                           {"alpha", "drop"},
                           {"alpha", "white"},
                           {"confidence", "jev"},
                           {"confidence", "entropy"},
                           {"confidence", "max"},
                           {"detail", "1"},
                           {"rounding", "false"},
                           {"strict", "1"},
                           {"max_questions", "100"},
                           {"max_options", "300"},
                           {"max_levels", "12"}}) {
    INFO(good.name << " = " << good.value);
    CHECK(set(good.name, good.value) == CLEF_OK);
  }
  CHECK(set("max_token", "1") == CLEF_UNKNOWN_FIELD);
  CHECK(set("", "") == CLEF_UNKNOWN_FIELD);
  for (const Good& bad : {Good{"max_tokens", "-1"},
                          {"max_tokens", "1 "},
                          {"max_tokens", ""},
                          {"max_tokens", "1e3"},
                          {"max_tokens", "99999999999999999999"},
                          {"truncation", "head"},
                          {"control_tokens", "2"},
                          {"alpha", "black"},
                          {"confidence", "best"},
                          {"detail", "yes"}}) {
    INFO(bad.name << " = " << bad.value);
    CHECK(set(bad.name, bad.value) == CLEF_INVALID_VALUE);
  }
  CHECK(set("max_tokens", "18446744073709551615") == CLEF_OUT_OF_RANGE);
  CHECK(set("max_levels", "1") == CLEF_OUT_OF_RANGE);
  const Fault fault =
      call([&](auto error) { return clef_options_set(o, "alpha", CLEF_NUL, "black", CLEF_NUL, error); });
  CHECK(fault.message == "\"black\" is no value of alpha; it takes white or drop");
}

TEST_CASE("options by function") {
  const auto options = make_options();
  clef_options* o = options.get();
  CHECK(clef_options_set_truncation(o, CLEF_TRUNCATE_STATE_TAIL, nullptr) == CLEF_OK);
  CHECK(clef_options_set_truncation(o, 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_control_tokens(o, -1, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_exif(o, 1, nullptr) == CLEF_OK);
  CHECK(clef_options_set_exif(o, 7, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_alpha(o, CLEF_ALPHA_DROP, nullptr) == CLEF_OK);
  CHECK(clef_options_set_alpha(o, 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_confidence(o, CLEF_CONFIDENCE_ENTROPY, nullptr) == CLEF_OK);
  CHECK(clef_options_set_confidence(o, 3, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_detail(o, 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_rounding(o, 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_strict(o, 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_options_set_max_tokens(o, UINT64_MAX, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_options_set_chunk(o, UINT64_MAX, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_options_set_limit(o, CLEF_LIMIT_QUESTIONS, 0, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_options_set_limit(o, CLEF_LIMIT_TOKENS, 5, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(clef_options_set_limit(o, 99, 5, nullptr) == CLEF_INVALID_ARGUMENT);
}

TEST_CASE("load and runtime options") {
  const auto load = make<LoadOptions>(clef_load_options_create);
  const auto set = [&](const char* name, const char* value) {
    return clef_load_options_set(load.get(), name, CLEF_NUL, value, CLEF_NUL, nullptr);
  };
  CHECK(set("compute", "exact") == CLEF_OK);
  CHECK(set("compute", "fast") == CLEF_INVALID_VALUE);
  CHECK(set("device", "cuda:0") == CLEF_OK);
  CHECK(set("device", "") == CLEF_INVALID_VALUE);
  CHECK(set("pre_tokenizer", "qwen35") == CLEF_OK);
  CHECK(set("pre_tokenizer", "gpt2") != CLEF_OK);
  CHECK(set("copy_weights", "true") == CLEF_OK);
  CHECK(set("check_weights", "maybe") == CLEF_INVALID_VALUE);
  CHECK(set("threads", "1") == CLEF_UNKNOWN_FIELD);
  CHECK(clef_load_options_set_copy_weights(load.get(), 2, nullptr) == CLEF_INVALID_VALUE);
  CHECK(clef_load_options_set_check_weights(load.get(), -1, nullptr) == CLEF_INVALID_VALUE);

  const auto options = make_runtime_options();
  CHECK(clef_runtime_options_set_threads(options.get(), 1000000, nullptr) == CLEF_OUT_OF_RANGE);
  CHECK(clef_runtime_options_set_isa(options.get(), "sse9", CLEF_NUL, nullptr) == CLEF_INVALID_VALUE);
  for (const char* name : {"auto", "baseline", "avx2", "avx512", "auto"})
    CHECK(clef_runtime_options_set_isa(options.get(), name, CLEF_NUL, nullptr) == CLEF_OK);
  CHECK(clef_runtime_options_add_module(options.get(), "libclef-cuda.so", CLEF_NUL, nullptr) == CLEF_UNSUPPORTED);
}

TEST_CASE("a schema that is built equals the same as JSON") {
  const auto builder =
      make<Builder>([](auto out, auto error) { return clef_schema_builder_create(nullptr, out, error); });
  clef_schema_builder* b = builder.get();
  REQUIRE(clef_schema_builder_add_noul(b, "refund", CLEF_NUL, "Is a refund requested?", CLEF_NUL, nullptr, 0, nullptr,
                                       0, nullptr) == CLEF_OK);
  const char* ids[] = {"shipping", "billingX"};
  const size_t id_sizes[] = {CLEF_NUL, 7};
  const char* descriptions[] = {"parcels", "money, cards"};
  REQUIRE(clef_schema_builder_add_choice(b, "team", 4, "Which team?", CLEF_NUL, 2, ids, id_sizes, descriptions, nullptr,
                                         nullptr) == CLEF_OK);
  const char* levels[] = {"low", "normal", "high"};
  REQUIRE(clef_schema_builder_add_score(b, "priority", CLEF_NUL, "How urgent?", CLEF_NUL, 3, levels, nullptr,
                                        nullptr) == CLEF_OK);
  const auto built = make<Schema>([&](auto out, auto error) { return clef_schema_builder_finish(b, out, error); });
  const auto parsed = parse_schema(kQuestions);
  const auto wrapped = parse_schema(std::string(R"({"questions":)") + kQuestions + "}");
  REQUIRE(clef_schema_count(built.get()) == 3);
  REQUIRE(clef_schema_count(wrapped.get()) == 3);

  for (size_t q = 0; q < 3; ++q) {
    size_t built_size = 0, parsed_size = 0;
    const char* built_id = clef_schema_id(built.get(), q, &built_size);
    const char* parsed_id = clef_schema_id(parsed.get(), q, &parsed_size);
    CHECK(std::string(built_id, built_size) == std::string(parsed_id, parsed_size));
    CHECK(std::strlen(built_id) == built_size);
    CHECK(clef_schema_type(built.get(), q) == clef_schema_type(parsed.get(), q));
    CHECK(clef_schema_option_count(built.get(), q) == clef_schema_option_count(parsed.get(), q));
  }
  CHECK(clef_schema_type(built.get(), 0) == CLEF_NOUL);
  CHECK(clef_schema_type(built.get(), 1) == CLEF_CHOICE);
  CHECK(clef_schema_type(built.get(), 2) == CLEF_SCORE);
  CHECK(std::string(clef_schema_id(built.get(), 3, nullptr)).empty());

  const auto runtime = serial_runtime();
  const auto model = load_model(runtime.get());
  const auto state = text_state(kState);
  const auto prompt = [&](const Schema& schema) {
    const auto text = make<Text>([&](auto out, auto error) {
      return clef_model_prompt(model.get(), schema.get(), state.get(), nullptr, out, error);
    });
    return std::string(clef_text_data(text.get(), nullptr));
  };
  CHECK(prompt(built) == prompt(parsed));
  CHECK(prompt(wrapped) == prompt(parsed));
  CHECK(prompt(built).find(R"("role":"state")") != std::string::npos);
}

TEST_CASE("errors of the builder carry their place and leave it as it was") {
  const auto options = make_options();
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_OPTIONS, 2, nullptr) == CLEF_OK);
  const auto builder =
      make<Builder>([&](auto out, auto error) { return clef_schema_builder_create(options.get(), out, error); });
  clef_schema_builder* b = builder.get();
  const char* ids[] = {"a", "b", "c"};
  CHECK(clef_schema_builder_add_choice(b, "q", 1, nullptr, 0, 3, ids, nullptr, nullptr, nullptr, nullptr) ==
        CLEF_TOO_MANY);
  CHECK(clef_schema_builder_add_choice(b, "q", 1, nullptr, 0, SIZE_MAX, ids, nullptr, nullptr, nullptr, nullptr) ==
        CLEF_TOO_MANY);
  CHECK(clef_schema_builder_add_choice(b, "q", 1, nullptr, 0, 2, nullptr, nullptr, nullptr, nullptr, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  const char* same[] = {"a", "a"};
  const Fault twice = call([&](auto error) {
    return clef_schema_builder_add_choice(b, "q", 1, nullptr, 0, 2, same, nullptr, nullptr, nullptr, error);
  });
  CHECK(twice.status == CLEF_DUPLICATE_KEY);
  CHECK(twice.at == "/questions/q/criteria/a");
  const char* missing[] = {"a", nullptr};
  CHECK(clef_schema_builder_add_choice(b, "q", 1, nullptr, 0, 2, missing, nullptr, nullptr, nullptr, nullptr) ==
        CLEF_INVALID_ARGUMENT);
  const Fault unicode = call(
      [&](auto error) { return clef_schema_builder_add_noul(b, "q", 1, "\xff", 1, nullptr, 0, nullptr, 0, error); });
  CHECK(unicode.status == CLEF_INVALID_UNICODE);
  CHECK(unicode.at == "/questions/q/instructions");

  clef_schema* schema = nullptr;
  CHECK(clef_schema_builder_finish(b, &schema, nullptr) == CLEF_EMPTY);
  CHECK(clef_schema_builder_add_noul(b, "q", 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr) == CLEF_OK);
  CHECK(clef_schema_builder_add_noul(b, "q", 1, nullptr, 0, nullptr, 0, nullptr, 0, nullptr) == CLEF_DUPLICATE_KEY);
  const auto made = make<Schema>([&](auto out, auto error) { return clef_schema_builder_finish(b, out, error); });
  CHECK(clef_schema_count(made.get()) == 1);
  CHECK(clef_schema_builder_finish(b, &schema, nullptr) == CLEF_EMPTY);  // it is empty again
}

TEST_CASE("limits and strictness reach the parser") {
  const auto options = make_options();
  clef_schema* schema = nullptr;
  const std::string two = R"({"a":{"type":"noul"},"b":{"type":"noul"}})";
  const auto status = [&](const std::string& json) {
    const clef_status s = clef_schema_parse(json.data(), json.size(), options.get(), &schema, nullptr);
    clef_schema_free(schema);
    return s;
  };
  CHECK(status(two) == CLEF_OK);
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_QUESTIONS, 1, nullptr) == CLEF_OK);
  CHECK(status(two) == CLEF_TOO_MANY);
  REQUIRE(clef_options_set_limit(options.get(), CLEF_LIMIT_QUESTIONS, 64, nullptr) == CLEF_OK);
  REQUIRE(clef_options_set_strict(options.get(), 1, nullptr) == CLEF_OK);
  CHECK(status(two) == CLEF_MISSING_FIELD);
}
