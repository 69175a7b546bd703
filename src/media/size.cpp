#include "media/size.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "media/round.hpp"

namespace clef::media {

using base::Code;
using base::Result;
using base::Status;

namespace {

constexpr double kMostRatio = 200;

Status out_of_range(std::string_view key, std::string_view rule) {
  return Status(Code::out_of_range, "the processor's " + std::string(key) + " must be " + std::string(rule));
}

Status validate(const AreaLimits& limits, std::string_view name) {
  constexpr uint64_t kMost = uint64_t{1} << 40;
  if (limits.shortest_edge >= 1 && limits.shortest_edge <= limits.longest_edge && limits.longest_edge <= kMost)
    return {};
  return out_of_range(std::string(name) + " size",
                      "areas in pixels with 1 <= shortest_edge <= longest_edge <= " + std::to_string(kMost) +
                          "; found " + std::to_string(limits.shortest_edge) + " and " +
                          std::to_string(limits.longest_edge));
}

Status refuse_shape(uint32_t width, uint32_t height) {
  return Status(Code::out_of_range, "the picture is " + std::to_string(width) + " x " + std::to_string(height) +
                                        "; one side may be at most 200 times the other: cut it or add a border");
}

double to_multiple(double side, double factor) noexcept {
  return round_half_even(side / factor) * factor;
}

// Every operation in the reference's order, in doubles: a bit decides over a row of patches.
struct Scaling {
  double width, height, factor;
  bool extreme() const noexcept { return std::max(width, height) / std::min(width, height) > kMostRatio; }
  void shrink(double ratio) noexcept {
    height = std::max(factor, std::floor(height / ratio / factor) * factor);
    width = std::max(factor, std::floor(width / ratio / factor) * factor);
  }
  void grow(double ratio) noexcept {
    height = std::ceil(height * ratio / factor) * factor;
    width = std::ceil(width * ratio / factor) * factor;
  }
  void round() noexcept {
    height = to_multiple(height, factor);
    width = to_multiple(width, factor);
  }
};

// `volume` is what the sizes are measured by as they are, `rounded_frames` what they would have after rounding.
void fit(Scaling& scaling, double frames, double rounded_frames, const AreaLimits& limits) noexcept {
  const double volume = frames * scaling.height * scaling.width;
  const double rounded =
      rounded_frames * to_multiple(scaling.height, scaling.factor) * to_multiple(scaling.width, scaling.factor);
  const auto least = static_cast<double>(limits.shortest_edge), most = static_cast<double>(limits.longest_edge);
  if (rounded > most) {
    scaling.shrink(std::sqrt(volume / most));
  } else if (rounded < least) {
    scaling.grow(std::sqrt(least / volume));
  } else {
    scaling.round();
  }
}

Size to_size(const Scaling& scaling, uint64_t frames, const Processor& processor) noexcept {
  Size size;
  size.width = static_cast<uint32_t>(scaling.width);
  size.height = static_cast<uint32_t>(scaling.height);
  size.frames = frames;
  size.rows = size.height / processor.patch_size;
  size.columns = size.width / processor.patch_size;
  size.tokens = frames * (size.rows / processor.merge_size) * (size.columns / processor.merge_size);
  return size;
}

}  // namespace

Status validate(const Processor& p) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (p.patch_size < 1 || p.patch_size > 256) return out_of_range("patch_size", "1 to 256");
  if (p.temporal_patch_size < 1 || p.temporal_patch_size > 16) return out_of_range("temporal_patch_size", "1 to 16");
  if (p.merge_size < 1 || p.merge_size > 16) return out_of_range("merge_size", "1 to 16");
  CLEF_RETURN_IF_ERROR(validate(p.image, "image_processor"));
  CLEF_RETURN_IF_ERROR(validate(p.video, "video_processor"));
  for (const double mean : p.mean)
    if (!std::isfinite(mean)) return out_of_range("image_mean", "finite numbers");
  for (const double deviation : p.std)
    if (!positive(deviation)) return out_of_range("image_std", "positive numbers");
  if (!positive(p.rescale_factor)) return out_of_range("rescale_factor", "a positive number");
  if (!positive(p.fps)) return out_of_range("fps", "a positive number");
  if (p.min_frames < 1 || p.min_frames > p.max_frames)
    return out_of_range("min_frames", "at least 1 and at most max_frames");
  return {};
}

Result<Size> image_size(uint32_t width, uint32_t height, const Processor& processor) {
  Scaling scaling{double(width), double(height), double(processor.factor())};
  if (width == 0 || height == 0 || scaling.extreme()) return refuse_shape(width, height);
  fit(scaling, 1, 1, processor.image);
  return to_size(scaling, 1, processor);
}

Result<Size> video_size(uint64_t frames, uint32_t width, uint32_t height, const Processor& processor) {
  if (frames == 0) return Status(Code::empty, "the video has no frames");
  if (width == 0 || height == 0) return refuse_shape(width, height);
  const uint32_t factor = processor.factor(), temporal = processor.temporal_patch_size;
  Scaling scaling{double(width), double(height), double(factor)};
  double counted = static_cast<double>(frames);
  double rounded = round_half_even(counted / temporal) * temporal;
  if (frames < temporal) {
    // Too few for the reference's newest release; its older one fills them up with the last one, as is done here.
    rounded = temporal;
    if (width < factor || height < factor) counted = temporal;
  }
  if (width < factor || height < factor) {
    const double scale = std::max(double(factor) / height, double(factor) / width);
    scaling.height = std::trunc(height * scale);
    scaling.width = std::trunc(width * scale);
  }
  if (scaling.extreme()) return refuse_shape(width, height);
  fit(scaling, counted, rounded, processor.video);
  return to_size(scaling, (frames - 1) / temporal + 1, processor);
}

}  // namespace clef::media
