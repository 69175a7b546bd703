// clef inspect: what it shows, comparisons, and that it reads no more than headers.
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"
#include "support/gguf_writer.hpp"

using namespace clef::test;
using Json = nlohmann::ordered_json;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The header of a GGUF file of Clef-Flash in BF16: all of its tensors, none of their bytes.
class FlashHeader {
 public:
  FlashHeader() {
    add_keys();
    add_tokenizer();
    add_backbone();
    add_head();
  }
  // Writes it with `bytes` of nothing behind it; false when the file system refuses.
  bool write(const std::string& path) const {
    const std::string header = writer_.header();
    std::ofstream out(path, std::ios::binary);
    if (!out.write(header.data(), static_cast<std::streamsize>(header.size())) || !out.flush()) return false;
    return truncate(path.c_str(), static_cast<off_t>(header.size() + 32 + data_)) == 0;
  }
  uint64_t data_bytes() const { return data_; }

 private:
  void add_keys() {
    writer_.add_string("general.architecture", "clef");
    for (const auto& [key, value] :
         std::initializer_list<std::pair<const char*, uint32_t>>{{"block_count", 32},
                                                                 {"context_length", 262144},
                                                                 {"embedding_length", 4096},
                                                                 {"feed_forward_length", 12288},
                                                                 {"attention.head_count", 16},
                                                                 {"attention.head_count_kv", 4},
                                                                 {"attention.key_length", 256},
                                                                 {"attention.value_length", 256},
                                                                 {"ssm.conv_kernel", 4},
                                                                 {"ssm.state_size", 128},
                                                                 {"ssm.group_count", 16},
                                                                 {"ssm.time_step_rank", 32},
                                                                 {"ssm.inner_size", 4096},
                                                                 {"rope.dimension_count", 64},
                                                                 {"decision.routing_block_count", 2},
                                                                 {"decision.block_count", 4},
                                                                 {"decision.head_count", 16}})
      writer_.add_u32(std::string("clef.") + key, value);
    writer_.add_f32("clef.rope.freq_base", 1e7f).add_f32("clef.attention.layer_norm_rms_epsilon", 1e-6f);
    writer_.add_string("clef.decision.type", "clef");
  }
  // As many tokens and merges as the real one has: characters first, then numbered ones, made of two of those before.
  void add_tokenizer() {
    constexpr int kBase = 248044, kAll = 248320, kAdded = 33, kBytes = 256;
    std::vector<std::string> tokens, merges;
    for (int i = 0; i < kBytes; ++i) tokens.push_back(byte_character(i));
    const auto place = [&](int i) { return tokens[static_cast<size_t>(i)]; };
    // All pairs of characters, then pairs with one more character.
    for (int i = kBytes; i < kBase; ++i) {
      const int n = i - kBytes, left = n / kBytes, right = n % kBytes;
      tokens.push_back(place(left) + place(right));
      merges.push_back(place(left) + " " + place(right));
    }
    std::vector<int32_t> types(kBase, 1);
    for (int i = kBase; i < kAll; ++i) {
      tokens.push_back("<|token_" + std::to_string(i) + "|>");
      types.push_back(i < kBase + kAdded ? 3 : 5);
    }
    writer_.add_string("tokenizer.ggml.model", "gpt2").add_string("tokenizer.ggml.pre", "qwen35");
    writer_.add_strings("tokenizer.ggml.tokens", tokens).add_i32s("tokenizer.ggml.token_type", types);
    writer_.add_strings("tokenizer.ggml.merges", merges);
  }
  // The alphabet of byte-level tokens.
  static std::string byte_character(int byte) {
    int next = 256;
    for (int i = 0; i <= byte; ++i) {
      const bool plain = (i >= 33 && i <= 126) || (i >= 161 && i <= 172) || i >= 174;
      const int code = plain ? i : next++;
      if (i < byte) continue;
      if (code < 128) return std::string(1, static_cast<char>(code));
      return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    }
    return {};
  }

