// What the caller may give, and what each wrong thing is answered with.
#include <filesystem>

#include "support.hpp"

using namespace clef;
using namespace clef::test;

namespace {

Pack without(Pack pack, const std::string& file) {
  REQUIRE(pack.files.erase(file) == 1);
  return pack;
}

model::Files one_source(const std::string& name, std::string_view bytes) {
  model::Files files;
  files.entries.push_back({name, "", in_memory(bytes, name)});
  return files;
}

void copy_to(const std::string& file, const std::string& directory) {
  std::filesystem::copy_file(data_path(file), directory + "/" + std::filesystem::path(file).filename().string());
}

std::vector<std::string> file_names(const model::Package& package) {
  std::vector<std::string> names;
  for (const model::FileEntry& file : package.files) names.push_back(file.name);
  return names;
}

}  // namespace

TEST_CASE("a release by its directory or any file in it") {
  const model::Package plain = must(model::open_package(at_path(data_path("models/tiny-flash"))));
  CHECK(plain.kind == model::Kind::release);
  CHECK(plain.kind_name == "release layout");
  CHECK(plain.name == "tiny-flash");
  CHECK(plain.has_vision);
  CHECK(plain.conventions.norms_zero_centred);
  CHECK(plain.conventions.a_log_raw);
  CHECK(plain.head.release_names);
  CHECK(file_names(plain) == std::vector<std::string>{"config.json", "tokenizer.json", "processor_config.json",
                                                      "joint_head_config.json", "joint_head.safetensors",
                                                      "model.safetensors"});
  for (const char* path : {"models/tiny-flash/", "models/tiny-flash/config.json", "models/tiny-flash/model.safetensors",
                           "models/tiny-flash/joint_head.safetensors", "models/tiny-flash/tokenizer.json"}) {
    INFO(path);
    const model::Package package = must(model::open_package(at_path(data_path(path))));
    CHECK(package.name == "tiny-flash");
    CHECK(package.tensors.size() == plain.tensors.size());
  }
  const model::Package sharded =
      must(model::open_package(at_path(data_path("models/tiny-clef/model-00003-of-00007.safetensors"))));
  CHECK(sharded.name == "tiny-clef");
  CHECK(sharded.files.size() == 13);
}

TEST_CASE("a release in the hub's cache is called after its repository") {
  const std::string directory = temporary_directory() + "/models--Owner--clef-tiny/snapshots/0123abc";
  std::filesystem::create_directories(directory);
  tiny_flash().write(directory);
  CHECK(must(model::open_package(at_path(directory))).name == "clef-tiny");
}

TEST_CASE("a release from open sources, and from several places") {
  CHECK(must(model::open_package(tiny_clef().sources())).name == "model");
  Pack head;
  head.files["joint_head.safetensors"] = tiny_flash().files.at("joint_head.safetensors");
  model::Files files = head.sources();
  const std::string directory = temporary_directory();
  without(tiny_flash(), "joint_head.safetensors").write(directory);
  files.entries.push_back({"", directory, nullptr});
  CHECK(model::open_package(files).ok());
  // A path may be given another name than its own.
  Pack renamed = without(tiny_flash(), "tokenizer.json");
  model::Files mixed = renamed.sources();
  mixed.entries.push_back({"tokenizer.json", data_path("models/tiny-flash/tokenizer.json"), nullptr});
  CHECK(model::open_package(mixed).ok());
}

TEST_CASE("a missing file of a release is named") {
  for (const char* name : {"config.json", "joint_head_config.json", "joint_head.safetensors", "tokenizer.json"}) {
    INFO(name);
    const base::ErrorDetail error = open_error(without(tiny_flash(), name).sources());
    CHECK(error.code == Code::missing_part);
    CHECK(error.file == name);
    const std::string directory = temporary_directory();
    without(tiny_flash(), name).write(directory);
    CHECK(open_error(at_path(directory)).file == name);
  }
  const base::ErrorDetail weights = open_error(without(tiny_flash(), "model.safetensors").sources());
  CHECK(weights.code == Code::missing_part);
  CHECK(mentions(weights, "model.safetensors.index.json"));
  const base::ErrorDetail shard = open_error(without(tiny_clef(), "model-00004-of-00007.safetensors").sources());
  CHECK(shard.code == Code::missing_part);
  CHECK(shard.file == "model-00004-of-00007.safetensors");
  CHECK(mentions(open_error(without(tiny_flash(), "joint_head_config.json").sources()), "decision head"));
  CHECK(model::open_package(without(tiny_flash(), "processor_config.json").sources()).ok());
}

