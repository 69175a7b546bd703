// State: what is judged. One text or JSON value, after any pictures and video.
#pragma once
#include <clef.h>

#include <clef/error.hpp>
#include <cstddef>
#include <cstdint>
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
  // Adds a video; copied. `times` is used when it has one entry per frame.
  Result<void> add_video(const Video& video) {
    const bool timed = !video.times.empty() && video.times.size() == video.frames.size();
    return detail::run([&](clef_error** error) {
      return clef_state_add_video(handle_.get(), video.frames.data(), video.frames.size(), video.width, video.height,
                                  video.stride, static_cast<clef_pixel_format>(video.format),
                                  timed ? video.times.data() : nullptr, video.frames_per_second, video.sample ? 1 : 0,
                                  error);
    });
  }
  // The C handle, still owned by this object.
  const clef_state* get() const noexcept { return handle_.get(); }

 private:
  detail::Handle<clef_state, &clef_state_free> handle_;
};

}  // namespace v0
}  // namespace clef
