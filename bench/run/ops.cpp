// clef-bench ops: the parts of a pass on their own, on one thread.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu.hpp"
#include "commands.hpp"
#include "kernels/kernels.hpp"
#include "peaks.hpp"
#include "report.hpp"
#include "synth/blocks.hpp"
#include "synth/geometry.hpp"
#include "synth/tensors.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using clef::quant::Format;

constexpr size_t kPanel = 64;   // weight rows that are multiplied at once, as the CPU device does
constexpr size_t kSlice = 256;  // inputs of one chain of sums
constexpr size_t kRowBlock = 64;
constexpr size_t kPanels = 4;  // of a matrix are enough to know its speed

struct Arguments {
  std::string geometry = "clef-flash", tokens = "64,512", isa = "auto", svg;
  unsigned repeats = 5;
  bool json = false;
};

// Least seconds of a call.
template <class Call>
double best_of(unsigned repeats, const Call& call) {
  double best = 1e30;
  for (unsigned i = 0; i <= repeats; ++i) {  // one more to warm up
    const auto begin = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, taken.count());
  }
  return best;
}

struct Result {
  std::string name;
  unsigned tokens = 0;  // 0: has none
  double rate = 0, share = 0, seconds = 0;
};

class Operations {
 public:
  explicit Operations(const Arguments& arguments) : arguments_(arguments), table_(clef::kernels::table(level())) {
    const std::vector<Peak> peaks = measure_peaks(1);
    if (const Peak* peak = peak_for(peaks, "exact")) f32_ = peak->per_second;
    for (const Peak& peak : peaks)
      if (peak.kind == "memory") memory_ = peak.per_second;
  }

  int run() {
    measure_matmuls();
    measure_decoding();
    if (arguments_.json) {
      std::puts(json().dump(2).c_str());
    } else {
      print();
    }
    if (arguments_.svg.empty()) return 0;
    std::vector<Bar> bars;
    for (const Result& each : matmuls_)
      bars.push_back(
          {each.name + ", " + std::to_string(each.tokens), each.rate, number("%.0f GOP/s", each.rate / 1e9)});
    for (const Result& each : formats_)
      bars.push_back({"decode " + each.name, each.rate, number("%.2f G values/s", each.rate / 1e9)});
    return write_file(arguments_.svg, bar_chart(std::string("Kernels ") + table_.name + ", one thread", bars)) ? 0 : 1;
  }

 private:
  // Never above what the processor has.
  int level() const {
    const int best = static_cast<int>(clef::base::detect_isa());
    for (int level = 0; level < best; ++level)
      if (clef::base::isa_name(static_cast<clef::base::IsaLevel>(level)) == arguments_.isa) return level;
    return best;
  }

  // Matrices of a layer of either kind, those with equal shapes once.
  void measure_matmuls() {
    const synth::Geometry g = synth::read_geometry(arguments_.geometry);
    std::vector<std::pair<int64_t, int64_t>> seen;
    for (const synth::Tensor& tensor : synth::list_tensors(g, false)) {
      if (tensor.content != synth::Content::matrix || tensor.name.find("blk.") != 0) continue;
      const std::pair<int64_t, int64_t> shape(tensor.shape[0], tensor.shape[1]);
      if (std::find(seen.begin(), seen.end(), shape) != seen.end()) continue;
      seen.push_back(shape);
      for (const unsigned tokens : parse_list(arguments_.tokens, "--tokens"))
        measure_matmul(static_cast<size_t>(shape.second), static_cast<size_t>(shape.first), tokens);
    }
  }