TEST_CASE("shards that do not fit the index are refused") {
  Pack swapped = tiny_clef();
  std::swap(swapped.files.at("model-00002-of-00007.safetensors"), swapped.files.at("model-00005-of-00007.safetensors"));
  const base::ErrorDetail error = open_error(swapped.sources());
  CHECK(error.code == Code::bad_file);
  CHECK(error.file == "model-00002-of-00007.safetensors");
  CHECK_FALSE(error.tensor.empty());

  Pack broken = tiny_clef();
  broken.files.at("model.safetensors.index.json") = "{\"weight_map\": {\"a\": \"../../etc/passwd\"}}";
  CHECK(open_error(broken.sources()).code == Code::bad_file);
  broken.files.at("model.safetensors.index.json") = "{";
  CHECK(open_error(broken.sources()).file == "model.safetensors.index.json");
}

TEST_CASE("a tensor in two files is refused") {
  Pack pack = tiny_flash();
  std::vector<RawTensor> tensors = read_tensors(pack.files.at("joint_head.safetensors"));
  tensors.push_back({"lm_head.weight", "U8", {1}, "a"});
  pack.files.at("joint_head.safetensors") = write_tensors(tensors);
  const base::ErrorDetail error = open_error(pack.sources());
  CHECK(error.code == Code::bad_file);
  CHECK(error.tensor == "lm_head.weight");
  CHECK(mentions(error, "model.safetensors"));
  CHECK(mentions(error, "joint_head.safetensors"));
}

TEST_CASE("broken and foreign files say what they are") {
  const std::string html = "<!DOCTYPE html><html><body>Not found</body></html>";
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
  for (const char* name : {"config.json", "joint_head_config.json", "model.safetensors", "joint_head.safetensors"}) {
    INFO(name);
    Pack pack = tiny_flash();
    pack.files.at(name) = pointer;
    base::ErrorDetail error = open_error(pack.sources());
    CHECK(error.code == Code::bad_file);
    CHECK(error.file == name);
    CHECK(mentions(error, "Git LFS pointer"));
    pack.files.at(name) = html;
    error = open_error(pack.sources());
    CHECK(error.code == Code::bad_file);
    CHECK(mentions(error, "HTML page"));
    pack.files.at(name) = "";
    CHECK(open_error(pack.sources()).code == Code::bad_file);
    pack.files.at(name) = "{\"a\": [1,";
    CHECK(open_error(pack.sources()).file == name);
  }
  CHECK(mentions(open_error(one_source("model.gguf", html)), "HTML page"));
  CHECK(mentions(open_error(one_source("model.gguf", pointer)), "Git LFS pointer"));
  CHECK(open_error(one_source("model.gguf", "")).code == Code::bad_file);
  CHECK(open_error(one_source("notes.txt", "hello")).code == Code::not_clef);
  CHECK(open_error(one_source("pytorch_model.bin", "PK\x03\x04 and more")).code == Code::not_clef);
  CHECK(open_error(one_source("tokenizer.json", "{}")).code == Code::missing_part);
}

TEST_CASE("paths that lead nowhere") {
  const std::string directory = temporary_directory();
  const base::ErrorDetail missing = open_error(at_path(directory + "/clef-flash.gguf"));
  CHECK(missing.code == Code::not_found);
  CHECK(missing.file == "clef-flash.gguf");
  CHECK_FALSE(mentions(missing, directory));  // never a path
  CHECK(open_error(at_path(directory)).code == Code::not_clef);
  CHECK(open_error({}).code == Code::invalid_argument);
  CHECK(open_error(at_path("")).code == Code::invalid_argument);
  std::filesystem::create_directory(directory + "/blobs");
  std::filesystem::create_directory(directory + "/manifests");
  const base::ErrorDetail store = open_error(at_path(directory));
  CHECK(store.code == Code::invalid_argument);
  CHECK(mentions(store, "Ollama"));
  model::Files twice = one_source("config.json", "{}");
  twice.entries.push_back(twice.entries.front());
  CHECK(open_error(twice).code == Code::invalid_argument);
}

