// A loaded model with sessions on it, and the recorded requests.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "decide/session.hpp"
#include "json/json.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

namespace clef::test {

// `head`, `projector`: where the decision head and the vision part lie, if elsewhere.
inline std::shared_ptr<const model::Model> load(const std::string& path, base::Memory& memory,
                                                const std::string& head = {}, const std::string& projector = {}) {
  model::Files files;
  files.entries.push_back({"", path, nullptr});
  if (!head.empty()) files.entries.push_back({"head", head, nullptr});
  if (!projector.empty()) files.entries.push_back({"mmproj", projector, nullptr});
  auto loaded = model::Model::load(files, {}, memory);
  if (!loaded.ok()) FAIL(path << ": " << loaded.status().message());
  return std::move(loaded).value();
}

// One line of a decisions.jsonl.
struct Recorded {
  json::Document document;
  std::string name, file;
  schema::Request request;
  decide::Options options;

  const json::Value& get(std::string_view key) const {
    const json::Value* value = document.root().find(key);
    if (!value) FAIL(name << " has no " << std::string(key));
    return *value;
  }
};

inline std::vector<Recorded> read_decisions(const std::string& path) {
  std::vector<Recorded> list;
  for (const std::string& line : read_lines(path)) {
    auto document = json::parse(line);
    REQUIRE(document.ok());
    Recorded recorded;
    recorded.document = std::move(document).value();
    const json::Value& root = recorded.document.root();
    recorded.name = root.find("name")->text();
    for (const char* key : {"file", "dir"})
      if (const json::Value* file = root.find(key)) recorded.file = file->text();
    const json::Value& given = *root.find("request");
    std::string body;
    if (given.is_string()) {
      body = given.text();
    } else {
      json::append_compact(given, body);  // an object, where pictures are added
    }
    auto request = schema::parse_request(body, {});
    if (!request.ok()) FAIL(recorded.name << ": " << request.status().message());
    recorded.request = std::move(request).value();
    if (const json::Value* text = root.find("user_text"); text && text->text() == "control")
      recorded.options.user_text = text::SpecialText::control;
    int64_t limit = 0;
    if (const json::Value* length = root.find("max_length"); length && length->to_int64(limit)) {
      recorded.options.max_tokens = limit;
      recorded.options.truncation = schema::Truncation::state_tail;
    }
    list.push_back(std::move(recorded));
  }
  return list;
}

}  // namespace clef::test