  // Some panels of the matrix, which lie ready, times all tokens; seconds are those of the whole matrix.
  void measure_matmul(size_t in, size_t out, unsigned tokens) {
    const size_t panels = std::min(kPanels, (out + kPanel - 1) / kPanel);
    std::vector<float> a(tokens * in), b(panels * kPanel * in), c(kRowBlock * kPanel);
    synth::Random random(1);
    for (float& value : a) value = static_cast<float>(random.uniform(-1, 1));
    for (float& value : b) value = static_cast<float>(random.uniform(-0.05, 0.05));
    const double seconds = best_of(arguments_.repeats, [&] {
      for (size_t panel = 0; panel < panels; ++panel) {
        for (size_t row = 0; row < tokens; row += kRowBlock) {
          const size_t rows = std::min<size_t>(kRowBlock, tokens - row);
          for (size_t k = 0; k < in; k += kSlice)
            table_.gemm_f32(rows, kPanel, std::min(kSlice, in - k), a.data() + row * in + k, in,
                            b.data() + (panel * in + k) * kPanel, kPanel, c.data(), kPanel, k > 0);
        }
      }
    });
    const double rate = 2.0 * static_cast<double>(tokens * in * panels * kPanel) / seconds;
    const double whole = 2.0 * static_cast<double>(tokens) * static_cast<double>(in * out);
    matmuls_.push_back({"f32 " + std::to_string(in) + " to " + std::to_string(out), tokens, rate,
                        f32_ > 0 ? rate / f32_ : 0, whole / rate});
  }

  void measure_decoding() {
    synth::Filler filler(1);
    for (const Format* format : clef::quant::formats()) {
      if (format->ggml_id < 0 || !format->decode || !synth::can_make(*format)) continue;
      synth::Tensor tensor;
      tensor.shape = {1024, 4096}, tensor.format = format;
      tensor.bytes = tensor.values() / format->block_values * format->block_bytes;
      std::vector<std::byte> bytes;
      filler.write(tensor,
                   [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
      std::vector<float> row(4096);
      const size_t row_bytes = bytes.size() / 1024;
      const double seconds = best_of(arguments_.repeats, [&] {
        for (size_t i = 0; i < 1024; ++i) format->decode(bytes.data() + i * row_bytes, row.data(), row.size());
      });
      const double per_second = static_cast<double>(bytes.size()) / seconds;
      formats_.push_back({format->name, 0, static_cast<double>(tensor.values()) / seconds,
                          memory_ > 0 ? per_second / memory_ : 0, seconds});
    }
  }

  Json json() const {
    Json rows = Json::array();
    for (const Result& each : matmuls_)
      rows.push_back({{"operation", "matmul"},
                      {"name", each.name},
                      {"tokens", each.tokens},
                      {"seconds", each.seconds},
                      {"gops", each.rate / 1e9},
                      {"share_of_peak", each.share}});
    for (const Result& each : formats_)
      rows.push_back({{"operation", "decode"},
                      {"name", each.name},
                      {"values_per_second", each.rate},
                      {"share_of_memory_peak", each.share}});
    return {{"kernels", table_.name}, {"f32_peak", f32_}, {"memory_peak", memory_}, {"rows", rows}};
  }

  void print() const {
    std::printf("kernels %s, one thread; peaks: f32 %.0f GOP/s, memory %.1f GB/s\n\n", table_.name, f32_ / 1e9,
                memory_ / 1e9);
    std::vector<std::vector<std::string>> table = {{"matmul", "tokens", "ms", "GOP/s", "of peak"}};
    for (const Result& each : matmuls_)
      table.push_back({each.name, std::to_string(each.tokens), number("%.2f", 1e3 * each.seconds),
                       number("%.1f", each.rate / 1e9), number("%.1f %%", 100 * each.share)});
    print_table(table);
    std::puts("");
    table = {{"decode", "G values/s", "of memory peak"}};
    for (const Result& each : formats_)
      table.push_back({each.name, number("%.2f", each.rate / 1e9), number("%.1f %%", 100 * each.share)});
    print_table(table);
  }

  const Arguments& arguments_;
  const clef::kernels::Table& table_;
  double f32_ = 0, memory_ = 0;
  std::vector<Result> matmuls_, formats_;
};

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("ops", "Time matmul kernels and the decoding of formats");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("geometry", arguments->geometry, "clef-flash, clef, or a config.json")->capture_default_str();
  command->add_option("--tokens", arguments->tokens, "rows that a matrix is multiplied with")->capture_default_str();
  command->add_option("--isa", arguments->isa, "highest level to use")
      ->check(CLI::IsMember({"auto", "baseline", "avx2", "avx512"}))
      ->capture_default_str();
  command->add_option("--repeat", arguments->repeats, "runs after the first, the best of which counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "JSON instead of tables");
  command->add_option("--svg", arguments->svg, "a picture of the speeds");
  command->callback([arguments, &action] { action = [arguments] { return Operations(*arguments).run(); }; });
}

}  // namespace bench