TEST_CASE("a plain language model lacks the head") {
  Pack pack = without(without(tiny_flash(), "joint_head_config.json"), "joint_head.safetensors");
  base::ErrorDetail error = open_error(pack.sources());
  CHECK(error.code == Code::missing_part);
  CHECK(error.file == "joint_head_config.json");
  pack.replace("config.json", "\"model_type\": \"qwen3_5\"", "\"model_type\": \"llama\"");
  pack.replace("config.json", "Qwen3_5ForConditionalGeneration", "LlamaForCausalLM");
  error = open_error(pack.sources());
  CHECK(error.code == Code::not_clef);
  CHECK(mentions(error, "LlamaForCausalLM"));
}

TEST_CASE("Clef-Omni and quantized releases are refused with advice") {
  Pack pack = tiny_flash();
  pack.replace("config.json", "Qwen3_5ForConditionalGeneration", "Qwen3OmniMoeThinkerForConditionalGeneration");
  const base::ErrorDetail omni = open_error(pack.sources());
  CHECK(omni.code == Code::unsupported);
  CHECK(mentions(omni, "Clef-Omni"));
  Pack quantized = tiny_flash();
  quantized.replace("config.json", "\"text_config\": {",
                    "\"quantization_config\": {\"quant_method\": \"quark\"}, \"text_config\": {");
  const base::ErrorDetail quark = open_error(quantized.sources());
  CHECK(quark.code == Code::unsupported);
  CHECK(mentions(quark, "'quark'"));
  CHECK(mentions(quark, "GGUF"));
}

TEST_CASE("quantized releases are named and their matrices joined") {
  const struct {
    const char *folder, *kind, *prefix, *type;
    bool centred;
  } cases[] = {{"awq", "AWQ", "model.language_model.", "AWQ 4-bit g128", true},
               {"compressed-tensors-w4a16", "compressed-tensors", "model.language_model.", "INT4 per row", true},
               {"mlx-4bit", "MLX (affine)", "language_model.model.", "MLX 4-bit g64", false}};
  for (const auto& c : cases) {
    INFO(c.folder);
    const std::string set = "hf-quant/" + std::string(c.folder);
    const std::string path = std::filesystem::exists(data_path(set)) ? data_path(set) : golden_path(set);
    if (path.empty()) continue;  // in the further reference sets
    const model::Package package = must(model::open_package(at_path(path)));
    CHECK(package.kind == model::Kind::release);
    CHECK(package.kind_name == c.kind);
    CHECK(package.name_prefix == c.prefix);
    CHECK(package.has_vision);
    CHECK(package.conventions.norms_zero_centred == c.centred);
    CHECK(package.conventions.a_log_raw);
    CHECK_FALSE(package.conventions.value_heads_tiled);
    CHECK(package.find(c.prefix + std::string("layers.3.mlp.down_proj.weight"))->type_name == c.type);
    CHECK(model::describe(package, nullptr, false).find("\"" + std::string(c.type) + "\"") != std::string::npos);
    const Resolved resolved(package);
    CHECK(resolved.result.ok());
  }
}

TEST_CASE("a partner of a quantized matrix that is missing is named") {
  Pack pack = Pack::of_directory(data_path("hf-quant/awq"));
  edit_tensors(pack.files.at("model.safetensors"),
               [](RawTensor& t) { return t.name != "model.language_model.layers.0.mlp.up_proj.scales"; });
  const base::ErrorDetail error = open_error(pack.sources());
  CHECK(error.code == Code::missing_part);
  CHECK(error.file == "model.safetensors");
  CHECK(error.tensor == "model.language_model.layers.0.mlp.up_proj.qweight");
  CHECK(mentions(error, "up_proj.scales"));
}

