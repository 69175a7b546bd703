#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "handles.hpp"
#include "media/decode.hpp"
#include "media/pixels.hpp"
#include "strings.hpp"

namespace clef::capi {
namespace {

void set_copy(clef_state& state, std::string text) noexcept {
  state.copy = std::move(text);
  state.owner.reset();
}

// Bytes that a state keeps, with their owner.
struct Kept {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

Kept copy_bytes(const void* data, size_t size) {
  auto copy = std::make_shared<std::vector<std::byte>>(size);
  if (size > 0) std::memcpy(copy->data(), data, size);
  const std::span<const std::byte> bytes(*copy);
  return {bytes, std::move(copy)};
}

// A picture that cannot be one is refused here; limits are known when it is used.
Status check_image(const clef_state* state, const void* bytes, size_t size) {
  CLEF_RETURN_IF_ERROR(require(state, "state"));
  CLEF_RETURN_IF_ERROR(require(bytes, "bytes"));
  const std::string at = "/images/" + std::to_string(state->media.images.size());
  media::DecodeOptions any_size;
  any_size.max_pixels = UINT64_MAX;
  return media::probe({static_cast<const std::byte*>(bytes), size}, any_size).status().at(at);
}

void add_image(clef_state& state, Kept kept) {
  state.media.owners.push_back(std::move(kept.owner));
  state.media.images.push_back({kept.bytes, {}});
}

Status check_format(clef_pixel_format format) {
  if (format >= CLEF_PIXEL_RGB8 && format <= CLEF_PIXEL_GRAY8) return {};
  return bad_value("format", std::to_string(format), "one of CLEF_PIXEL_RGB8 to CLEF_PIXEL_GRAY8");
}

// Pixels as the host describes them, with the number of bytes that they span.
Result<media::PixelView> check_pixels(const void* pixels, std::string_view name, uint32_t width, uint32_t height,
                                      size_t stride, clef_pixel_format format) {
  CLEF_RETURN_IF_ERROR(require(pixels, name));
  CLEF_RETURN_IF_ERROR(check_format(format));
  media::PixelView view{pixels, SIZE_MAX, width, height, stride, static_cast<media::PixelFormat>(format)};
  CLEF_ASSIGN_OR_RETURN(view.size, media::pixel_bytes(view));
  return view;
}

// The view now looks at bytes that the state keeps.
decide::Picture copy_pixels(media::PixelView view, std::vector<std::shared_ptr<const void>>& owners) {
  Kept kept = copy_bytes(view.data, view.size);
  view.data = kept.bytes.data();
  owners.push_back(std::move(kept.owner));
  return {{}, view};
}

Status check_count(uint64_t count) {
  if (count == 0) return Status(Code::empty, "the video has no frames; give at least one");
  if (count > UINT32_MAX) return Status(Code::too_many, "the video has " + std::to_string(count) + " frames");
  return {};
}

// Asks the host for frames, for one decision at a time.
class HostFrames : public clef::decide::FrameReader {
 public:
  Hooks<clef_frame_hooks> hooks;

  Status read(uint64_t index, std::span<std::byte> out) override {
    const std::lock_guard lock(mutex_);
    const int32_t result = hooks.table.read(index, out.data(), out.size(), hooks.table.user);
    if (result == 0) return {};
    return Status(Code::io, "frame " + std::to_string(index) + " of the video could not be read (the host answered " +
                                std::to_string(result) + ")");
  }

 private:
  std::mutex mutex_;
};

Status check_times(const double* times, size_t count, double fps) {
  if (!times) {
    if (fps >= 0 && fps <= 1e6) return {};  // 0: unknown
    return Status(Code::out_of_range, "frames_per_second is not between 0 (unknown) and 1000000");
  }
  for (size_t i = 0; i < count; ++i) {
    if (!(times[i] >= 0 && times[i] <= 1e9))
      return Status(Code::out_of_range,
                    "the time of frame " + std::to_string(i) + " is not between 0 and 1000000000 seconds");
    if (i > 0 && times[i] < times[i - 1])
      return Status(Code::invalid_argument,
                    "the time of frame " + std::to_string(i) + " lies before that of the frame before it");
  }
  return {};
}

}  // namespace
}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_state_create(clef_state** state, clef_error** error) {
  clear(state);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    *state = new clef_state;
    return {};
  });
}

clef_status clef_state_set_text(clef_state* state, const char* text, size_t size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    auto checked = utf8_text(text, size, "text");
    if (!checked.ok()) return std::move(checked).status().at("/state");
    set_copy(*state, std::string(checked.value()));
    return {};
  });
}

