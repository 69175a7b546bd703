// The vision part in the forms in which files hold it, and what is wrong with files.
#include <cstring>

#include "model/vision.hpp"
#include "support.hpp"

namespace clef::test {
namespace {

struct Loaded {
  base::Memory memory{base::Allocator{}};
  base::Result<std::unique_ptr<const model::Vision>> result{base::Status(Code::internal, "not run")};

  explicit Loaded(const model::Files& files) {
    base::Watch watch{base::Hooks{}};
    const model::Package package = must(model::open_package(files));
    result = model::load_vision(package, {}, memory, watch);
  }
  const model::Vision& vision() const {
    if (!result.ok()) FAIL(std::string(result.status().message()));
    return *result.value();
  }
};

base::ErrorDetail fault(const model::Files& files) {
  const Loaded loaded(files);
  return error_of(loaded.result);
}

std::vector<std::pair<std::string, std::vector<float>>> values(const model::VisionWeights& weights) {
  std::vector<std::pair<std::string, std::vector<float>>> all;
  const auto add = [&](const std::string& name, const device::Weight& weight) {
    all.emplace_back(name, decode(weight));
  };
  add("patch", weights.patch), add("patch_bias", weights.patch_bias), add("positions", weights.positions);
  for (const layers::VisionBlockWeights& b : weights.blocks) {
    for (const auto* norm : {&b.norm1, &b.norm2}) add("norm", norm->scale), add("norm bias", norm->bias);
    for (const auto* w : {&b.q, &b.k, &b.v, &b.out, &b.up, &b.down}) add("matrix", *w);
    for (const auto* w : {&b.q_bias, &b.k_bias, &b.v_bias, &b.out_bias, &b.up_bias, &b.down_bias}) add("bias", *w);
  }
  const layers::MergerWeights& m = weights.merger;
  for (const auto* w : {&m.norm.scale, &m.norm.bias, &m.up, &m.up_bias, &m.down, &m.down_bias}) add("merger", *w);
  return all;
}

// tiny-clef's tower as a projector, in F32.
GgufWriter projector_of_tiny_clef(const std::string& type = "qwen3vl_merger") {
  GgufWriter writer;
  writer.add_string("general.architecture", "clip");
  writer.add_string("clip.projector_type", type);
  for (const auto& [key, value] :
       {std::pair("block_count", 1u), std::pair("embedding_length", 144u), std::pair("feed_forward_length", 200u),
        std::pair("attention.head_count", 2u), std::pair("patch_size", 16u), std::pair("projection_dim", 96u),
        std::pair("spatial_merge_size", 2u)})
    writer.add_u32(std::string("clip.vision.") + key, value);
  writer.add_f32("clip.vision.attention.layer_norm_epsilon", 1e-6f);
  const std::pair<const char*, const char*> kNames[] = {{"patch_embed.proj", "v.patch_embd"},
                                                        {"pos_embed", "v.position_embd"},
                                                        {"blocks.0.norm1", "v.blk.0.ln1"},
                                                        {"blocks.0.norm2", "v.blk.0.ln2"},
                                                        {"blocks.0.attn.qkv", "v.blk.0.attn_qkv"},
                                                        {"blocks.0.attn.proj", "v.blk.0.attn_out"},
                                                        {"blocks.0.mlp.linear_fc1", "v.blk.0.ffn_up"},
                                                        {"blocks.0.mlp.linear_fc2", "v.blk.0.ffn_down"},
                                                        {"merger.norm", "v.post_ln"},
                                                        {"merger.linear_fc1", "mm.0"},
                                                        {"merger.linear_fc2", "mm.2"}};
  const model::Package package = must(model::open_package(at_path(data_path("models/tiny-clef"))));
  for (const auto& [release, gguf] : kNames)
    for (const char* part : {".weight", ".bias"}) {
      const container::TensorView* tensor = package.find(std::string("model.visual.") + release + part);
      if (!tensor) continue;
      const std::vector<float> all = decode(*tensor);
      if (tensor->shape.size() != 5) {
        writer.add_f32_tensor(std::string(gguf) + part, tensor->shape, all);
        continue;
      }
      for (size_t frame = 0; frame < 2; ++frame) {
        std::vector<float> half;
        for (size_t i = 0; i < all.size(); ++i)
          if (i / 256 % 2 == frame) half.push_back(all[i]);
        writer.add_f32_tensor(std::string(gguf) + part + (frame == 0 ? "" : ".1"), {144, 3, 16, 16}, half);
      }
    }
  return writer;
}

model::Files with_projector(const std::string& projector) {
  model::Files files = at_path(data_path("gguf/tiny-clef-bf16.gguf"));
  files.entries.push_back({"mmproj", "", in_memory(projector, "mmproj")});
  return files;
}

}  // namespace

TEST_CASE("a projector holds the release's tower under other names") {
  const Loaded release(at_path(data_path("models/tiny-clef")));
  const std::string bytes = projector_of_tiny_clef().bytes();
  model::Files files = at_path(data_path("gguf/tiny-clef-bf16.gguf"));
  const std::string path = temporary_directory() + "/mmproj.gguf";
  projector_of_tiny_clef().write(path);
  files.entries.push_back({"mmproj", path, nullptr});
  const Loaded projector(files);
  CHECK(values(projector.vision().weights) == values(release.vision().weights));
  // Without keys of its own a projector has the limits of Clef.
  CHECK(projector.vision().processor.image.shortest_edge == 65536);
  CHECK(projector.vision().processor.image.mean[0] == 0.5);
  CHECK(projector.vision().config.grid == 48);

  GgufWriter limited = projector_of_tiny_clef();
  limited.add_u32("clip.vision.image_min_pixels", 8192).add_u32("clip.vision.image_max_pixels", 65536);
  limited.add_f32s("clip.vision.image_mean", {0.48f, 0.45f, 0.40f});
  limited.write(path);
  const Loaded other(files);
  CHECK(other.vision().processor.image.shortest_edge == 8192);
  CHECK(other.vision().processor.image.longest_edge == 65536);
  CHECK(other.vision().processor.image.mean[0] == 0.5);  // older converters write those of another model
}

TEST_CASE("MLX keeps the channels of patches at the end") {
  const Loaded plain(tiny_clef().sources());
  Pack pack = tiny_clef();
  size_t moved = 0;
  for (auto& [name, bytes] : pack.files) {
    if (name.find("model") != 0 || name.find(".safetensors") == name.npos || name.find(".json") != name.npos) continue;
    edit_tensors(bytes, [&](RawTensor& t) {
      if (t.shape.size() != 5) return true;
      std::string out(t.bytes.size(), '\0');
      const size_t hidden = 144, channels = 3, rest = 2 * 16 * 16, width = 2;  // BF16
      for (size_t row = 0; row < hidden; ++row)
        for (size_t c = 0; c < channels; ++c)
          for (size_t i = 0; i < rest; ++i)
            std::memcpy(&out[((row * rest + i) * channels + c) * width],
                        &t.bytes[((row * channels + c) * rest + i) * width], width);
      t.bytes = out, t.shape = {144, 2, 16, 16, 3};
      ++moved;
      return true;
    });
  }
  REQUIRE(moved == 1);
  const Loaded mlx(pack.sources());
  CHECK(decode(mlx.vision().weights.patch) == decode(plain.vision().weights.patch));
}

TEST_CASE("a vision part that is wrong is refused, the text part works on") {
  const auto config = [](std::string_view from, std::string_view to) {
    return fault(tiny_clef().replace("config.json", from, to).sources());
  };
  CHECK(config("\"gelu_pytorch_tanh\"", "\"gelu\"").code == Code::unsupported);
  CHECK(config("\"deepstack_visual_indexes\": []", "\"deepstack_visual_indexes\": [8]").code == Code::unsupported);
  CHECK(mentions(config("\"out_hidden_size\": 96", "\"out_hidden_size\": 95"), "belong to different models"));
  CHECK(mentions(config("\"num_position_embeddings\": 2304", "\"num_position_embeddings\": 2305"), "square"));
  CHECK(mentions(config("\"num_heads\": 2", "\"num_heads\": 5"), "heads"));
  CHECK(config("\"depth\": 1", "\"depth\": 0").code == Code::bad_file);
  const base::ErrorDetail deeper = config("\"depth\": 1", "\"depth\": 2");
  CHECK(deeper.code == Code::missing_part);
  CHECK(deeper.tensor.find("blocks.1") != std::string::npos);

  const auto processor = [](std::string_view from, std::string_view to) {
    return fault(tiny_clef().replace("processor_config.json", from, to).sources());
  };
  CHECK(processor("\"do_resize\": true", "\"do_resize\": false").code == Code::unsupported);
  CHECK(processor("\"resample\": 3", "\"resample\": 2").code == Code::unsupported);
  CHECK(mentions(processor("\"patch_size\": 16", "\"patch_size\": 14"), "patches of 14"));
  CHECK(processor("0.5,\n      0.5,\n      0.5", "0.5,\n      0.5").code == Code::bad_file);
  CHECK(processor("\"fps\": 2", "\"fps\": 0").code == Code::bad_file);
  CHECK(mentions(processor("\"longest_edge\": 16777216", "\"longest_edge\": 100"), "shortest_edge"));

  // All of these models read text.
  const Resolved text(
      must(model::open_package(tiny_clef().replace("config.json", "\"gelu_pytorch_tanh\"", "\"gelu\"").sources())));
  CHECK(text.result.ok());
  Pack no_processor = tiny_clef();
  no_processor.files.erase("processor_config.json");
  CHECK(Loaded(no_processor.sources()).vision().processor.image.longest_edge == 16777216);

  CHECK(fault(with_projector(projector_of_tiny_clef("ldp").bytes())).code == Code::not_clef);
  GgufWriter deepstack = projector_of_tiny_clef();
  deepstack.add_array("clip.vision.is_deepstack_layers", GgufWriter::boolean, 1, std::string("\1", 1));
  CHECK(fault(with_projector(deepstack.bytes())).code == Code::unsupported);
  CHECK(fault(at_path(data_path("gguf/tiny-clef-bf16.gguf"))).code == Code::missing_part);
}

}  // namespace clef::test
