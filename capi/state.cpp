#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {
namespace {

void set_copy(clef_state& state, std::string text) noexcept {
  state.copy = std::move(text);
  state.owner.reset();
}

Status no_pictures(const clef_state* state, const void* bytes, std::string_view what) {
  CLEF_RETURN_IF_ERROR(require(state, "state"));
  CLEF_RETURN_IF_ERROR(require(bytes, what));
  return Status(Code::unsupported, "pictures are not supported by this version");
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

clef_status clef_state_add_image(clef_state* state, const void* bytes, size_t, clef_error** error) {
  return guard(error, [&]() -> Status { return no_pictures(state, bytes, "bytes"); });
}

clef_status clef_state_add_image_borrow(clef_state* state, const void* bytes, size_t, clef_release release, void* user,
                                        clef_error** error) {
  const Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status { return no_pictures(state, bytes, "bytes"); });
}

clef_status clef_state_add_pixels(clef_state* state, const void* pixels, uint32_t, uint32_t, size_t, clef_pixel_format,
                                  clef_error** error) {
  return guard(error, [&]() -> Status { return no_pictures(state, pixels, "pixels"); });
}

clef_status clef_state_add_pixels_borrow(clef_state* state, const void* pixels, uint32_t, uint32_t, size_t,
                                         clef_pixel_format, clef_release release, void* user, clef_error** error) {
  const Borrowed borrowed(release, user);
  return guard(error, [&]() -> Status { return no_pictures(state, pixels, "pixels"); });
}

clef_status clef_state_add_video(clef_state* state, const void* const* frames, size_t, uint32_t, uint32_t, size_t,
                                 clef_pixel_format, const double*, double, int32_t, clef_error** error) {
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(frames, "frames"));
    return Status(Code::unsupported, "video is not supported by this version");
  });
}

void clef_state_free(clef_state* state) {
  guard_void([&] { delete state; });
}
