// clef-bench picture: a decision about one picture, stage by stage.
#include <chrono>
#include <clef/clef.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/cpu.hpp"
#include "commands.hpp"
#include "decide/media_plan.hpp"
#include "device/cpu/cpu.hpp"
#include "media/decode.hpp"
#include "media/patch_stream.hpp"
#include "model/model.hpp"
#include "model/vision_pass.hpp"
#include "peaks.hpp"
#include "report.hpp"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model, picture, projector;
  unsigned threads = 1, repeats = 3;
  uint64_t max_tokens = 0;
  bool json = false;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class T>
T checked(clef::base::Result<T> result) {
  if (!result.ok()) throw std::runtime_error(std::string(result.status().message()));
  return std::move(result).value();
}
void check(const clef::base::Status& status) {
  if (!status.ok()) throw std::runtime_error(std::string(status.message()));
}
template <class T>
T checked(clef::Result<T> result) {
  if (!result) throw std::runtime_error(std::string(result.error().message()));
  return std::move(*result);
}

// Seconds of the stages of one run.
struct Times {
  double decode = 0, patches = 0, tower = 0;
};

class Measurement {
 public:
  explicit Measurement(const Arguments& arguments) : arguments_(arguments) {
    std::ifstream in(arguments.picture, std::ios::binary);
    if (!in) throw std::runtime_error("'" + arguments.picture + "' cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    clef::model::Files files;
    files.entries.push_back({"", arguments.model, nullptr});
    if (!arguments.projector.empty()) files.entries.push_back({"mmproj", arguments.projector, nullptr});
    model_ = checked(clef::model::Model::load(files, {}, memory_));
    clef::base::Watch watch{clef::base::Hooks{}};
    vision_ = checked(model_->vision(watch));
    clef::decide::MediaOptions options;
    options.max_image_tokens = arguments.max_tokens;
    size_ = checked(clef::decide::picture_size({encoded(), {}}, options, vision_->processor));
  }

  int run() {
    for (const Peak& peak : measure_peaks(arguments_.threads))
      if (peak.kind == "f32") peak_ = peak.per_second;
    for (unsigned i = 0; i <= arguments_.repeats; ++i) {  // one more to warm up
      const Times times = measure_stages();
      const double whole = measure_decision();
      if (i == 1 || (i > 1 && whole < whole_)) whole_ = whole, best_ = times;
    }
    if (arguments_.json) {
      std::puts(json().dump(2).c_str());
    } else {
      print();
    }
    return 0;
  }

 private:
  std::span<const std::byte> encoded() const { return std::as_bytes(std::span(bytes_)); }

  Times measure_stages() {
    Times times;
    const auto executor = clef::base::make_pool_executor(arguments_.threads);
    const auto device = clef::device::make_cpu_device(clef::base::detect_isa(), *executor, memory_);
    double begin = now();
    clef::media::Image image = checked(clef::media::decode(encoded(), {}, memory_));
    times.decode = now() - begin;
    const clef::media::Processor processor;
    const clef::media::Normalisation values(processor);
    std::vector<clef::media::ScaledRows> rows;
    rows.push_back(
        checked(clef::media::ScaledRows::create(std::move(image), size_.target.width, size_.target.height, memory_)));
    auto stream = checked(clef::media::PatchStream::create(std::move(rows), processor, values, memory_));
    const auto read = [&](int64_t, int64_t count, float* out) {
      const double started = now();
      const auto wanted = static_cast<uint64_t>(count);
      auto status = stream.read(wanted, {out, static_cast<size_t>(wanted * clef::media::patch_columns(processor))});
      times.patches += now() - started;
      return status;
    };
    const auto tokens = static_cast<int64_t>(size_.target.tokens);
    const clef::device::Role role = clef::device::Role::residual;
    const auto arena = checked(device->allocate_arena(device->buffer_bytes(tokens, vision_->config.out, role)));
    const auto out = device->place(*arena, 0, tokens, vision_->config.out, role);
    begin = now();
    auto pass = checked(clef::model::VisionPass::create(*vision_, *device, memory_,
                                                        {{static_cast<int32_t>(size_.target.rows),
                                                          static_cast<int32_t>(size_.target.columns),
                                                          read,
                                                          {out.get(), 0, tokens}}},
                                                        0));
    while (!pass->finished()) check(pass->step());
    times.tower = now() - begin - times.patches;
    return times;
  }

  // By the public interface, everything included.
  double measure_decision() {
    if (!session_) {
      clef::RuntimeOptions options;
      options.threads = arguments_.threads;
      const clef::Runtime runtime = checked(clef::Runtime::create(options));
      clef::Source source = checked(clef::Source::create(runtime));
      source.add_path(arguments_.model).value();
      if (!arguments_.projector.empty()) source.add_path(arguments_.projector, "mmproj").value();
      session_.emplace(checked(checked(clef::Model::load(runtime, source)).session()));
    }
    const clef::Schema schema = checked(clef::Schema::parse(R"({"q":{"type":"noul"}})"));
    clef::State state = checked(clef::State::create());
    state.add_image(bytes_.data(), bytes_.size()).value();
    clef::Options options;
    options.max_image_tokens = arguments_.max_tokens;
    const double begin = now();
    const clef::Decision decision = checked(session_->decide(schema, state, options));
    const double taken = now() - begin;
    tokens_ = decision.input_tokens();
    return taken;
  }

  // Two for each multiply-add of the matmuls, scores and values of the attention.
  double tower_operations() const {
    const clef::model::VisionConfig& c = vision_->config;
    const auto hidden = static_cast<double>(c.hidden), inner = static_cast<double>(c.intermediate);
    const auto patches = static_cast<double>(size_.target.patches()), merged = static_cast<double>(c.merged_rows());
    const double block = 4 * hidden * hidden + 2 * hidden * inner + 2 * patches * hidden;
    const double group = merged * hidden, merger = (group * group + group * static_cast<double>(c.out)) / merged;
    return 2 * patches * (static_cast<double>(c.patch_values()) * hidden + c.blocks * block + merger);
  }

  Json json() const {
    return {{"picture", {size_.width, size_.height}},
            {"target", {size_.target.width, size_.target.height}},
            {"patches", size_.target.patches()},
            {"input_tokens", tokens_},
            {"threads", arguments_.threads},
            {"decode_seconds", best_.decode},
            {"patches_seconds", best_.patches},
            {"tower_seconds", best_.tower},
            {"decision_seconds", whole_},
            {"tower_gops", tower_operations() / best_.tower / 1e9},
            {"share_of_peak", peak_ > 0 ? tower_operations() / best_.tower / peak_ : 0}};
  }

  void print() const {
    std::printf("%u x %u pixels, scaled to %u x %u: %llu patches; %llu tokens in all; %u thread%s\n\n", size_.width,
                size_.height, size_.target.width, size_.target.height,
                static_cast<unsigned long long>(size_.target.patches()), static_cast<unsigned long long>(tokens_),
                arguments_.threads, arguments_.threads == 1 ? "" : "s");
    const double rest = whole_ - best_.decode - best_.patches - best_.tower;
    const auto row = [](const char* stage, double seconds, const std::string& rate, const std::string& share) {
      return std::vector<std::string>{stage, number("%.1f", 1e3 * seconds), rate, share};
    };
    const double rate = tower_operations() / best_.tower;
    print_table({{"stage", "ms", "GOP/s", "of the f32 peak"},
                 row("decode", best_.decode, "", ""),
                 row("turn, scale, cut", best_.patches, "", ""),
                 row("tower and merger", best_.tower, number("%.1f", rate / 1e9),
                     peak_ > 0 ? number("%.1f %%", 100 * rate / peak_) : "-"),
                 row("backbone and head", rest, "", ""),
                 row("whole decision", whole_, "", "")});
  }

  const Arguments& arguments_;
  std::string bytes_;
  clef::base::Memory memory_{clef::base::Allocator{}};
  std::shared_ptr<const clef::model::Model> model_;
  const clef::model::Vision* vision_ = nullptr;
  clef::decide::PictureSize size_;
  std::optional<clef::Session> session_;
  Times best_;
  double whole_ = 0, peak_ = 0;
  uint64_t tokens_ = 0;
};

}  // namespace

void add_picture(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("picture", "Time a decision about a picture, stage by stage");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("model", arguments->model, "a GGUF file or a release directory")->required();
  command->add_option("picture", arguments->picture, "a JPEG, PNG or WebP file")->required();
  command->add_option("--mmproj", arguments->projector, "the vision part of a GGUF model");
  command->add_option("--threads", arguments->threads, "threads")->check(CLI::Range(1, 1024))->capture_default_str();
  command->add_option("--max-image-tokens", arguments->max_tokens, "scales larger pictures down");
  command->add_option("--repeat", arguments->repeats, "runs after the first, the best of which counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "JSON instead of a table");
  command->callback([arguments, &action] { action = [arguments] { return Measurement(*arguments).run(); }; });
}

}  // namespace bench