  void add(const std::string& name, const std::vector<int64_t>& shape) {
    const bool vector = shape.size() == 1 || name.ends_with("conv1d.weight");
    uint64_t bytes = vector ? 4 : 2;
    for (const int64_t size : shape) bytes *= static_cast<uint64_t>(size);
    writer_.add_tensor(name, vector ? 0 : 30, shape, {}, data_);
    data_ += (bytes + 31) / 32 * 32;
  }
  void add_dense(const std::string& name, int64_t out, int64_t in) {
    add(name + ".weight", {out, in}), add(name + ".bias", {out});
  }
  void add_norm(const std::string& name, int64_t size) { add(name + ".weight", {size}), add(name + ".bias", {size}); }

  void add_backbone() {
    add("token_embd.weight", {248320, 4096}), add("output.weight", {248320, 4096}), add("output_norm.weight", {4096});
    for (int i = 0; i < 32; ++i) {
      const std::string at = "blk." + std::to_string(i) + ".";
      add(at + "attn_norm.weight", {4096}), add(at + "post_attention_norm.weight", {4096});
      add(at + "ffn_gate.weight", {12288, 4096}), add(at + "ffn_up.weight", {12288, 4096});
      add(at + "ffn_down.weight", {4096, 12288});
      if (i % 4 == 3) {
        add(at + "attn_q.weight", {8192, 4096}), add(at + "attn_k.weight", {1024, 4096});
        add(at + "attn_v.weight", {1024, 4096}), add(at + "attn_output.weight", {4096, 4096});
        add(at + "attn_q_norm.weight", {256}), add(at + "attn_k_norm.weight", {256});
        continue;
      }
      add(at + "attn_qkv.weight", {8192, 4096}), add(at + "attn_gate.weight", {4096, 4096});
      add(at + "ssm_alpha.weight", {32, 4096}), add(at + "ssm_beta.weight", {32, 4096});
      add(at + "ssm_conv1d.weight", {8192, 4}), add(at + "ssm_a", {32}), add(at + "ssm_dt.bias", {32});
      add(at + "ssm_norm.weight", {128}), add(at + "ssm_out.weight", {4096, 4096});
    }
  }
  void add_head() {
    for (const char* name : {"memory", "question", "option_question", "global", "option_context", "option_lexical"})
      add("decision.proj_" + std::string(name) + ".weight", {1024, 4096});
    add_norm("decision.hidden_norm", 4096);
    for (const char* name : {"option_summary_norm", "field_norm", "option_norm"})
      add_norm("decision." + std::string(name), 1024);
    add("token_types.weight", {3, 1024}), add("decision.scales", {3});
    add_dense("decision.scorer", 1024, 4096), add_dense("decision.scorer_out", 1, 1024);
    for (int i = 0; i < 6; ++i) {
      const std::string at = "dec.blk." + std::to_string(i) + ".";
      add_dense(at + "ffn_up", 4096, 1024), add_dense(at + "ffn_down", 1024, 4096);
      add_norm(at + "cross_attn_norm", 1024), add_norm(at + "ffn_norm", 1024);
      add_norm(at + (i < 2 ? "cross_attn_norm_kv" : "attn_norm"), 1024);
      for (const char* letter : {"q", "k", "v", "o"}) {
        add_dense(at + "cross_attn_" + letter, 1024, 1024);
        if (i >= 2) add_dense(at + "attn_" + letter, 1024, 1024);
      }
    }
  }

  GgufWriter writer_;
  uint64_t data_ = 0;
};

}  // namespace

