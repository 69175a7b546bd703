// Models in Ollama's store, made here: manifests, blobs, and what can be wrong with them.
#include "container/ollama_manifest.hpp"
#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

constexpr std::string_view kType = "application/vnd.ollama.image.";

// A store in a temporary folder; blobs are named by a counter, as nobody computes their hashes here.
struct Store {
  std::string root = temporary_directory();
  std::string layers;
  int blobs = 0;

  Store() {
    std::filesystem::create_directories(root + "/blobs");
    std::filesystem::create_directories(directory());
  }
  std::string directory() const { return root + "/manifests/registry.ollama.ai/library/clef-flash"; }
  std::string manifest() const { return directory() + "/9b"; }
  static std::string hex(int number) {
    std::string digits = std::to_string(number);
    return std::string(64 - digits.size(), 'a') + digits;
  }
  std::string blob_path(int number) const { return root + "/blobs/sha256-" + hex(number); }

  void write_blob(int number, const std::string& bytes) const {
    std::ofstream out(blob_path(number), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.flush());
  }
  void add(std::string_view kind, const std::string& bytes, const std::string& name = {}) {
    write_blob(++blobs, bytes);
    if (!layers.empty()) layers += ",";
    layers += "{\"mediaType\":\"" + std::string(kType) + std::string(kind) + "\",\"digest\":\"sha256:" + hex(blobs) +
              "\",\"size\":" + std::to_string(bytes.size());
    if (!name.empty()) layers += ",\"name\":\"" + name + "\"";
    layers += "}";
  }
  void write_text(const std::string& text) const {
    std::ofstream out(manifest(), std::ios::binary);
    out << text;
    REQUIRE(out.flush());
  }
  void write() const { write_text("{\"schemaVersion\":2,\"layers\":[" + layers + "]}"); }
};

std::vector<std::vector<float>> all_values(const model::Weights& weights) {
  std::vector<std::vector<float>> values;
  for (const auto& [name, weight] : list(weights)) values.push_back(decode(weight));
  return values;
}

// tiny-flash with one file per tensor.
Store store_of_tensors() {
  Store store;
  const Pack pack = tiny_flash();
  for (const auto& [name, bytes] : pack.files) {
    if (name.ends_with(".json")) store.add("json", bytes, name);
    if (!name.ends_with(".safetensors")) continue;
    for (const RawTensor& tensor : read_tensors(bytes)) store.add("tensor", write_tensors({tensor}), tensor.name);
  }
  store.write();
  return store;
}

}  // namespace

TEST_CASE("a GGUF file in the store of Ollama") {
  Store store;
  const std::string path = data_path("gguf/mini-ollama-bf16.gguf");
  store.add("license", "some text");
  store.add("model", read_file(path));
  store.add("params", "{\"num_ctx\":16384}");
  store.write();
  const model::Package package = must(model::open_package(at_path(store.manifest())));
  CHECK(package.name == "clef-flash:9b");
  CHECK(package.kind_name == "GGUF (qwen35) with the head as Ollama stores it");
  const Resolved stored(package), plain(must(model::open_package(at_path(path))));
  CHECK(all_values(stored.weights()) == all_values(plain.weights()));

  store.add("projector", gguf_of("clip"));
  store.write();
  const model::Package with_projector = must(model::open_package(at_path(store.manifest())));
  CHECK(with_projector.has_vision);
  REQUIRE(with_projector.projector != nullptr);
  const std::string projector(with_projector.projector->name());
  CHECK(projector.starts_with("sha256-"));
  const std::string description = model::describe(with_projector, nullptr, false);
  CHECK(description.find("\"projector\":\"" + projector + "\"") != description.npos);
  CHECK(description.find("\"form\":\"inside (clef.*)\"") != description.npos);

  // Another head than the one inside.
  model::Files files = at_path(store.manifest());
  files.entries.push_back({"head", data_path("gguf/mini-headless/head"), nullptr});
  const model::Package other = must(model::open_package(files));
  CHECK(other.head.file == "joint_head.safetensors");
  CHECK(Resolved(other).result.ok());
}

TEST_CASE("one file per tensor in the store of Ollama") {
  const Store store = store_of_tensors();
  const model::Package package = must(model::open_package(at_path(store.manifest())));
  CHECK(package.name == "clef-flash:9b");
  CHECK(package.kind_name == "Ollama (one file per tensor)");
  const Resolved stored(package), plain(must(model::open_package(at_path(data_path("models/tiny-flash")))));
  CHECK(all_values(stored.weights()) == all_values(plain.weights()));
}

