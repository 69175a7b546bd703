// NULL for every handle: the documented answer, never a crash; outputs are cleared first.
#include <cmath>
#include <set>

#include "calls.hpp"
#include "owned.hpp"

using namespace clef::test;

TEST_CASE("the table of calls names every function of clef.h") {
  std::set<std::string> header, table;
  const std::string text = read_file(source_path("capi/clef.h"));
  const std::string marker = "CLEF_CALL clef_";
  for (size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
    const size_t begin = at + std::strlen("CLEF_CALL ");
    header.insert(text.substr(begin, text.find('(', begin) - begin));
  }
  for (const Call& call : null_calls()) table.insert(call.name);
  CHECK(header.size() > 130);
  CHECK(header == table);
}

TEST_CASE("NULL handles are answered") {
  for (const Call& c : null_calls()) {
    INFO(c.name);
    if (!c.has_status) {
      c.call(nullptr);
      continue;
    }
    CHECK(c.call(nullptr) == CLEF_INVALID_ARGUMENT);
    if (!c.has_error) continue;
    clef_error* error = nullptr;
    CHECK(c.call(&error) == CLEF_INVALID_ARGUMENT);
    const Fault fault = take(error);
    CHECK(fault.status == CLEF_INVALID_ARGUMENT);
    CHECK(fault.message.find("NULL") != std::string::npos);
    CHECK_FALSE(fault.has_at);
  }
}

TEST_CASE("accessors answer nothing for NULL") {
  size_t size = 7;
  CHECK(std::string(clef_error_message(nullptr, &size)).empty());
  CHECK(size == 0);
  size = 7;
  CHECK(clef_error_at(nullptr, &size) == nullptr);
  CHECK(size == 0);
  CHECK(clef_error_status(nullptr) == CLEF_OK);
  CHECK(clef_error_offset(nullptr) == -1);
  CHECK(std::string(clef_text_data(nullptr, nullptr)).empty());
  CHECK(std::string(clef_runtime_describe(nullptr, nullptr)).empty());
  CHECK(std::string(clef_model_describe(nullptr, nullptr)).empty());
  CHECK(std::string(clef_model_digest(nullptr, nullptr)).empty());
  CHECK(clef_model_limit(nullptr, CLEF_LIMIT_TOKENS) == 0);
  CHECK(clef_schema_count(nullptr) == 0);
  CHECK(clef_schema_option_count(nullptr, 0) == 0);
  CHECK(std::string(clef_schema_id(nullptr, 0, nullptr)).empty());
  CHECK(clef_decision_count(nullptr) == 0);
  CHECK(clef_decision_find(nullptr, "a", CLEF_NUL) == SIZE_MAX);
  CHECK(clef_decision_probabilities(nullptr, 0) == nullptr);
  CHECK(clef_decision_logits(nullptr, 0) == nullptr);
  CHECK(clef_decision_ids(nullptr) == nullptr);
  CHECK(std::isnan(clef_decision_value(nullptr, 0)));
  CHECK(std::isnan(clef_decision_confidence(nullptr, 0, CLEF_CONFIDENCE_MAX)));
  CHECK(clef_decision_top(nullptr, 0) == SIZE_MAX);
  CHECK(clef_decision_input_tokens(nullptr) == 0);
  CHECK(clef_decision_time(nullptr, CLEF_STAGE_HEAD) == 0);
  uint64_t used = 7, peak = 7;
  clef_runtime_memory(nullptr, &used, &peak);
  CHECK((used == 0 && peak == 0));
  used = peak = 7;
  clef_session_memory(nullptr, &used, &peak);
  CHECK((used == 0 && peak == 0));
  used = peak = 7;
  clef_run_progress(nullptr, &used, &peak);
  CHECK((used == 0 && peak == 0));
}

TEST_CASE("outputs are cleared when a call fails") {
  auto* runtime = reinterpret_cast<clef_runtime*>(1);
  CHECK(clef_runtime_create(99u << 16, nullptr, &runtime, nullptr) == CLEF_ABI_MISMATCH);
  CHECK(runtime == nullptr);
  auto* model = reinterpret_cast<clef_model*>(1);
  CHECK(clef_model_load(nullptr, nullptr, nullptr, &model, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(model == nullptr);
  auto* decision = reinterpret_cast<clef_decision*>(1);
  CHECK(clef_decide_json(nullptr, "{}", 2, nullptr, &decision, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(decision == nullptr);
  uint64_t scratch = 7, weights = 7;
  CHECK(clef_model_estimate(nullptr, 1, nullptr, &scratch, &weights, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK((scratch == 0 && weights == 0));
  int32_t finished = 7;
  CHECK(clef_run_step(nullptr, 0, &finished, nullptr) == CLEF_INVALID_ARGUMENT);
  CHECK(finished == 0);
}

TEST_CASE("the version of header and library") {
  CHECK(clef_abi_version() == CLEF_ABI_VERSION);
  CHECK(std::string(clef_version_string()) == CLEF_VERSION);
  clef_runtime* runtime = nullptr;
  const Fault newer =
      call([&](auto error) { return clef_runtime_create(CLEF_ABI_VERSION + 1, nullptr, &runtime, error); });
  CHECK(newer.status == CLEF_ABI_MISMATCH);
  CHECK(newer.message.find("0.2") != std::string::npos);
  CHECK(call([&](auto error) { return clef_runtime_create(1u << 16, nullptr, &runtime, error); }).status ==
        CLEF_ABI_MISMATCH);
}

TEST_CASE("names of statuses") {
  CHECK(std::string(clef_status_name(CLEF_OK)) == "ok");
  CHECK(std::string(clef_status_name(CLEF_TOO_LONG)) == "too_long");
  CHECK(std::string(clef_status_name(CLEF_WRONG_TYPE)) == "wrong_type");
  CHECK(std::string(clef_status_name(CLEF_FORKED)) == "forked");
  CHECK(std::string(clef_status_name(12345)) == "unknown");
  std::set<std::string> names;
  for (const clef_status s : {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 200, 201, 202, 203,
                              204, 300, 301, 400, 401, 402, 403, 500, 600, 700, 800, 900, 901, 1000})
    names.insert(clef_status_name(s));
  CHECK(names.size() == 29);
  CHECK(names.count("unknown") == 0);
}
