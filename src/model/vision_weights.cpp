#include <cmath>

#include "model/file_set.hpp"
#include "model/message.hpp"
#include "model/names.hpp"
#include "model/package_forms.hpp"
#include "model/tensor_reader.hpp"
#include "model/vision.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

class Tower {
 public:
  Tower(const VisionConfig& config, bool release, std::string prefix, std::string where, TensorReader& reader,
        VisionWeights& out)
      : config_(config),
        release_(release),
        prefix_(std::move(prefix)),
        where_(std::move(where)),
        reader_(reader),
        out_(out) {}

  Status run() {
    const int64_t group = config_.merged_rows() * config_.hidden;
    CLEF_RETURN_IF_ERROR(patch_embedding());
    CLEF_RETURN_IF_ERROR(vector(name(kVisionPatch) + ".bias", config_.hidden, out_.patch_bias));
    CLEF_RETURN_IF_ERROR(reader_.matrix(name(kVisionPositions), where_, int64_t{config_.grid} * config_.grid,
                                        config_.hidden, out_.positions));
    out_.blocks.resize(static_cast<size_t>(config_.blocks));
    for (size_t i = 0; i < out_.blocks.size(); ++i) CLEF_RETURN_IF_ERROR(block(i, out_.blocks[i]));
    CLEF_RETURN_IF_ERROR(norm(name(kVisionMergerNorm), out_.merger.norm));
    CLEF_RETURN_IF_ERROR(linear(name(kVisionMergerUp), group, group, out_.merger.up, out_.merger.up_bias));
    return linear(name(kVisionMergerDown), config_.out, group, out_.merger.down, out_.merger.down_bias);
  }

 private:
  std::string pick(const Name& both) const { return release_ ? both.release : both.gguf; }
  std::string name(const Name& both) const { return prefix_ + pick(both); }

  Status vector(const std::string& tensor, int64_t size, Weight& out) {
    return reader_.vector(tensor, where_, size, out);
  }
  Status linear(const std::string& tensor, int64_t rows, int64_t columns, Weight& weight, Weight& bias) {
    CLEF_RETURN_IF_ERROR(reader_.matrix(tensor + ".weight", where_, rows, columns, weight));
    return vector(tensor + ".bias", rows, bias);
  }
  Status norm(const std::string& tensor, layers::LayerNormWeights& out) {
    return reader_.layer_norm(tensor, where_, config_.hidden, out);
  }

  // One matrix in the release. Projectors hold one for each frame of a pair: they are joined, the only copy there is of a
  // matrix (7 MB in the real models). MLX moves the channels to the end.
  Status patch_embedding() {
    const int64_t hidden = config_.hidden, channels = config_.channels, frames = config_.temporal_patch,
                  side = config_.patch, area = side * side;
    const std::string tensor = name(kVisionPatch) + ".weight";
    const Shape whole{hidden, channels, frames, side, side}, last{hidden, frames, side, side, channels};
    if (release_) {
      CLEF_ASSIGN_OR_RETURN(const container::TensorView* view, reader_.need(tensor, where_));
      if (view->shape != last) {
        const Shape shapes[] = {whole};
        return reader_.matrix(tensor, where_, hidden, config_.patch_values(), out_.patch, shapes);
      }
    }
    std::vector<float> joined(static_cast<size_t>(hidden * config_.patch_values()));
    const auto place = [&](int64_t row, int64_t channel, int64_t frame, int64_t pixel) -> float& {
      return joined[static_cast<size_t>(((row * channels + channel) * frames + frame) * area + pixel)];
    };
    std::vector<float> values;
    if (release_) {
      const Shape shapes[] = {last};
      CLEF_RETURN_IF_ERROR(reader_.values(tensor, where_, shapes, values));
      for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i) {
        const int64_t channel = i % channels, pixel = i / channels % area, frame = i / channels / area % frames;
        place(i / (channels * area * frames), channel, frame, pixel) = values[static_cast<size_t>(i)];
      }
    } else {
      const Shape shapes[] = {{hidden, channels, side, side}};
      for (int64_t frame = 0; frame < frames; ++frame) {
        const std::string part = frame == 0 ? tensor : tensor + "." + std::to_string(frame);
        CLEF_RETURN_IF_ERROR(reader_.values(part, where_, shapes, values));
        for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
          place(i / (channels * area), i / area % channels, frame, i % area) = values[static_cast<size_t>(i)];
      }
    }
    out_.patch = reader_.keep(std::move(joined), hidden, config_.patch_values());
    return {};
  }

  Status block(size_t index, layers::VisionBlockWeights& out) {
    const int64_t hidden = config_.hidden;
    const std::string at = prefix_ + (release_ ? "blocks." : "v.blk.") + std::to_string(index) + ".";
    CLEF_RETURN_IF_ERROR(norm(at + pick(kVisionNorm1), out.norm1));
    CLEF_RETURN_IF_ERROR(norm(at + pick(kVisionNorm2), out.norm2));
    Weight joined, bias;
    CLEF_RETURN_IF_ERROR(linear(at + pick(kVisionQkv), 3 * hidden, hidden, joined, bias));
    out.q = joined.rows(0, hidden), out.k = joined.rows(hidden, hidden), out.v = joined.rows(2 * hidden, hidden);
    const auto part = [&](int64_t which) {
      Weight vector = bias;
      vector.data += which * hidden * static_cast<int64_t>(sizeof(float));
      vector.in = hidden;
      return vector;
    };
    out.q_bias = part(0), out.k_bias = part(1), out.v_bias = part(2);
    CLEF_RETURN_IF_ERROR(linear(at + pick(kVisionOut), hidden, hidden, out.out, out.out_bias));
    CLEF_RETURN_IF_ERROR(linear(at + pick(kVisionUp), config_.intermediate, hidden, out.up, out.up_bias));
    return linear(at + pick(kVisionDown), hidden, config_.intermediate, out.down, out.down_bias);
  }

  const VisionConfig& config_;
  const bool release_;
  const std::string prefix_, where_;
  TensorReader& reader_;
  VisionWeights& out_;
};

