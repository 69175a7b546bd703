// State: what is judged. One text or JSON value, after any pictures and video.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

namespace clef {
inline namespace v0 {

enum class PixelFormat : std::int32_t {
  rgb8 = CLEF_PIXEL_RGB8,
  rgba8 = CLEF_PIXEL_RGBA8,
  bgr8 = CLEF_PIXEL_BGR8,
  bgra8 = CLEF_PIXEL_BGRA8,
  gray8 = CLEF_PIXEL_GRAY8
};

// Pixels of a picture: `height` rows, `stride` bytes apart, from the top. Borrowed.
struct Pixels {
  const void* data = nullptr;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::size_t stride = 0;
  PixelFormat format = PixelFormat::rgb8;
};

// Frames of one video, all of one size and format. Borrowed.
struct Video {
  std::vector<const void*> frames;  // pixels of each frame
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::size_t stride = 0;
  PixelFormat format = PixelFormat::rgb8;
  std::vector<double> times;     // seconds, one per frame; empty: frames_per_second counts
  double frames_per_second = 0;  // used when `times` is empty
  bool sample = true;            // the model's processor chooses frames; false takes all
};

// Frames that are made when they are needed (from a video file, a renderer). `read` fills `size` bytes with frame `index`,
// rows without padding, and returns false where it cannot; in rising order within a decision, never twice at a time.
struct FrameSource {
  std::function<bool(std::uint64_t index, void* pixels, std::size_t size)> read;
  std::uint64_t count = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  PixelFormat format = PixelFormat::rgb8;
  std::vector<double> times;  // as in Video
  double frames_per_second = 0;
  bool sample = true;
};

// What is judged. Move-only; one state may be used by any number of decisions. Errors of all functions:
// invalid_unicode, invalid_json, unsupported (media that the library cannot read yet), out_of_memory.
// Thread-safety: built by one thread at a time, then read by any number.
class State {
 public:
  // A state with this text; copied, UTF-8.
  static Result<State> text(std::string_view text) {
    Result<State> made = create();
    if (!made) return made;
    Result<void> set = made->set_text(text);
    if (!set) return std::move(set).error();
    return made;
  }
  // A state with this JSON value, rendered as the models were trained; a JSON string is plain text.
  static Result<State> json(std::string_view json) {
    Result<State> made = create();
    if (!made) return made;
    Result<void> set = made->set_json(json);
    if (!set) return std::move(set).error();
    return made;
  }
  // The empty text.
  static Result<State> create() {
    return detail::make<State, clef_state>(
        [](clef_state** out, clef_error** error) { return clef_state_create(out, error); });
  }
  // Takes over a C handle.
  explicit State(clef_state* owned) noexcept : handle_(owned) {}

  // Replaces text or JSON.
  Result<void> set_text(std::string_view text) {
    return detail::run(
        [&](clef_error** error) { return clef_state_set_text(handle_.get(), detail::data(text), text.size(), error); });
  }
  Result<void> set_json(std::string_view json) {
    return detail::run(
        [&](clef_error** error) { return clef_state_set_json(handle_.get(), detail::data(json), json.size(), error); });
  }
  // Without a copy: the text must outlive this state.
  Result<void> set_text_borrow(std::string_view text) {
    return detail::run([&](clef_error** error) {
      return clef_state_set_text_borrow(handle_.get(), detail::data(text), text.size(), nullptr, nullptr, error);
    });
  }
  // Adds an encoded picture (PNG, JPEG, WebP, told by its content). The _borrow form does not copy: the bytes must
  // outlive this state.
  Result<void> add_image(const void* bytes, std::size_t size) {
    return detail::run([&](clef_error** error) { return clef_state_add_image(handle_.get(), bytes, size, error); });
  }
  Result<void> add_image_borrow(const void* bytes, std::size_t size) {
    return detail::run([&](clef_error** error) {
      return clef_state_add_image_borrow(handle_.get(), bytes, size, nullptr, nullptr, error);
    });
  }
  // Adds a decoded picture. The _borrow form does not copy.
  Result<void> add_pixels(const Pixels& pixels) {
    return detail::run([&](clef_error** error) {
      return clef_state_add_pixels(handle_.get(), pixels.data, pixels.width, pixels.height, pixels.stride,
                                   static_cast<clef_pixel_format>(pixels.format), error);
    });
  }
  Result<void> add_pixels_borrow(const Pixels& pixels) {
    return detail::run([&](clef_error** error) {
      return clef_state_add_pixels_borrow(handle_.get(), pixels.data, pixels.width, pixels.height, pixels.stride,
                                          static_cast<clef_pixel_format>(pixels.format), nullptr, nullptr, error);
    });
  }
  // Adds a video; copied. `times`, unless empty, has one entry per frame (else invalid_argument).
  Result<void> add_video(const Video& video) {
    Result<void> timed = check_times(video.times, video.frames.size());
    if (!timed) return timed;
    return detail::run([&](clef_error** error) {
      return clef_state_add_video(handle_.get(), video.frames.data(), video.frames.size(), video.width, video.height,
                                  video.stride, static_cast<clef_pixel_format>(video.format),
                                  video.times.empty() ? nullptr : video.times.data(), video.frames_per_second,
                                  video.sample ? 1 : 0, error);
    });
  }
  // Adds a video whose frames `source.read` makes; it is kept as long as this state and its decisions' sessions need it.
  Result<void> add_frames(FrameSource source) {
    Result<void> timed = check_times(source.times, source.count);
    if (!timed) return timed;
    clef_frame_hooks hooks = {};
    hooks.struct_size = sizeof hooks;
    hooks.count = source.count;
    hooks.frames_per_second = source.frames_per_second;
    hooks.width = source.width;
    hooks.height = source.height;
    hooks.format = static_cast<clef_pixel_format>(source.format);
    hooks.sample = source.sample ? 1 : 0;
    const std::vector<double> times = std::move(source.times);
    hooks.times = times.empty() ? nullptr : times.data();
    // Without a function the library refuses the table.
    std::unique_ptr<ReadFrame> box(source.read ? new (std::nothrow) ReadFrame(std::move(source.read)) : nullptr);
    hooks.read = box ? &read_frame : nullptr;
    hooks.release = &release_frames;
    hooks.user = box.get();
    return detail::run([&](clef_error** error) {
      const clef_status status = clef_state_add_frames(handle_.get(), &hooks, error);
      if (status == CLEF_OK) (void)box.release();
      return status;
    });
  }
  // The C handle, still owned by this object.
  const clef_state* get() const noexcept { return handle_.get(); }

 private:
  using ReadFrame = std::function<bool(std::uint64_t, void*, std::size_t)>;
  static std::int32_t CLEF_CALL read_frame(std::uint64_t index, void* pixels, std::size_t size, void* user) noexcept {
    return (*static_cast<ReadFrame*>(user))(index, pixels, size) ? 0 : 1;
  }
  static void CLEF_CALL release_frames(void* user) noexcept { delete static_cast<ReadFrame*>(user); }
  static Result<void> check_times(const std::vector<double>& times, std::uint64_t frames) {
    if (times.empty() || times.size() == frames) return {};
    return Error(Status::invalid_argument, "the times of a video must be one per frame, or none");
  }

  detail::Handle<clef_state, &clef_state_free> handle_;
};

}  // namespace v0
}  // namespace clef
