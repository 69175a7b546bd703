// clef-bench picture: a decision about one picture, stage by stage.
#include <chrono>
#include <clef/clef.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "commands.hpp"
#include "peaks.hpp"
#include "report.hpp"

namespace bench {
namespace {

using clef::Stage;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model, picture, projector, svg;
  unsigned threads = 1, repeats = 3;
  uint64_t max_tokens = 0;
  bool json = false;
};

template <class T>
T checked(clef::Result<T> result) {
  if (!result) throw std::runtime_error(std::string(result.error().message()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("'" + path + "' cannot be read");
  return std::string(std::istreambuf_iterator<char>(in), {});
}

struct Row {
  Stage stage = Stage::load;
  const char* name = "";
  const char* key = "";
};
constexpr Row kStages[] = {{Stage::decode, "decode", "decode_seconds"},
                           {Stage::scale, "turn, scale, cut", "scale_seconds"},
                           {Stage::vision, "tower and merger", "tower_seconds"},
                           {Stage::prefill, "backbone", "prefill_seconds"},
                           {Stage::head, "head", "head_seconds"}};

class Measurement {
 public:
  explicit Measurement(const Arguments& arguments) : arguments_(arguments), bytes_(read_file(arguments.picture)) {}

  // The exit status.
  int run() {
    for (const Peak& peak : measure_peaks(arguments_.threads))
      if (peak.kind == "f32") peak_ = peak.per_second;
    measure();
    if (arguments_.json) {
      std::puts(json().dump(2).c_str());
    } else {
      print();
    }
    return arguments_.svg.empty() || write_file(arguments_.svg, picture()) ? 0 : 1;
  }

 private:
  void measure() {
    clef::RuntimeOptions runtime_options;
    runtime_options.threads = arguments_.threads;
    const clef::Runtime runtime = checked(clef::Runtime::create(runtime_options));
    clef::Options options;
    options.max_image_tokens = arguments_.max_tokens;
    clef::Source source = make_source(runtime);
    size_ = Json::parse(checked(source.describe_image(runtime, bytes_.data(), bytes_.size(), options)));
    const clef::Model model = checked(clef::Model::load(runtime, source));
    about_ = Json::parse(model.describe());
    clef::Session session = checked(model.session());
    const clef::Schema schema = checked(clef::Schema::parse(R"({"q":{"type":"noul"}})"));
    clef::State state = checked(clef::State::create());
    checked(state.add_image_borrow(bytes_.data(), bytes_.size()));
    for (unsigned i = 0; i <= arguments_.repeats; ++i) {  // one more to warm up
      const auto begin = std::chrono::steady_clock::now();
      const clef::Decision decision = checked(session.decide(schema, state, options));
      const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
      if (i != 1 && (i == 0 || whole.count() >= whole_)) continue;
      whole_ = whole.count(), tokens_ = decision.input_tokens();
      for (size_t s = 0; s < std::size(kStages); ++s)
        seconds_[s] = std::chrono::duration<double>(decision.time(kStages[s].stage)).count();
    }
  }

  clef::Source make_source(const clef::Runtime& runtime) const {
    clef::Source source = checked(clef::Source::create(runtime));
    checked(source.add_path(arguments_.model));
    if (!arguments_.projector.empty()) checked(source.add_path(arguments_.projector, "mmproj"));
    return source;
  }

  uint64_t patches() const {
    const auto patch = about_.at("vision").at("patch").get<uint64_t>();
    return size_.at("target_width").get<uint64_t>() / patch * (size_.at("target_height").get<uint64_t>() / patch);
  }

  // Two for each multiply-add of the tower: its matmuls, scores and values of its attention.
  double tower_operations() const {
    const Json& vision = about_.at("vision");
    const auto size = [&](const char* key) { return vision.at(key).get<double>(); };
    const double hidden = size("hidden"), inner = size("intermediate"), merged = size("merge") * size("merge");
    const double out = about_.at("geometry").at("hidden").get<double>(), count = static_cast<double>(patches());
    const double values = 3 * size("temporal_patch") * size("patch") * size("patch");
    const double block = 4 * hidden * hidden + 2 * hidden * inner + 2 * count * hidden;
    const double group = merged * hidden, merger = (group * group + group * out) / merged;
    return 2 * count * (values * hidden + size("blocks") * block + merger);
  }
  double tower_rate() const { return tower_operations() / seconds_[2]; }

  Json json() const {
    Json out = {{"width", size_.at("width")},
                {"height", size_.at("height")},
                {"target_width", size_.at("target_width")},
                {"target_height", size_.at("target_height")},
                {"patches", patches()},
                {"input_tokens", tokens_},
                {"threads", arguments_.threads},
                {"seconds", whole_}};
    for (size_t s = 0; s < std::size(kStages); ++s) out[kStages[s].key] = seconds_[s];
    out["tower_gops"] = tower_rate() / 1e9;
    out["share_of_peak"] = peak_ > 0 ? Json(tower_rate() / peak_) : Json();
    return out;
  }

  void print() const {
    const auto side = [&](const char* key) { return size_.at(key).get<unsigned>(); };
    std::printf("%u x %u pixels, scaled to %u x %u: %llu patches; %llu tokens in all; %u thread%s\n\n", side("width"),
                side("height"), side("target_width"), side("target_height"), static_cast<unsigned long long>(patches()),
                static_cast<unsigned long long>(tokens_), arguments_.threads, arguments_.threads == 1 ? "" : "s");
    std::vector<std::vector<std::string>> rows = {{"stage", "ms", "of all", "GOP/s", "of the f32 peak"}};
    for (size_t s = 0; s < std::size(kStages); ++s) {
      const bool tower = kStages[s].stage == Stage::vision;
      rows.push_back({kStages[s].name, number("%.1f", 1e3 * seconds_[s]), number("%.1f %%", 100 * seconds_[s] / whole_),
                      tower ? number("%.1f", tower_rate() / 1e9) : "",
                      tower && peak_ > 0 ? number("%.1f %%", 100 * tower_rate() / peak_) : ""});
    }
    rows.push_back({"whole decision", number("%.1f", 1e3 * whole_), "", "", ""});
    print_table(rows);
  }

  std::string picture() const {
    std::vector<Bar> bars;
    for (size_t s = 0; s < std::size(kStages); ++s)
      bars.push_back({kStages[s].name, seconds_[s], number("%.1f ms", 1e3 * seconds_[s])});
    return bar_chart("A decision about a picture, " + std::to_string(tokens_) + " tokens", bars);
  }

  const Arguments& arguments_;
  const std::string bytes_;
  Json size_, about_;  // of the picture as it is read, of the model
  double seconds_[std::size(kStages)] = {};
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
  command->add_option("--svg", arguments->svg, "writes the stages as a picture");
  command->callback([arguments, &action] { action = [arguments] { return Measurement(*arguments).run(); }; });
}

}  // namespace bench
