#include "decide/media_plan.hpp"

#include <algorithm>

#include "decide/positions.hpp"
#include "media/decode.hpp"
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

Result<Sides> shown_size(const FrameSource& source, const MediaOptions& options) {
  CLEF_RETURN_IF_ERROR(media::check_size(source.width, source.height, options.max_pixels, "the frame"));
  return Sides{source.width, source.height};
}

Result<media::Image> read_frame(const FrameSource& source, uint64_t index, const MediaOptions& options,
                                base::Memory& memory) {
  const auto fill = [&](base::Buffer& buffer, uint64_t bytes) {
    return source.reader->read(index, {buffer.as<std::byte>(), static_cast<size_t>(bytes)});
  };
  if (source.format == media::PixelFormat::rgb8) {
    CLEF_ASSIGN_OR_RETURN(media::Image image, media::create_image(source.width, source.height, memory));
    CLEF_RETURN_IF_ERROR(fill(image.pixels, image.bytes()));
    return image;
  }
  const uint64_t bytes = uint64_t{media::bytes_per_pixel(source.format)} * source.width * source.height;
  CLEF_ASSIGN_OR_RETURN(base::Buffer buffer, base::Buffer::create(memory, bytes, "a frame of a video"));
  CLEF_RETURN_IF_ERROR(fill(buffer, bytes));
  media::PixelView view{buffer.data(), buffer.size(), source.width, source.height, 0, source.format};
  return media::from_pixels(view, options.drop_alpha, options.max_pixels, memory);
}

std::string frame_place(size_t video, size_t frame) {
  return "/videos/" + std::to_string(video) + "/frames/" + std::to_string(frame);
}

// As the reader of requests has it: pictures may come by other ways, too.
Status check_number(const std::string& what, size_t count, uint32_t limit) {
  if (count <= limit) return {};
  return Status(Code::too_many, "there are " + std::to_string(count) + " " + what + "; at most " +
                                    std::to_string(limit) + " are allowed (limit max_" + what + ")")
      .at("/" + what);
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
  CLEF_RETURN_IF_ERROR(check_number("images", media.images.size(), options.max_images));
  CLEF_RETURN_IF_ERROR(check_number("videos", media.videos.size(), options.max_videos));
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
  blocks_.push_back({{{&picture, nullptr, 0, "/images/" + std::to_string(index)}}, false, size.target});
  items_.push_back({false, {{"", static_cast<int64_t>(size.target.tokens)}}});
  return {};
}

Status MediaPlan::add_video(size_t index) {
  const Video& video = media_.videos[index];
  const uint64_t total = video.count();
  const media::VideoTiming timing{video.fps, video.times};
  CLEF_ASSIGN_OR_RETURN(const std::vector<uint32_t> used, media::sample_frames(total, timing, video.sample, video_));
  CLEF_ASSIGN_OR_RETURN(const std::vector<std::string> captions, media::timestamps(used, total, timing, video_));
  Sides first;
  for (const uint32_t frame : used) {
    Result<Sides> sides =
        video.source.reader ? shown_size(video.source, options_) : shown_size(video.frames[frame], options_);
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
    Block block{{}, true, size};
    for (uint32_t i = groups[g].first; i <= groups[g].last; ++i) {
      Frame frame;
      if (video.source.reader) {
        frame.source = &video.source;
      } else {
        frame.picture = &video.frames[used[i]];
      }
      frame.index = used[i];
      frame.place = frame_place(index, used[i]);
      block.frames.push_back(std::move(frame));
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

base::Result<media::Image> MediaPlan::decode(const Frame& frame) {
  if (frame.source != nullptr) return read_frame(*frame.source, frame.index, options_, memory_);
  const Picture& picture = *frame.picture;
  if (picture.pixels.data == nullptr) return media::decode(picture.encoded, decode_options(options_), memory_);
  return media::from_pixels(picture.pixels, options_.drop_alpha, options_.max_pixels, memory_);
}

Status MediaPlan::open(size_t index) {
  stream_.reset();
  open_ = SIZE_MAX;
  const Block& block = blocks_[index];
  std::vector<media::ScaledRows> frames;
  for (const Frame& frame : block.frames) {
    CLEF_RETURN_IF_ERROR(watch_.check());
    const uint64_t begin = base::nanoseconds_now();
    Result<media::Image> image = decode(frame);
    times_.decode += base::nanoseconds_now() - begin;
    if (!image.ok()) return std::move(image).status().at(frame.place);
    CLEF_RETURN_IF_ERROR(watch_.check());
    auto scaled = media::ScaledRows::create(std::move(image).value(), block.size.width, block.size.height, memory_);
    if (!scaled.ok()) return std::move(scaled).status().at(frame.place);
    frames.push_back(std::move(scaled).value());
  }
  CLEF_ASSIGN_OR_RETURN(stream_, media::PatchStream::create(std::move(frames), block.video ? video_ : image_,
                                                            block.video ? video_values_ : image_values_, memory_));
  open_ = index;
  return {};
}

// The tower asks for the patches of a frame in order, and once.
Status MediaPlan::patches(size_t index, int64_t first, int64_t count, float* out) {
  const uint64_t begin = base::nanoseconds_now(), decoded = times_.decode;
  if (open_ != index || first == 0) CLEF_RETURN_IF_ERROR(open(index));
  if (static_cast<uint64_t>(first) != stream_->position()) return Status(Code::internal, "patches out of their order");
  const auto rows = static_cast<uint64_t>(count);
  const uint64_t values = rows * media::patch_columns(image_);  // those of a video are as long
  CLEF_RETURN_IF_ERROR(stream_->read(rows, {out, static_cast<size_t>(values)}));
  if (stream_->position() == stream_->patches()) stream_.reset(), open_ = SIZE_MAX;
  times_.scale += base::nanoseconds_now() - begin - (times_.decode - decoded);
  return {};
}

}  // namespace clef::decide
