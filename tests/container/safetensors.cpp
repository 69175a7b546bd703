#include "container/safetensors.hpp"

#include "container/sources.hpp"
#include "support/data.hpp"
#include "support/safetensors_writer.hpp"

using namespace clef::test;
using namespace clef::container;
using clef::base::Code;

namespace {

Safetensors read(const clef::io::SourcePtr& source) {
  auto file = read_safetensors(source);
  INFO((file.ok() ? std::string_view() : file.status().message()));
  REQUIRE(file.ok());
  return std::move(file).value();
}

}  // namespace

TEST_CASE("recorded safetensors files") {
  struct Expected {
    const char* name;
    size_t tensors;
    uint64_t header;
    const char* first;
    const char* described;
  };
  const Expected files[] = {
      {"models/tiny-flash/model.safetensors", 142, 16648, "lm_head.weight", "BF16 [1408, 64]"},
      {"models/tiny-flash/joint_head.safetensors", 122, 11448, "evidence_layers.0.attention.in_proj_bias",
       "BF16 [192]"},
      {"models/tiny-clef/model-00007-of-00007.safetensors", 1, 128, "model.visual.pos_embed.weight",
       "BF16 [2304, 144]"},
      {"text/tiny-clef/trace.safetensors", 22, 2048, "embedding", "F32 [272, 96]"},
  };
  for (const Expected& expected : files) {
    INFO(expected.name);
    const std::string path = data_path(expected.name);
    const Safetensors mapped = read(path_source(path));
    REQUIRE(mapped.tensors.size() == expected.tensors);
    CHECK(mapped.tensors.front().name == expected.first);
    CHECK(describe(mapped.tensors.front()) == expected.described);
    CHECK(mapped.tensors.front().offset == 8 + expected.header);
    uint64_t bytes = 8 + expected.header;
    for (const TensorView& tensor : mapped.tensors) bytes += tensor.bytes;
    CHECK(bytes == mapped.tensors.front().source->size());
    const std::string content = read_file(path);
    const Safetensors called = read(callback_source(content));
    check_same(mapped.tensors, called.tensors);
    CHECK(called.tensors.front().data() == nullptr);
    CHECK(mapped.metadata == called.metadata);
  }
  const Safetensors head = read(path_source(data_path("models/tiny-flash/joint_head.safetensors")));
  CHECK(head.metadata == std::map<std::string, std::string>{{"format", "pt"}});
  const TensorView& gate = tensor_named(head.tensors, "residual_gate");
  CHECK(gate.shape.empty());
  CHECK(gate.elements() == 1);
  CHECK(gate.bytes == 2);
  CHECK(describe(gate) == "BF16 []");
  // A dtype that is not read yet is kept and named.
  const Safetensors trace = read(path_source(data_path("text/tiny-clef/trace.safetensors")));
  size_t integers = 0;
  for (const TensorView& tensor : trace.tensors) {
    CHECK((tensor.format == nullptr) == (tensor.type_name == "I32"));
    if (tensor.type_name == "I32") ++integers;
  }
  CHECK(integers > 0);
  CHECK(trace.metadata.at("request").starts_with("{\"model\": \"clef\""));
}

TEST_CASE("small safetensors files") {
  SafetensorsWriter w;
  w.add_metadata("format", "pt").add_metadata("k", "v");
  w.add_tensor("odd", "U8", {3}, "abc");  // what follows lies at an odd address
  w.add_f32_tensor("matrix", {2, 2}, {1, 2, 3, 4}).add_f32_tensor("scalar", {}, {5});
  w.add_tensor("empty", "F16", {0, 7}, "").add_tensor("codes", "F4", {2, 3}, "xyz");
  w.add_tensor("f8", "F8_E4M3", {2}, "ab");
  for (const auto& source : {memory_source(w.bytes()), callback_source(w.bytes())}) {
    const Safetensors file = read(source);
    CHECK(file.metadata == std::map<std::string, std::string>{{"format", "pt"}, {"k", "v"}});
    REQUIRE(file.tensors.size() == 6);
    CHECK(file.tensors[0].name == "odd");
    CHECK(file.tensors[0].format == nullptr);
    CHECK(describe(file.tensors[0]) == "U8 [3]");
    CHECK(values_of(file.tensors[1]) == std::vector<float>{1, 2, 3, 4});
    CHECK(values_of(file.tensors[2]) == std::vector<float>{5});
    CHECK(file.tensors[3].bytes == 0);
    CHECK(file.tensors[3].shape == std::vector<int64_t>{0, 7});
    CHECK(file.tensors[4].bytes == 3);
    CHECK(bytes_of(file.tensors[5]) == "ab");
  }
  CHECK(read(memory_source(SafetensorsWriter().bytes())).tensors.empty());
  // Padding after the header and data in another order than the header.
  const Safetensors turned = read(memory_source(SafetensorsWriter::file(
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}   )",
      "xyz")));
  CHECK(turned.tensors[0].name == "b");
  CHECK(bytes_of(turned.tensors[0]) == "z");
}

TEST_CASE("the index of shards") {
  const std::string text = read_file(data_path("models/tiny-clef/model.safetensors.index.json"));
  const auto index = read_safetensors_index(text, "model.safetensors.index.json");
  REQUIRE(index.ok());
  CHECK(index.value().at("lm_head.weight") == "model-00001-of-00007.safetensors");
  size_t tensors = 0;
  for (int i = 1; i <= 7; ++i) {
    const std::string name = "model-0000" + std::to_string(i) + "-of-00007.safetensors";
    for (const TensorView& tensor : read(path_source(data_path("models/tiny-clef/" + name))).tensors) {
      CHECK(index.value().at(tensor.name) == name);
      ++tensors;
    }
  }
  CHECK(index.value().size() == tensors);
  const auto below = read_safetensors_index(R"({"weight_map":{"a":"sub/x.safetensors"}})", "i.json");
  REQUIRE(below.ok());
  CHECK(below.value().at("a") == "sub/x.safetensors");
}