TEST_CASE("GGUF files, whole and split") {
  const model::Package whole = must(model::open_package(at_path(data_path("gguf/mini-f32.gguf"))));
  CHECK(whole.kind == model::Kind::gguf);
  CHECK(whole.kind_name == "GGUF (clef)");
  CHECK(whole.name == "mini-f32");
  CHECK_FALSE(whole.has_vision);
  CHECK_FALSE(whole.conventions.norms_zero_centred);
  CHECK_FALSE(whole.conventions.a_log_raw);
  CHECK(whole.conventions.value_heads_tiled);
  CHECK_FALSE(whole.head.release_names);
  for (const char* number : {"1", "2", "3"}) {
    const model::Package parts =
        must(model::open_package(at_path(data_path("gguf/mini-bf16-0000" + std::string(number) + "-of-00003.gguf"))));
    CHECK(parts.name == "mini-bf16");
    CHECK(file_names(parts) == std::vector<std::string>{"mini-bf16-00001-of-00003.gguf",
                                                        "mini-bf16-00002-of-00003.gguf",
                                                        "mini-bf16-00003-of-00003.gguf"});
    CHECK(parts.tensors.size() == whole.tensors.size());
  }
}

TEST_CASE("the parts of a split file as open sources, all or none") {
  Pack pack;
  for (const char* number : {"1", "2", "3"}) {
    const std::string name = "mini-bf16-0000" + std::string(number) + "-of-00003.gguf";
    pack.files[name] = read_file(data_path("gguf/" + name));
  }
  CHECK(must(model::open_package(pack.sources())).files.size() == 3);
  // In any order, under any names.
  Pack renamed;
  renamed.files = {{"b", pack.files.begin()->second},
                   {"a", std::next(pack.files.begin())->second},
                   {"c", pack.files.rbegin()->second}};
  CHECK(model::open_package(renamed.sources()).ok());
  for (const auto& [name, bytes] : pack.files) {
    const base::ErrorDetail error = open_error(without(pack, name).sources());
    CHECK(error.code == Code::missing_part);
    CHECK(error.file == name);
  }
  const std::string directory = temporary_directory();
  copy_to("gguf/mini-bf16-00002-of-00003.gguf", directory);
  const base::ErrorDetail alone = open_error(at_path(directory));
  CHECK(alone.code == Code::missing_part);
  CHECK(alone.file == "mini-bf16-00001-of-00003.gguf");
}

TEST_CASE("a directory with one GGUF model opens it, with several lists them") {
  const std::string directory = temporary_directory();
  copy_to("gguf/mini-q8_0.gguf", directory);
  CHECK(must(model::open_package(at_path(directory))).name == "mini-q8_0");
  std::ofstream(directory + "/mmproj-mini.gguf", std::ios::binary) << gguf_of("clip");
  std::ofstream(directory + "/config.json") << "{}";  // repositories of GGUF files often hold one
  const model::Package package = must(model::open_package(at_path(directory)));
  CHECK(package.name == "mini-q8_0");
  REQUIRE(package.projector);
  CHECK(package.projector->name() == "mmproj-mini.gguf");
  // The projector that is named for the model's type, else the smallest; one that the caller names goes before both.
  std::ofstream(directory + "/mmproj-a.gguf", std::ios::binary) << gguf_of("clip") + std::string(64, '\0');
  CHECK(must(model::open_package(at_path(directory))).projector->name() == "mmproj-mini.gguf");
  std::ofstream(directory + "/mmproj-mini-q8_0.gguf", std::ios::binary) << gguf_of("clip") + std::string(64, '\0');
  CHECK(must(model::open_package(at_path(directory))).projector->name() == "mmproj-mini-q8_0.gguf");
  model::Files named = at_path(directory);
  named.entries.push_back({"mmproj", directory + "/mmproj-mini.gguf", nullptr});
  CHECK(must(model::open_package(named)).projector->name() == "mmproj-mini.gguf");
  for (const char* number : {"1", "2", "3"})
    copy_to("gguf/mini-bf16-0000" + std::string(number) + "-of-00003.gguf", directory);
  const base::ErrorDetail error = open_error(at_path(directory));
  CHECK(error.code == Code::invalid_argument);
  CHECK(mentions(error, "mini-q8_0.gguf"));
  CHECK(mentions(error, "mini-bf16-00001-of-00003.gguf"));
  CHECK_FALSE(mentions(error, "00002"));

  const std::string only_parts = temporary_directory();
  for (const char* number : {"1", "2", "3"})
    copy_to("gguf/mini-bf16-0000" + std::string(number) + "-of-00003.gguf", only_parts);
  CHECK(must(model::open_package(at_path(only_parts))).name == "mini-bf16");
}

