// processor_config.json and the projector's keys.
#include <cmath>

#include "model/config_keys.hpp"
#include "model/config_section.hpp"
#include "model/vision_config.hpp"

namespace clef::model {

using base::Code;
using base::Status;

namespace {

constexpr int64_t kMaxArea = int64_t{1} << 40;

Status read_three(const Section& section, std::string_view key, double low, double (&out)[3]) {
  const json::Value* value = section.find(key);
  if (!value) return {};
  const auto items = value->items();
  if (items.size() != 3) return section.error(Code::bad_file, key, "must be an array of three numbers");
  for (size_t i = 0; i < 3; ++i)
    if (!items[i].to_double(out[i]) || !(out[i] >= low && out[i] <= 1e6))
      return section.error(Code::bad_file, key, "must be an array of three usable numbers");
  return {};
}

Status need_true(const Section& section, std::string_view key) {
  bool value = true;
  CLEF_RETURN_IF_ERROR(section.flag(key, value));
  return value ? Status() : section.unsupported(key, "true");
}

template <class Integer>
Status optional_integer(const Section& section, std::string_view key, int64_t low, int64_t high, Integer& out) {
  return section.find(key) ? section.integer(key, low, high, out) : Status();
}

Status read_picture(const Section& section, PictureProcessor& out) {
  for (const char* key : {"do_resize", "do_rescale", "do_normalize", "do_convert_rgb"})
    CLEF_RETURN_IF_ERROR(need_true(section, key));
  if (const json::Value* resample = section.find("resample")) {
    int64_t number = 0;
    if (!resample->to_int64(number) || number != 3) return section.unsupported("resample", "3 (bicubic)");
  }
  const Section size = section.inner("size");
  CLEF_RETURN_IF_ERROR(optional_integer(size, "shortest_edge", 1, kMaxArea, out.shortest_edge));
  CLEF_RETURN_IF_ERROR(optional_integer(size, "longest_edge", 1, kMaxArea, out.longest_edge));
  CLEF_RETURN_IF_ERROR(optional_integer(section, "min_pixels", 1, kMaxArea, out.shortest_edge));
  CLEF_RETURN_IF_ERROR(optional_integer(section, "max_pixels", 1, kMaxArea, out.longest_edge));
  CLEF_RETURN_IF_ERROR(optional_integer(section, "patch_size", 1, 256, out.patch));
  CLEF_RETURN_IF_ERROR(optional_integer(section, "temporal_patch_size", 1, 16, out.temporal_patch));
  CLEF_RETURN_IF_ERROR(optional_integer(section, "merge_size", 1, 16, out.merge));
  CLEF_RETURN_IF_ERROR(read_three(section, "image_mean", -1e6, out.mean));
  CLEF_RETURN_IF_ERROR(read_three(section, "image_std", 1e-6, out.std));
  if (section.find("rescale_factor"))
    CLEF_RETURN_IF_ERROR(section.real("rescale_factor", 1e-9, 1e9, out.rescale_factor));
  return {};
}

// What the reference's classes take where a file says nothing.
Processor class_defaults() noexcept {
  Processor processor;
  for (PictureProcessor* picture : {&processor.image, &processor.video}) {
    const double mean[3] = {0.48145466, 0.4578275, 0.40821073}, deviation[3] = {0.26862954, 0.26130258, 0.27577711};
    for (size_t i = 0; i < 3; ++i) picture->mean[i] = mean[i], picture->std[i] = deviation[i];
  }
  processor.image.shortest_edge = 56 * 56, processor.image.longest_edge = 28 * 28 * 1280;
  processor.image.patch = 14;
  // The video class has its own.
  for (size_t i = 0; i < 3; ++i) processor.video.mean[i] = processor.video.std[i] = 0.5;
  processor.video.shortest_edge = 128 * 32 * 32, processor.video.longest_edge = 768 * 32 * 32;
  return processor;
}

}  // namespace

base::Result<Processor> processor_from_json(const json::Value& root, std::string_view file) {
  Processor processor = class_defaults();
  const Section top(&root, file, "");
  const Section video = top.inner("video_processor");
  CLEF_RETURN_IF_ERROR(read_picture(top.inner("image_processor"), processor.image));
  CLEF_RETURN_IF_ERROR(read_picture(video, processor.video));
  if (video.find("fps")) CLEF_RETURN_IF_ERROR(video.real("fps", 1e-6, 1e6, processor.fps));
  CLEF_RETURN_IF_ERROR(optional_integer(video, "min_frames", 1, 1 << 20, processor.min_frames));
  CLEF_RETURN_IF_ERROR(optional_integer(video, "max_frames", 1, 1 << 20, processor.max_frames));
  CLEF_RETURN_IF_ERROR(video.flag("do_sample_frames", processor.sample_frames));
  return processor;
}

base::Result<Processor> processor_from_gguf(const container::Gguf& projector) {
  const Keys keys(projector, "clip.vision");
  Processor processor;
  if (keys.has("image_min_pixels"))
    CLEF_RETURN_IF_ERROR(keys.integer("image_min_pixels", 1, kMaxArea, processor.image.shortest_edge));
  if (keys.has("image_max_pixels"))
    CLEF_RETURN_IF_ERROR(keys.integer("image_max_pixels", 1, kMaxArea, processor.image.longest_edge));
  return processor;
}

Status check_processor(const Processor& processor, const VisionConfig& config, std::string_view file) {
  for (const PictureProcessor* picture : {&processor.image, &processor.video})
    if (picture->patch != config.patch || picture->temporal_patch != config.temporal_patch ||
        picture->merge != config.merge)
      return file_error(Code::bad_file, file,
                        "patches of " + std::to_string(picture->patch) + " pixels and " +
                            std::to_string(picture->temporal_patch) + " frames, merged by " +
                            std::to_string(picture->merge) + ", are not those of the vision tower (" +
                            std::to_string(config.patch) + ", " + std::to_string(config.temporal_patch) + ", " +
                            std::to_string(config.merge) + ")");
  for (const PictureProcessor* picture : {&processor.image, &processor.video})
    if (picture->shortest_edge > picture->longest_edge)
      return file_error(Code::bad_file, file, "shortest_edge is larger than longest_edge");
  return {};
}

}  // namespace clef::model
