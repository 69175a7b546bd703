// The types of the mixtures, against those that llama-quantize chose and those of recorded files.
#include "convert/mixture.hpp"
#include "json/json.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef;
using namespace clef::test;
using convert::Tensor;

namespace {

int64_t number(const json::Value& value) {
  int64_t out = -1;
  REQUIRE(value.to_int64(out));
  return out;
}

// "type", or "type imatrix".
void check_types(const json::Value& geometry, std::string_view title, const json::Value& expected,
                 const std::string& head_type) {
  model::Config config;
  config.layers.resize(static_cast<size_t>(number(*geometry.find("layers"))));
  config.heads = static_cast<int32_t>(number(*geometry.find("heads")));
  config.kv_heads = static_cast<int32_t>(number(*geometry.find("kv_heads")));
  std::vector<Tensor> tensors;
  for (const json::Value& item : geometry.find("tensors")->items()) {
    Tensor& tensor = tensors.emplace_back();
    tensor.name = item.items()[0].text();
    tensor.shape = {number(item.items()[1]), number(item.items()[2])};
    tensor.head = tensor.name.starts_with("dec");
    tensor.matrix = tensor.name != "decision.scorer_out.weight";
  }
  const bool importance = title.ends_with(" imatrix");
  convert::TypeOptions options;
  options.type = title.substr(0, title.find(' '));
  options.head_type = head_type;
  REQUIRE(convert::assign_types(options, config, importance, tensors).ok());
  size_t exceptions = 0;
  for (const Tensor& tensor : tensors) {
    CAPTURE(tensor.name);
    std::string_view type = expected.find("most")->text();
    for (const json::Member& member : expected.find("rest")->members())
      for (const json::Value& name : member.value.items())
        if (name.text() == tensor.name) type = member.key, ++exceptions;
    CHECK(tensor.format->name == std::string(type));
  }
  size_t listed = 0;
  for (const json::Member& member : expected.find("rest")->members()) listed += member.value.items().size();
  CHECK(exceptions == listed);
}

}  // namespace

TEST_CASE("mixtures choose the recorded types") {
  const std::string text = read_file(data_path("convert/types.json"));
  const auto document = json::parse(text);
  REQUIRE(document.ok());
  size_t compared = 0;
  for (const json::Value& geometry : document.value().root().items()) {
    const std::string name(geometry.find("name")->text());
    for (const json::Member& type : geometry.find("types")->members()) {
      CAPTURE(name, std::string(type.key));
      // The recorded files have a head, which is a part of the mixture there.
      check_types(geometry, type.key, type.value, "mixture");
      ++compared;
    }
  }
  CHECK(compared == 79);
}

TEST_CASE("a precise head does not change the types of the backbone") {
  const std::string text = read_file(data_path("convert/types.json"));
  const auto document = json::parse(text);
  REQUIRE(document.ok());
  for (const json::Value& geometry : document.value().root().items()) {
    if (geometry.find("name")->text() != "eight") continue;
    for (const json::Member& type : geometry.find("types")->members()) {
      CAPTURE(std::string(type.key));
      check_types(geometry, type.key, type.value, "");
    }
  }
}

TEST_CASE("numbers of file types") {
  for (const auto& [name, number] : std::vector<std::pair<std::string, int>>{{"F32", 0},
                                                                             {"F16", 1},
                                                                             {"Q4_0", 2},
                                                                             {"Q8_0", 7},
                                                                             {"Q2_K", 10},
                                                                             {"Q4_K_M", 15},
                                                                             {"q6_k", 18},
                                                                             {"BF16", 32}}) {
    convert::TypeOptions options;
    options.type = name;
    const auto result = convert::file_type(options);
    REQUIRE(result.ok());
    CHECK(result.value() == number);
  }
}
