// Whole models: digest, name, description, refused options.
#include <algorithm>

#include "model/digest.hpp"
#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

struct Loaded {
  base::Memory memory{base::Allocator{}};
  base::Result<std::shared_ptr<const model::Model>> result{base::Status(Code::internal, "not run")};
  explicit Loaded(const model::Files& files, const model::LoadOptions& options = {}) {
    result = model::Model::load(files, options, memory);
  }
  ~Loaded() { result = base::Status(Code::internal, "gone"); }
  const model::Model& model() const {
    if (!result.ok()) FAIL(std::string(result.status().message()));
    return *result.value();
  }
};

std::string hash(std::string_view text) {
  model::Sha256 sha;
  sha.add(text);
  const auto digest = sha.finish();
  return model::to_hex(digest);
}

}  // namespace

TEST_CASE("SHA-256") {
  // FIPS 180-4 examples, and 'a' a million times.
  CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  // The same in pieces of any size.
  const std::string text(300, 'x');
  for (size_t size = 1; size < 150; ++size) {
    model::Sha256 sha;
    for (size_t at = 0; at < text.size(); at += size) sha.add(std::string_view(text).substr(at, size));
    REQUIRE(model::to_hex(sha.finish()) == hash(text));
  }
}

TEST_CASE("a model is loaded whole") {
  const Loaded loaded(at_path(data_path("models/tiny-flash")));
  const model::Model& model = loaded.model();
  CHECK(model.name() == "tiny-flash");
  CHECK(model.config().hidden == 64);
  CHECK(model.weights().layers.size() == 8);
  CHECK(model.tokenizer().size() <= 1408);
  CHECK(model.digest().size() == 64);
  CHECK(std::all_of(model.digest().begin(), model.digest().end(),
                    [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }));
}

TEST_CASE("the digest follows names, sizes and headers, not where bytes come from") {
  const Pack pack = tiny_flash();
  const std::string plain = Loaded(at_path(data_path("models/tiny-flash"))).model().digest();
  CHECK(Loaded(pack.sources()).model().digest() == plain);
  CHECK(Loaded(at_path(data_path("models/tiny-clef"))).model().digest() != plain);
  Pack spaced = pack;
  spaced.files.at("config.json") += "\n";
  CHECK(Loaded(spaced.sources()).model().digest() != plain);
  Pack renamed = pack;
  renamed.replace("model.safetensors", "model.visual.", "model.visuax.");  // a name in the header
  CHECK(Loaded(renamed.sources()).model().digest() != plain);
  Pack data = pack;  // weights are not read
  data.files.at("model.safetensors").back() ^= 1;
  CHECK(Loaded(data.sources()).model().digest() == plain);

  io::ReadCallbacks callbacks;
  const std::string gguf = read_file(data_path("gguf/mini-f32.gguf"));
  callbacks.size = gguf.size();
  callbacks.read_at = [&](uint64_t offset, void* out, size_t size) {
    std::memcpy(out, gguf.data() + offset, size);
    return 0;
  };
  model::Files files;
  files.entries.push_back({"mini-f32.gguf", "", must(io::from_callbacks(std::move(callbacks), "mini-f32.gguf"))});
  CHECK(Loaded(files).model().digest() == Loaded(at_path(data_path("gguf/mini-f32.gguf"))).model().digest());
}

