// Depth, size and length limits, and a small stack.
#include <pthread.h>

#include <limits>

#include "helpers.hpp"

using namespace clef;
using base::Code;

namespace {

std::string nested(size_t depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}

// Runs on a thread with a stack of 128 KB.
template <class Work>
void on_small_stack(Work work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 128 * 1024) == 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<Work*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &work) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

void check_too_deep(const base::Result<json::Document>& result, std::string_view at, int64_t offset) {
  REQUIRE_FALSE(result.ok());
  const base::ErrorDetail& detail = result.status().detail();
  CHECK(base::code_name(detail.code) == "too_deep");
  CHECK(detail.at == at);
  CHECK(detail.offset == offset);
  CHECK(detail.message.find("256") != std::string::npos);
}

}  // namespace

TEST_CASE("256 levels are read and 257 refused", "[json]") {
  const std::string deepest = nested(256, '[', ']');
  CHECK(test::python(deepest) == deepest);
  std::string zeros;
  for (int i = 0; i < 256; ++i) zeros += "/0";
  check_too_deep(json::parse(nested(257, '[', ']')), zeros, 256);

  std::string objects;
  std::string place;
  for (int i = 0; i < 257; ++i) objects += "{\"k\":", place += i < 256 ? "/k" : "";
  check_too_deep(json::parse(objects + "1" + std::string(257, '}')), place, 256 * 5);
  check_too_deep(json::parse(R"({"state":)" + nested(300, '[', ']') + "}"), "/state" + zeros.substr(2), 9 + 255);
  // Closing brackets count: many siblings are not deep.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[[]],";
  CHECK(json::parse(wide + "0]").ok());
}

TEST_CASE("other depth limits are kept", "[json]") {
  json::ParseOptions options;
  options.max_depth = 0;
  CHECK(json::parse("1", options).ok());
  CHECK(json::parse("[]", options).status().code() == Code::too_deep);
  options.max_depth = 31;
  CHECK(json::parse(nested(31, '[', ']'), options).ok());
  CHECK(json::parse(nested(32, '[', ']'), options).status().code() == Code::too_deep);
  options.max_depth = std::numeric_limits<uint32_t>::max();
  const std::string deep = nested(20000, '[', ']');
  const auto result = json::parse(deep, options);
  REQUIRE(result.ok());
  CHECK(test::python(result.value().root()) == deep);
}

TEST_CASE("a million brackets are refused on a small stack", "[json]") {
  std::string zeros;
  for (int i = 0; i < 256; ++i) zeros += "/0";
  for (const bool closed : {true, false}) {
    std::string text(1048576, '[');
    if (closed) text += std::string(1048576, ']');
    base::Result<json::Document> result = base::Status(Code::internal, "not run");
    on_small_stack([&] { result = json::parse(text); });
    if (closed) {
      check_too_deep(result, zeros, 256);
    } else {
      REQUIRE_FALSE(result.ok());
      CHECK(result.status().code() == Code::too_deep);
    }
  }
  std::string objects;
  for (int i = 0; i < 200000; ++i) objects += "{\"a\":";
  base::Result<json::Document> result = base::Status(Code::internal, "not run");
  on_small_stack([&] { result = json::parse(objects); });
  CHECK(result.status().code() == Code::too_deep);
}

TEST_CASE("the deepest text is read and rendered on a small stack", "[json]") {
  std::string text;
  for (int i = 0; i < 128; ++i) text += "[{\"b\":1,\"a\":";
  text += "1e-7";
  for (int i = 0; i < 128; ++i) text += "}]";
  std::string rendered;
  on_small_stack([&] {
    const auto result = json::parse(text);
    if (result.ok()) json::append_python(result.value().root(), rendered);
  });
  std::string expected;
  for (int i = 0; i < 128; ++i) expected += "[{\"a\":";
  expected += "1e-07";
  for (int i = 0; i < 128; ++i) expected += ",\"b\":1}]";
  CHECK(rendered == expected);
}

TEST_CASE("integers of more than 4300 digits are refused", "[json]") {
  const std::string digits(4301, '9');
  for (const std::string sign : {"", "-"}) {
    const auto result = json::parse("{\"model\":\"clef\",\"state\":" + sign + digits + "}");
    REQUIRE_FALSE(result.ok());
    const base::ErrorDetail& detail = result.status().detail();
    CHECK(base::code_name(detail.code) == "out_of_range");
    CHECK(detail.at == "/state");
    CHECK(detail.offset == 24);
    CHECK(detail.message.find("4301") != std::string::npos);
  }
  CHECK(json::parse(digits).status().code() == Code::out_of_range);
  // Doubles may have any length.
  CHECK(test::python(digits + ".0") == "Infinity");
  CHECK(test::python(digits + "e-4301") == "1.0");
  json::ParseOptions options;
  options.max_integer_digits = 3;
  CHECK(json::parse("[-999]", options).ok());
  CHECK(json::parse("[-1000]", options).status().code() == Code::out_of_range);
}

TEST_CASE("the size limit is kept", "[json]") {
  json::ParseOptions options;
  options.max_bytes = 4;
  CHECK(json::parse("[12]", options).ok());
  const auto result = json::parse("[123]", options);
  REQUIRE_FALSE(result.ok());
  CHECK(base::code_name(result.status().code()) == "too_long");
  CHECK(result.status().detail().at.empty());
  CHECK(result.status().message().find("5 bytes") != std::string::npos);
}

TEST_CASE("wide texts are read whole", "[json]") {
  std::string text = "[0";
  for (int i = 1; i < 300000; ++i) text.append(",").append(std::to_string(i));
  text += "]";
  const json::Document array = test::parsed(text);
  REQUIRE(array.root().items().size() == 300000);
  CHECK(array.root().items()[299999].text() == "299999");
  CHECK(test::python(array.root()) == text);

  text = "{\"k0\":[]";
  for (int i = 1; i < 100000; ++i) text += ",\"k" + std::to_string(i % 50000) + "\":{\"v\":" + std::to_string(i) + "}";
  text += "}";
  const json::Document object = test::parsed(text);
  REQUIRE(object.root().members().size() == 100000);
  CHECK(object.root().find("k49999")->find("v")->text() == "99999");
  std::string compact;
  json::append_compact(object.root(), compact);
  CHECK(test::parsed(compact).root().members().size() == 50000);
  CHECK(compact.starts_with("{\"k0\":{\"v\":50000},\"k1\":{\"v\":50001},"));
}