Status no_vision(const Package& package) {
  const bool gguf = package.kind == Kind::gguf;
  return Status(Code::missing_part, "the model " + quoted(package.name) +
                                        " has no vision part, so it cannot read pictures or video; " +
                                        (gguf ? "name its projector, a file mmproj-*.gguf (\"mmproj\", option --mmproj)"
                                              : "its files hold no tensors model.visual.*; use the complete release"));
}

// The spelling of the tower's names.
std::string vision_prefix(const Package& package) {
  for (const std::string_view prefix : {"model.visual.", "visual.", "vision_tower."})
    if (package.find(std::string(prefix) + kVisionPositions.release)) return std::string(prefix);
  return "model.visual.";
}

base::Result<VisionSettings> release_settings(const Package& package) {
  VisionSettings settings;
  CLEF_ASSIGN_OR_RETURN(const json::Document config, read_json(*package.config_json));
  CLEF_ASSIGN_OR_RETURN(settings.config,
                        vision_config_from_json(config.root(), package.config_json->name(), package.config.hidden));
  if (package.processor_json) {
    const std::string file = package.processor_json->name();
    CLEF_ASSIGN_OR_RETURN(const json::Document processor, read_json(*package.processor_json));
    CLEF_ASSIGN_OR_RETURN(settings.processor, processor_from_json(processor.root(), file));
    CLEF_RETURN_IF_ERROR(check_processor(settings.processor, settings.config, file));
  } else {
    CLEF_RETURN_IF_ERROR(check_processor(settings.processor, settings.config, package.config_json->name()));
  }
  return settings;
}

base::Result<VisionSettings> projector_settings(const container::Gguf& projector, int64_t hidden) {
  VisionSettings settings;
  CLEF_ASSIGN_OR_RETURN(settings.config, vision_config_from_gguf(projector, hidden));
  CLEF_ASSIGN_OR_RETURN(settings.processor, processor_from_gguf(projector));
  CLEF_RETURN_IF_ERROR(check_processor(settings.processor, settings.config, projector.files.front()));
  return settings;
}

}  // namespace

base::Result<VisionSettings> vision_settings(const Package& package) {
  if (!package.has_vision) return no_vision(package);
  if (!package.projector) return release_settings(package);
  CLEF_ASSIGN_OR_RETURN(const container::Gguf projector, container::read_gguf(package.projector));
  return projector_settings(projector, package.config.hidden);
}

base::Result<std::unique_ptr<const Vision>> load_vision(const Package& package, const WeightOptions& options,
                                                        base::Memory& memory, base::Watch& watch) {
  if (!package.has_vision) return no_vision(package);
  auto vision = std::make_unique<Vision>();
  // A projector is a container of its own beside the model's.
  Package projector;
  const bool release = !package.projector;
  VisionSettings settings;
  if (release) {
    CLEF_ASSIGN_OR_RETURN(settings, release_settings(package));
  } else {
    projector.kind = Kind::gguf;
    CLEF_ASSIGN_OR_RETURN(container::Gguf gguf, container::read_gguf(package.projector));
    CLEF_ASSIGN_OR_RETURN(settings, projector_settings(gguf, package.config.hidden));
    projector.tensors = gguf.tensors;
    CLEF_RETURN_IF_ERROR(finish_tensors(projector));
  }
  vision->config = settings.config;
  vision->processor = settings.processor;
  const Package& from = release ? package : projector;
  TensorReader reader(from, options, memory, watch, vision->weights);
  Tower tower(vision->config, release, release ? vision_prefix(package) : std::string(),
              release ? package.backbone_file() : package.projector->name(), reader, vision->weights);
  CLEF_RETURN_IF_ERROR(tower.run());
  CLEF_RETURN_IF_ERROR(reader.fill_copies());
  return std::unique_ptr<const Vision>(std::move(vision));
}

}  // namespace clef::model
