#include "decide/media_plan.hpp"

#include <algorithm>

#include "decide/positions.hpp"
#include "media/decode.hpp"
#include "media/resize.hpp"
#include "media/video.hpp"

namespace clef::decide {

using base::Code;
using base::Result;
using base::Status;

namespace {

media::Processor processor_of(const model::Processor& from, const model::PictureProcessor& picture) {
  media::Processor out;
  out.image = {static_cast<uint64_t>(from.image.shortest_edge), static_cast<uint64_t>(from.image.longest_edge)};
  out.video = {static_cast<uint64_t>(from.video.shortest_edge), static_cast<uint64_t>(from.video.longest_edge)};
  out.patch_size = static_cast<uint32_t>(picture.patch);
  out.temporal_patch_size = static_cast<uint32_t>(picture.temporal_patch);
  out.merge_size = static_cast<uint32_t>(picture.merge);
  std::copy(std::begin(picture.mean), std::end(picture.mean), std::begin(out.mean));
  std::copy(std::begin(picture.std), std::end(picture.std), std::begin(out.std));
  out.rescale_factor = picture.rescale_factor;
  out.do_sample_frames = from.sample_frames;
  out.fps = from.fps;
  out.min_frames = static_cast<uint64_t>(from.min_frames);
  out.max_frames = static_cast<uint64_t>(from.max_frames);
  return out;
}

// The processor of pictures with the caller's own limit, which only lowers its own.
media::Processor image_processor(const model::Processor& processor, uint64_t max_tokens) {
  media::Processor out = processor_of(processor, processor.image);
  if (max_tokens == 0) return out;
  const uint64_t token = uint64_t{out.factor()} * out.factor();
  if (max_tokens < out.image.longest_edge / token) {
    out.image.longest_edge = max_tokens * token;
    out.image.shortest_edge = std::min(out.image.shortest_edge, out.image.longest_edge);
  }
  return out;
}

media::DecodeOptions decode_options(const MediaOptions& options) {
  return {options.exif_orientation, options.drop_alpha, options.max_pixels};
}

struct Sides {
  uint32_t width = 0, height = 0;
};

Result<Sides> shown_size(const Picture& picture, const MediaOptions& options) {
  if (picture.pixels.data == nullptr) {
    CLEF_ASSIGN_OR_RETURN(const media::ImageInfo info, media::probe(picture.encoded, decode_options(options)));
    return Sides{info.width, info.height};
  }
  const media::PixelView& pixels = picture.pixels;
  CLEF_RETURN_IF_ERROR(media::check_size(pixels.width, pixels.height, options.max_pixels, "the picture"));
  return Sides{pixels.width, pixels.height};
}

std::string frame_place(size_t video, size_t frame) {
  return "/videos/" + std::to_string(video) + "/frames/" + std::to_string(frame);
}

// Errors about frames keep their own place.
Status at_place(Status status, const std::string& place) {
  if (status.ok() || status.detail().has_at) return status;
  return std::move(status).at(place);
}

}  // namespace

Result<PictureSize> picture_size(const Picture& picture, const MediaOptions& options,
                                 const model::Processor& processor) {
  CLEF_ASSIGN_OR_RETURN(const Sides sides, shown_size(picture, options));
  PictureSize size{sides.width, sides.height, {}};
  CLEF_ASSIGN_OR_RETURN(
      size.target, media::image_size(sides.width, sides.height, image_processor(processor, options.max_image_tokens)));
  return size;
}

MediaPlan::MediaPlan(Media media, const MediaOptions& options, const model::Processor& processor, base::Memory& memory,
                     base::Watch& watch)
    : media_(std::move(media)),
      options_(options),
      model_processor_(processor),
      image_(image_processor(processor, options.max_image_tokens)),
      video_(processor_of(processor, processor.video)),
      image_values_(image_),
      video_values_(video_),
      memory_(memory),
      watch_(watch) {}

Result<std::unique_ptr<MediaPlan>> MediaPlan::create(Media media, const MediaOptions& options,
                                                     const model::Processor& processor, base::Memory& memory,
                                                     base::Watch& watch) {
  std::unique_ptr<MediaPlan> plan(new MediaPlan(std::move(media), options, processor, memory, watch));
  CLEF_RETURN_IF_ERROR(media::validate(plan->image_));
  CLEF_RETURN_IF_ERROR(media::validate(plan->video_));
  for (size_t i = 0; i < plan->media_.images.size(); ++i) {
    CLEF_RETURN_IF_ERROR(watch.check());
    CLEF_RETURN_IF_ERROR(at_place(plan->add_image(i), "/images/" + std::to_string(i)));
  }
  for (size_t i = 0; i < plan->media_.videos.size(); ++i) {
    CLEF_RETURN_IF_ERROR(watch.check());
    CLEF_RETURN_IF_ERROR(at_place(plan->add_video(i), "/videos/" + std::to_string(i)));
  }
  return plan;
}

Status MediaPlan::add_image(size_t index) {
  const Picture& picture = media_.images[index];
  CLEF_ASSIGN_OR_RETURN(const PictureSize size, picture_size(picture, options_, model_processor_));
  blocks_.push_back({{&picture}, {"/images/" + std::to_string(index)}, false, size.target});
  items_.push_back({false, {{"", static_cast<int64_t>(size.target.tokens)}}});
  return {};
}

Status MediaPlan::add_video(size_t index) {
  const Video& video = media_.videos[index];
  const uint64_t total = video.frames.size();
  const media::VideoTiming timing{video.fps, video.times};
  CLEF_ASSIGN_OR_RETURN(const std::vector<uint32_t> used, media::sample_frames(total, timing, video.sample, video_));
  CLEF_ASSIGN_OR_RETURN(const std::vector<std::string> captions, media::timestamps(used, total, timing, video_));
  Sides first;
  for (const uint32_t frame : used) {
    Result<Sides> sides = shown_size(video.frames[frame], options_);
    if (!sides.ok()) return std::move(sides).status().at(frame_place(index, frame));
    if (frame == used.front()) first = sides.value();
    if (sides.value().width != first.width || sides.value().height != first.height)
      return Status(Code::invalid_value, "the frame has " + std::to_string(sides.value().width) + " x " +
                                             std::to_string(sides.value().height) + " pixels, the first one " +
                                             std::to_string(first.width) + " x " + std::to_string(first.height) +
                                             "; all frames of a video have one size")
          .at(frame_place(index, frame));
  }
  CLEF_ASSIGN_OR_RETURN(media::Size size, media::video_size(used.size(), first.width, first.height, video_));
  const auto tokens = static_cast<int64_t>(size.tokens / size.frames);
  size.frames = 1;  // of each block
  schema::MediaItem item{true, {}};
  const std::vector<media::FrameGroup> groups = media::group_frames(static_cast<uint32_t>(used.size()), video_);
  for (size_t g = 0; g < groups.size(); ++g) {
    Block block{{}, {}, true, size};
    for (uint32_t i = groups[g].first; i <= groups[g].last; ++i) {
      block.pictures.push_back(&video.frames[used[i]]);
      block.places.push_back(frame_place(index, used[i]));
    }
    blocks_.push_back(std::move(block));
    item.blocks.push_back({captions[g], tokens});
  }
  items_.push_back(std::move(item));
  return {};
}

std::vector<model::TokenRange> MediaPlan::ranges(const schema::Prompt& prompt) const {
  std::vector<model::TokenRange> ranges;
  for (const schema::MediaSpan& span : prompt.media) ranges.push_back({span.begin, span.count});
  return ranges;
}

std::vector<int32_t> MediaPlan::rope_positions(const schema::Prompt& prompt) const {
  std::vector<GridSpan> grids;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const media::Size& size = blocks_[i].size;
    const uint32_t merge = image_.merge_size;
    grids.push_back(
        {prompt.media[i].begin, static_cast<int32_t>(size.rows / merge), static_cast<int32_t>(size.columns / merge)});
  }
  return decide::rope_positions(static_cast<int64_t>(prompt.ids.size()), grids);
}