TEST_CASE("the store of Ollama: what is missing or wrong") {
  Store store;
  store.add("model", read_file(data_path("gguf/mini-ollama-bf16.gguf")));
  store.write();
  const std::string good = store.layers;
  const auto error = [&] { return open_error(at_path(store.manifest())); };

  std::filesystem::rename(store.blob_path(1), store.blob_path(2));
  CHECK(error().code == Code::missing_part);
  CHECK(error().file == "sha256-" + Store::hex(1));
  CHECK(mentions(error(), "pull the model again"));
  store.write_blob(1, "GGUF");
  CHECK(error().code == Code::bad_file);
  CHECK(mentions(error(), "has 4 bytes"));
  std::filesystem::rename(store.blob_path(2), store.blob_path(1));
  CHECK(model::open_package(at_path(store.manifest())).ok());

  std::filesystem::rename(store.root + "/blobs", store.root + "/elsewhere");
  CHECK(error().code == Code::missing_part);
  CHECK(mentions(error(), "'blobs'"));
  std::filesystem::rename(store.root + "/elsewhere", store.root + "/blobs");

  store.layers.clear();
  store.add("license", "text");
  store.write();
  CHECK(error().code == Code::not_clef);
  store.add("model", "GGML and what follows");
  store.write();
  CHECK(error().code == Code::unsupported);

  // The folder itself is no model.
  CHECK(open_error(at_path(store.root)).code == Code::invalid_argument);
  CHECK(mentions(open_error(at_path(store.root)), "manifest"));
  Store tensors = store_of_tensors();
  std::filesystem::remove(tensors.blob_path(tensors.blobs));
  CHECK(open_error(at_path(tensors.manifest())).code == Code::missing_part);
}

TEST_CASE("manifests are checked") {
  const auto read = [](const std::string& layers) {
    return container::read_ollama_manifest("{\"schemaVersion\":2,\"layers\":" + layers + "}", "9b");
  };
  const auto layer = [](const std::string& kind, const std::string& digest, const std::string& rest) {
    return "[{\"mediaType\":\"application/vnd.ollama.image." + kind + "\",\"digest\":\"" + digest + "\"" + rest + "}]";
  };
  const std::string digest = "sha256:" + std::string(64, '0');
  const auto good = read(layer("tensor", digest, ",\"size\":5,\"name\":\"lm_head.weight\""));
  REQUIRE(good.ok());
  REQUIRE(good.value().size() == 1);
  CHECK(good.value()[0].kind == container::OllamaLayer::Kind::tensor);
  CHECK(good.value()[0].blob == "sha256-" + std::string(64, '0'));
  CHECK(good.value()[0].size == 5);
  CHECK(good.value()[0].name == "lm_head.weight");
  // What is no part of the weights is left out unread.
  CHECK(read(layer("license", "anything", "")).value().empty());

  const auto refused = [&](const std::string& layers, std::string_view field) {
    const base::ErrorDetail error = error_of(read(layers));
    INFO(error.message);
    CHECK(error.code == Code::bad_file);
    CHECK(error.file == "9b");
    CHECK(mentions(error, field));
  };
  for (const char* bad : {"sha256:../../../../etc/passwd", "sha256:", "", "sha512:00", "../secret", "sha256-00"})
    refused(layer("model", bad, ",\"size\":5"), "layers[0].digest");
  refused(layer("model", "sha256:" + std::string(63, '0') + "/", ",\"size\":5"), "layers[0].digest");
  refused(layer("model", "sha256:" + std::string(64, 'A'), ",\"size\":5"), "layers[0].digest");
  for (const char* bad : {"", ",\"size\":-1", ",\"size\":\"5\"", ",\"size\":1e30", ",\"size\":2.5"})
    refused(layer("model", digest, bad), "layers[0].size");
  for (const char* bad : {"", ",\"name\":\"\"", ",\"name\":7"})
    refused(layer("json", digest, std::string(",\"size\":5") + bad), "layers[0].name");
  refused("[]", "layers");
  refused("{}", "layers");
  refused("[3]", "layers[0]");
  refused("[{}]", "layers[0].mediaType");
  CHECK(error_of(container::read_ollama_manifest("{\"layers\":[", "9b")).code == Code::bad_file);
  CHECK(error_of(container::read_ollama_manifest("[]", "9b")).code == Code::bad_file);
}