TEST_CASE("GGUF files of something else") {
  const auto answer = [](const std::string& bytes) { return open_error(one_source("some.gguf", bytes)); };
  const auto check = [&](const std::string& bytes, Code code, std::string_view what) {
    const base::ErrorDetail error = answer(bytes);
    INFO(error.message);
    CHECK(error.code == code);
    CHECK(error.file == "some.gguf");
    CHECK(mentions(error, what));
  };
  check(gguf_of("clip"), Code::not_clef, "projector");
  check(gguf_of("llama"), Code::not_clef, "'llama'");
  check(gguf_of("qwen35moe"), Code::not_clef, "'qwen35moe'");
  const base::ErrorDetail headless = answer(gguf_of("qwen35"));
  CHECK(headless.code == Code::missing_part);
  CHECK(mentions(headless, "no decision head"));
  check(gguf_of("qwen35", "clef"), Code::bad_file, "no tensors 'clef.*'");
  check(gguf_of("qwen35", "", "clef.hidden_norm.weight"), Code::bad_file, "no key 'qwen35.decision.type'");
  check(gguf_of("qwen35", "openjev"), Code::not_clef, "'openjev'");
  check(gguf_of("clef", "kev"), Code::not_clef, "'kev'");
  check(gguf_of("clef"), Code::bad_file, "clef.decision.type");
  check(gguf_of("clef", "clef"), Code::missing_part, "token_embd.weight");
  GgufWriter nothing;
  nothing.add_f32_tensor("x", {1}, {1});
  check(nothing.bytes(), Code::not_clef, "general.architecture");
  const base::ErrorDetail big = open_error(at_path(data_path("gguf/big-endian.gguf")));
  CHECK(big.code == Code::unsupported);
  CHECK(mentions(big, "big-endian"));
}

TEST_CASE("a model with its projector, and two models") {
  model::Files files = at_path(data_path("gguf/mini-f32.gguf"));
  files.entries.push_back({"p.gguf", "", in_memory(gguf_of("clip"), "p.gguf")});
  const model::Package package = must(model::open_package(files));
  CHECK(package.has_vision);
  CHECK(file_names(package) == std::vector<std::string>{"mini-f32.gguf", "p.gguf"});
  files.entries.push_back({"", data_path("gguf/mini-q8_0.gguf"), nullptr});
  const base::ErrorDetail error = open_error(files);
  CHECK(error.code == Code::invalid_argument);
  CHECK(mentions(error, "mini-q8_0.gguf"));
}

TEST_CASE("a file cut anywhere is refused") {
  const std::string whole = read_file(data_path("gguf/mini-q8_0.gguf"));
  for (size_t size = 0; size < whole.size(); size += size < 4096 ? 61 : 9973) {
    INFO(size);
    REQUIRE_FALSE(model::open_package(one_source("cut.gguf", whole.substr(0, size))).ok());
  }
  Pack pack = tiny_flash();
  const std::string weights = pack.files.at("model.safetensors");
  for (size_t size = 0; size < weights.size(); size += size < 4096 ? 509 : 399989) {
    INFO(size);
    pack.files.at("model.safetensors") = weights.substr(0, size);
    const base::ErrorDetail error = open_error(pack.sources());
    REQUIRE(error.code == Code::bad_file);
    REQUIRE(error.file == "model.safetensors");
  }
}