std::vector<model::VisionFrame> MediaPlan::frames(const schema::Prompt& prompt, device::Rows hidden) {
  std::vector<model::VisionFrame> frames;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const schema::MediaSpan& span = prompt.media[i];
    frames.push_back({static_cast<int32_t>(blocks_[i].size.rows),
                      static_cast<int32_t>(blocks_[i].size.columns),
                      [this, i](int64_t first, int64_t count, float* out) { return patches(i, first, count, out); },
                      {hidden.buffer, hidden.first + span.begin, span.count}});
  }
  return frames;
}

Status MediaPlan::decode(size_t index) {
  images_.clear();
  decoded_ = SIZE_MAX;
  const Block& block = blocks_[index];
  for (size_t i = 0; i < block.pictures.size(); ++i) {
    CLEF_RETURN_IF_ERROR(watch_.check());
    const Picture& picture = *block.pictures[i];
    auto image = picture.pixels.data == nullptr
                     ? media::decode(picture.encoded, decode_options(options_), memory_)
                     : media::from_pixels(picture.pixels, options_.drop_alpha, options_.max_pixels, memory_);
    if (!image.ok()) return std::move(image).status().at(block.places[i]);
    CLEF_RETURN_IF_ERROR(watch_.check());
    image = media::resize(std::move(image).value(), block.size.width, block.size.height, memory_);
    if (!image.ok()) return std::move(image).status().at(block.places[i]);
    images_.push_back(std::move(image).value());
  }
  decoded_ = index;
  return {};
}

Status MediaPlan::patches(size_t index, int64_t first, int64_t count, float* out) {
  if (decoded_ != index) CLEF_RETURN_IF_ERROR(decode(index));
  const Block& block = blocks_[index];
  std::vector<const media::Image*> images;
  for (const media::Image& image : images_) images.push_back(&image);
  const media::Processor& processor = block.video ? video_ : image_;
  const auto values = static_cast<size_t>(static_cast<uint64_t>(count) * media::patch_columns(processor));
  CLEF_RETURN_IF_ERROR(media::write_patches(images, processor, block.video ? video_values_ : image_values_,
                                            static_cast<uint64_t>(first), static_cast<uint64_t>(count), {out, values}));
  // The last row was read: the picture is not needed any more.
  if (static_cast<uint64_t>(first + count) == block.size.patches()) images_.clear(), decoded_ = SIZE_MAX;
  return {};
}

}  // namespace clef::decide