TEST_CASE("inspect reads the headers of a large file and nothing else") {
  const FlashHeader flash;
  CHECK(flash.data_bytes() > uint64_t{17'000'000'000});
  const std::string path = temporary_directory() + "/clef-flash-bf16.gguf";
  if (!flash.write(path)) {
    unlink(path.c_str());
    WARN("the file system holds no sparse file of 18 GB; not tested");
    return;
  }
  double best = 1e9;
  uint64_t most = 0;
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = run({"inspect", path});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.empty());
    CHECK(has(outcome.out, "geometry.vocabulary           248320\n"));
    CHECK(has(outcome.out, "tokenizer.rule                qwen2\n"));
    CHECK(has(outcome.out, "tokenizer.size                248320\n"));
    best = std::min(best, outcome.seconds);
    most = std::max(most, outcome.peak_bytes);
  }
  unlink(path.c_str());
  INFO(best << " s, " << most / 1048576.0 << " MiB");
#if !defined(CLEF_SANITIZED)
  CHECK(most <= uint64_t{64} << 20);
#endif
#if defined(NDEBUG) && !defined(CLEF_SANITIZED)
  CHECK(best < 0.2);
#endif
}

TEST_CASE("inspect shows how the bytes are spent") {
  const Outcome outcome = run({"inspect", data_path("gguf/mini-q8_0.gguf")});
  REQUIRE(outcome.status == 0);
  CHECK(has(outcome.out, "\nkind                          GGUF (clef)\n"));
  CHECK(has(outcome.out, "\nhead.form                     inside (clef)\n"));
  CHECK(has(outcome.out, "\nhead.types                    BF16, F32, Q8_0\n"));
  CHECK(has(outcome.out,
            "\ntype  tensors  bytes       share     bits per weight\n"
            "BF16  1        64 B        0.01 %    16\n"
            "F32   63       57.98 KiB   13.87 %   32\n"
            "Q8_0  56       359.92 KiB  86.11 %   8.5\n"
            "all   120      417.97 KiB  100.00 %  9.465\n"));
  CHECK_FALSE(has(outcome.out, "types.Q8_0"));
}

TEST_CASE("inspect compares two files of one model") {
  const std::string exact = data_path("gguf/mini-f32.gguf"), rounded = data_path("gguf/mini-q8_0.gguf");
  const Outcome outcome = run({"inspect", exact, "--compare", rounded});
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  std::vector<std::string> lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 27);
  CHECK(lines[0] == "a  mini-f32, GGUF (clef)");
  CHECK(lines[1] == "b  mini-q8_0, GGUF (clef)");
  CHECK(has(lines[2], "56 of 120 tensors, 361756 parameters, differ: relative error 0.0046"));
  CHECK(lines[4].rfind("tensor ", 0) == 0);
  CHECK(lines[26] == "36 more tensors differ; --all lists all");
  CHECK(lines_of(run({"inspect", exact, "--compare", rounded, "--all"}).out).size() == 125);

  const Outcome raw = run({"inspect", exact, "--compare", rounded, "--json"});
  REQUIRE(raw.status == 0);
  const Json json = Json::parse(raw.out);
  double largest = 0;
  std::string name;
  for (const Json& tensor : json["tensors"]) {
    const double error = tensor["relative_error"];
    CHECK((tensor["type_b"] == "Q8_0") == (error > 0));
    if (error > largest) largest = error, name = tensor["name"];
  }
  CHECK(lines[5].rfind(name + " ", 0) == 0);  // the worst comes first
  CHECK(json["total"]["equal"] == false);

  const Outcome same = run({"inspect", exact, "--compare", exact});
  CHECK(same.status == 0);
  CHECK(has(same.out, "\nall weights are equal (120 tensors, 361756 parameters)\n"));
  CHECK(lines_of(same.out).size() == 3);

  const Outcome other = run({"inspect", exact, "--compare", data_path("models/tiny-flash")});
  CHECK(other.status == 1);
  CHECK(other.out.empty());
  CHECK(has(other.err, "layers is 4 in mini-f32 and 8 in tiny-flash"));
  CHECK(run({"inspect", exact, "--compare", exact + "x"}).status == 1);
  CHECK(run({"inspect", exact, "--all"}).status == 2);
}