TEST_CASE("the places of a decision head") {
  const model::Package ollama = must(model::open_package(at_path(data_path("gguf/mini-ollama-bf16.gguf"))));
  CHECK(ollama.kind_name == "GGUF (qwen35) with the head as Ollama stores it");
  CHECK(ollama.head.prefix == "clef.");
  CHECK(ollama.config.head.width == 32);
  CHECK(ollama.config.head.feedforward == 64);
  CHECK(ollama.config.head.routing_layers == 1);
  CHECK(Resolved(ollama).result.ok());

  const std::string headless = data_path("gguf/mini-headless/mini-headless-f16.gguf");
  const base::ErrorDetail alone = open_error(at_path(headless));
  CHECK(alone.code == Code::missing_part);
  CHECK(alone.file == "joint_head_config.json");
  CHECK(mentions(alone, "no decision head"));
  CHECK(mentions(alone, "--head"));
  const std::string head = data_path("gguf/mini-headless/head");
  for (const std::string& path : {head, head + "/joint_head.safetensors"}) {
    INFO(path);
    model::Files files = at_path(headless);
    files.entries.push_back({"head", path, nullptr});
    const model::Package package = must(model::open_package(files));
    CHECK(package.kind_name == "GGUF (qwen35) with a head of its own files");
    CHECK(Resolved(package).result.ok());
  }
  // Beside the file, or in memory under the release's names.
  const std::string together = temporary_directory();
  std::filesystem::copy(headless, together + "/model.gguf");
  for (const char* name : {"joint_head.safetensors", "joint_head_config.json"})
    std::filesystem::copy(head + "/" + name, together + "/" + name);
  CHECK(must(model::open_package(at_path(together + "/model.gguf"))).head.file == "joint_head.safetensors");
  CHECK(must(model::open_package(at_path(together))).head.file == "joint_head.safetensors");
  model::Files in_memory_head = at_path(headless);
  for (const char* name : {"joint_head.safetensors", "joint_head_config.json"})
    in_memory_head.entries.push_back({name, "", in_memory(read_file(head + "/" + name), name)});
  CHECK(model::open_package(in_memory_head).ok());

  // A head from elsewhere comes before the model's own.
  model::Files replaced = at_path(data_path("gguf/mini-f32.gguf"));
  replaced.entries.push_back({"head", head, nullptr});
  const model::Package package = must(model::open_package(replaced));
  CHECK(package.head.release_names);
  CHECK(Resolved(package).result.ok());

  const auto with_head = [&](const std::string& model, const std::string& path) {
    model::Files files = at_path(model);
    files.entries.push_back({"head", path, nullptr});
    return open_error(files);
  };
  CHECK(with_head(headless, together + "/nowhere").code == Code::not_found);
  const base::ErrorDetail incomplete = with_head(headless, data_path("gguf/mini-headless"));
  CHECK(incomplete.code == Code::missing_part);
  CHECK(incomplete.file == "joint_head_config.json");
  const base::ErrorDetail other = with_head(headless, data_path("models/tiny-flash"));
  CHECK(other.code == Code::bad_file);
  CHECK(mentions(other, "belongs to another model"));
  CHECK(with_head(data_path("models/tiny-clef"), head).code == Code::bad_file);

  model::Files no_projector = at_path(data_path("gguf/mini-f32.gguf"));
  no_projector.entries.push_back({"mmproj", data_path("gguf/mini-q8_0.gguf"), nullptr});
  const base::ErrorDetail projector = open_error(no_projector);
  CHECK(projector.code == Code::invalid_argument);
  CHECK(mentions(projector, "'clip'"));
}

TEST_CASE("further files") {
  const std::string root = golden_path("gguf");
  if (root.empty()) {
    WARN("skipped: CLEF_GOLDEN_DIR is empty");
    return;
  }
  CHECK(open_error(at_path(root + "/mmproj-mini-f16.gguf")).code == Code::not_clef);
  model::Files files = at_path(root + "/mini-f32.gguf");
  files.entries.push_back({"mmproj", root + "/mmproj-mini-f16.gguf", nullptr});
  CHECK(must(model::open_package(files)).has_vision);
}