clef_status clef_state_set_text_borrow(clef_state* state, const char* text, size_t size, clef_release release,
                                       void* user, clef_error** error) {
  Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    auto checked = utf8_text(text, size, "text");
    if (!checked.ok()) return std::move(checked).status().at("/state");
    state->owner = borrowed.hand_on();
    state->borrowed = checked.value();
    state->copy.clear();
    return {};
  });
}

clef_status clef_state_set_json(clef_state* state, const char* json, size_t size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_ASSIGN_OR_RETURN(const std::string_view text, raw_text(json, size, "json"));
    CLEF_ASSIGN_OR_RETURN(std::string rendered, clef::schema::render_state(text, clef::schema::Limits()));
    set_copy(*state, std::move(rendered));
    return {};
  });
}

clef_status clef_state_add_image(clef_state* state, const void* bytes, size_t size, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(check_image(state, bytes, size));
    add_image(*state, copy_bytes(bytes, size));
    return {};
  });
}

clef_status clef_state_add_image_borrow(clef_state* state, const void* bytes, size_t size, clef_release release,
                                        void* user, clef_error** error) {
  Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(check_image(state, bytes, size));
    add_image(*state, {{static_cast<const std::byte*>(bytes), size}, borrowed.hand_on()});
    return {};
  });
}

clef_status clef_state_add_pixels(clef_state* state, const void* pixels, uint32_t width, uint32_t height, size_t stride,
                                  clef_pixel_format format, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_ASSIGN_OR_RETURN(const auto view, check_pixels(pixels, "pixels", width, height, stride, format));
    state->media.images.push_back(copy_pixels(view, state->media.owners));
    return {};
  });
}

clef_status clef_state_add_pixels_borrow(clef_state* state, const void* pixels, uint32_t width, uint32_t height,
                                         size_t stride, clef_pixel_format format, clef_release release, void* user,
                                         clef_error** error) {
  Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_ASSIGN_OR_RETURN(const auto view, check_pixels(pixels, "pixels", width, height, stride, format));
    state->media.owners.push_back(borrowed.hand_on());  // first: nothing may be left that has lost its owner
    state->media.images.push_back({{}, view});
    return {};
  });
}

clef_status clef_state_add_video(clef_state* state, const void* const* frames, size_t count, uint32_t width,
                                 uint32_t height, size_t stride, clef_pixel_format format, const double* times,
                                 double frames_per_second, int32_t sample, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(frames, "frames"));
    CLEF_RETURN_IF_ERROR(check_switch("sample", sample));
    CLEF_RETURN_IF_ERROR(check_count(count));
    CLEF_RETURN_IF_ERROR(check_times(times, count, frames_per_second));
    clef::decide::Video video;
    std::vector<std::shared_ptr<const void>> owners;
    for (size_t i = 0; i < count; ++i) {
      const std::string name = "frame " + std::to_string(i);
      CLEF_ASSIGN_OR_RETURN(const auto view, check_pixels(frames[i], name, width, height, stride, format));
      video.frames.push_back(copy_pixels(view, owners));
    }
    if (times) video.times.assign(times, times + count);
    video.fps = frames_per_second;
    video.sample = sample != 0;
    clef::decide::Media& media = state->media;
    media.owners.insert(media.owners.end(), owners.begin(), owners.end());
    media.videos.push_back(std::move(video));
    return {};
  });
}

clef_status clef_state_add_frames(clef_state* state, const clef_frame_hooks* hooks, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    auto reader = std::make_shared<HostFrames>();
    clef_frame_hooks& table = reader->hooks.table;
    CLEF_RETURN_IF_ERROR(copy_table(hooks, "clef_frame_hooks", table));
    CLEF_RETURN_IF_ERROR(require_function(table.read, "clef_frame_hooks", "read"));
    CLEF_RETURN_IF_ERROR(check_switch("sample", table.sample));
    CLEF_RETURN_IF_ERROR(check_count(table.count));
    CLEF_RETURN_IF_ERROR(check_times(table.times, static_cast<size_t>(table.count), table.frames_per_second));
    CLEF_RETURN_IF_ERROR(check_format(table.format));
    CLEF_RETURN_IF_ERROR(clef::media::check_size(table.width, table.height, UINT64_MAX, "the video"));
    clef::decide::Video video;
    if (table.times) video.times.assign(table.times, table.times + table.count);
    table.times = nullptr;  // the host's array may be gone after this call
    video.source = {reader, table.count, table.width, table.height,
                    static_cast<clef::media::PixelFormat>(table.format)};
    video.fps = table.frames_per_second;
    video.sample = table.sample != 0;
    state->media.videos.push_back(std::move(video));
    reader->hooks.armed = true;
    return {};
  });
}

void clef_state_free(clef_state* state) {
  guard_void([&] { delete state; });
}