TEST_CASE("a model describes itself") {
  const Loaded loaded(at_path(data_path("models/tiny-clef")));
  const json::Document document = must(json::parse(loaded.model().describe()));
  const json::Value& root = document.root();
  const auto text = [&](const json::Value* value) {
    return value ? std::string(value->text()) : std::string("(absent)");
  };
  CHECK(text(root.find("name")) == "tiny-clef");
  CHECK(text(root.find("kind")) == "release layout");
  CHECK(text(root.find("compute")) == "exact");
  REQUIRE(root.find("files"));
  CHECK(root.find("files")->items().size() == 13);
  CHECK(text(root.find("files")->items()[0].find("name")) == "config.json");
  CHECK(text(root.find("files")->items()[0].find("bytes")) == "1903");
  CHECK(text(root.find("geometry")->find("hidden")) == "96");
  CHECK(text(root.find("geometry")->find("attention_layers")) == "1");
  CHECK(text(root.find("geometry")->find("head")->find("width")) == "96");
  CHECK(text(root.find("limits")->find("tokens")) == "262144");
  CHECK(root.find("has_vision")->boolean());
  CHECK(text(root.find("tokenizer")->find("rule")) == "qwen2");
  CHECK(text(root.find("tokenizer")->find("stated")) == "qwen2");
  CHECK(text(root.find("tokenizer")->find("size")) == std::to_string(loaded.model().tokenizer().size()));
  CHECK(text(root.find("convention")->find("value_heads")) == "grouped");
  CHECK(root.find("tensors") == nullptr);
  uint64_t bytes = 0;
  for (const container::TensorView& tensor : loaded.model().package().tensors) bytes += tensor.bytes;
  CHECK(root.find("types")->members().size() == 1);
  CHECK(text(root.find("types")->find("BF16")->find("bytes")) == std::to_string(bytes));
  CHECK(text(root.find("types")->find("BF16")->find("parameters")) == std::to_string(bytes / 2));
  CHECK(text(root.find("types")->find("BF16")->find("share")) == "1.0");
  CHECK(text(root.find("types")->find("BF16")->find("bits_per_weight")) == "16.0");
  CHECK(text(root.find("total")->find("bytes")) == std::to_string(bytes));
  CHECK(text(root.find("container")) == "safetensors");
  CHECK(text(root.find("head")->find("file")) == "joint_head.safetensors");
  CHECK(text(root.find("head")->find("form")) == "joint_head.safetensors");
  REQUIRE(root.find("head")->find("types")->items().size() == 1);
  CHECK(text(&root.find("head")->find("types")->items()[0]) == "BF16");
  CHECK(root.find("projector") == nullptr);

  const model::Package& package = loaded.model().package();
  const json::Document full = must(json::parse(model::describe(package, nullptr, true)));
  CHECK(full.root().find("tokenizer") == nullptr);
  REQUIRE(full.root().find("tensors")->items().size() == package.tensors.size());
  CHECK(text(full.root().find("tensors")->items()[0].find("name")) == package.tensors[0].name);

  const Loaded gguf(at_path(data_path("gguf/mini-q8_0.gguf")));
  const json::Document other = must(json::parse(gguf.model().describe()));
  CHECK(text(other.root().find("tokenizer")->find("rule")) == "qwen2");
  CHECK(text(other.root().find("tokenizer")->find("stated")) == "qwen35");
  CHECK(text(other.root().find("types")->find("Q8_0")->find("tensors")) == "56");
  CHECK(text(other.root().find("types")->find("BF16")->find("tensors")) == "1");
  CHECK(text(other.root().find("types")->find("Q8_0")->find("share")) == "0.8611");
  CHECK(text(other.root().find("types")->find("Q8_0")->find("bits_per_weight")) == "8.5");
  CHECK(text(other.root().find("total")->find("tensors")) == "120");
  CHECK(text(other.root().find("total")->find("bits_per_weight")) == "9.4649");
  CHECK(text(other.root().find("container")) == "GGUF");
  CHECK(text(other.root().find("head")->find("form")) == "inside (clef)");

  // Codes and scales of joined tensors count.
  const model::Package awq = must(model::open_package(at_path(data_path("hf-quant/awq"))));
  const json::Document joined = must(json::parse(model::describe(awq, nullptr, false)));
  uint64_t codes = 0, parameters = 0;
  std::string type;
  for (const container::TensorView& tensor : awq.tensors) {
    if (!tensor.scales) continue;
    if (type.empty()) type = tensor.type_name;
    if (tensor.type_name != type) continue;
    codes += tensor.bytes + tensor.scales->scales.bytes + tensor.scales->offsets.bytes;
    parameters += static_cast<uint64_t>(tensor.elements());
  }
  REQUIRE(parameters > 0);
  const json::Value* sum = joined.root().find("types")->find(type);
  REQUIRE(sum);
  CHECK(text(sum->find("bytes")) == std::to_string(codes));
  CHECK(std::stod(text(sum->find("bits_per_weight"))) ==
        Approx(8.0 * static_cast<double>(codes) / static_cast<double>(parameters)).margin(5.1e-5));
}

TEST_CASE("compute kinds that are not there yet are refused") {
  for (const model::Compute kind : {model::Compute::bf16, model::Compute::int8}) {
    model::LoadOptions options;
    options.compute = kind;
    CHECK(error_of(Loaded(at_path(data_path("models/tiny-flash")), options).result).code == Code::unsupported);
  }
  model::LoadOptions options;
  options.compute = model::Compute::exact;
  CHECK(Loaded(at_path(data_path("models/tiny-flash")), options).result.ok());
}

TEST_CASE("a load can be cancelled before it begins") {
  const std::atomic<bool> cancel{true};
  model::LoadOptions options;
  options.hooks.cancel = &cancel;
  CHECK(error_of(Loaded(at_path(data_path("models/tiny-flash")), options).result).code == Code::cancelled);
}

TEST_CASE("a tokenizer of a larger model is refused") {
  Pack pack = tiny_flash();
  pack.files.at("tokenizer.json") = tiny_clef().files.at("tokenizer.json");
  const base::ErrorDetail error = error_of(Loaded(pack.sources()).result);
  CHECK(error.code == Code::bad_file);
  CHECK(error.file == "tokenizer.json");
  CHECK(mentions(error, "1408"));
}

TEST_CASE("every tiny model loads, also with copied weights") {
  for (const char* path :
       {"models/tiny-flash", "models/tiny-clef", "gguf/tiny-flash-bf16.gguf", "gguf/tiny-clef-bf16.gguf",
        "gguf/mini-f32.gguf", "gguf/mini-q8_0.gguf", "gguf/mini-bf16-00001-of-00003.gguf"}) {
    INFO(path);
    model::LoadOptions options;
    options.copy_weights = true;
    const Loaded loaded(at_path(data_path(path)), options);
    CHECK(loaded.model().weights().mapped_bytes == 0);
    CHECK(loaded.memory.used() >= loaded.model().weights().copied_bytes);
  }
  CHECK(Loaded(at_path(source_path("examples/clef-nano"))).model().name() == "clef-nano");
}
