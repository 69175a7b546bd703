// Pictures in a request: data URLs, bare base64 or {"content_type", "base64"}, and videos, which are lists of them. Nothing
// is fetched, no path is opened, no picture is decoded here.
#include <algorithm>
#include <array>

#include "schema/internal.hpp"

namespace clef::schema {

using base::Code;
using base::Result;
using base::Status;

namespace {

constexpr std::string_view kAllowedTypes = "image/png, image/jpeg or image/webp";
constexpr std::string_view kForms =
    "a data URL (data:image/png;base64,...), base64 text, or an object with content_type and base64";
constexpr std::string_view kVideoForm = "an object with frames (an array of images), fps and sample";
constexpr size_t kMaxImageTextInState = 4096;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// `prefix` is in lower case.
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i)
    if (lower(text[i]) != prefix[i]) return false;
  return true;
}

bool equals_ignoring_case(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() && starts_with_ignoring_case(text, lower_case);
}

bool known_content_type(std::string_view type) {
  for (const std::string_view known : {"image/png", "image/jpeg", "image/jpg", "image/webp"})
    if (equals_ignoring_case(type, known)) return true;
  return false;
}

Status refuse_content_type(std::string_view at, std::string_view type) {
  return fault(Code::invalid_value, at,
               "the content type " + quoted(type) + " is not supported; it must be " + std::string(kAllowedTypes));
}

constexpr std::array<int8_t, 256> base64_values() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr std::array<int8_t, 256> kBase64Values = base64_values();

// The standard alphabet; padding may be missing but not be wrong; blanks and line ends are skipped. Empty result: not
// base64.
std::vector<uint8_t> decode_base64(std::string_view text) {
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int8_t value = kBase64Values[static_cast<unsigned char>(c)];
    if (value < 0 || padding != 0) return {};
    bits = (bits << 6) | static_cast<uint32_t>(value);
    if (++digits % 4 != 0) continue;
    bytes.push_back(static_cast<uint8_t>(bits >> 16));
    bytes.push_back(static_cast<uint8_t>(bits >> 8));
    bytes.push_back(static_cast<uint8_t>(bits));
  }
  const size_t rest = digits % 4;
  if (rest == 1 || (padding != 0 && rest + padding != 4)) return {};
  if (rest == 2) bytes.push_back(static_cast<uint8_t>(bits >> 4));
  if (rest == 3) {
    bytes.push_back(static_cast<uint8_t>(bits >> 10));
    bytes.push_back(static_cast<uint8_t>(bits >> 2));
  }
  return bytes;
}

bool is_supported_picture(const std::vector<uint8_t>& bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (head.substr(0, 8) == std::string_view("\x89PNG\r\n\x1a\n")) return true;
  if (head.substr(0, 3) == std::string_view("\xff\xd8\xff")) return true;
  return head.size() >= 12 && head.substr(0, 4) == "RIFF" && head.substr(8, 4) == "WEBP";
}

Result<EncodedImage> read_base64(std::string_view text, std::string_view at) {
  EncodedImage image;
  image.bytes = decode_base64(text);
  if (image.bytes.empty()) return fault(Code::invalid_value, at, "the image is not valid base64, or it is empty");
  if (!is_supported_picture(image.bytes)) {
    return fault(Code::invalid_value, at,
                 "the image's content (" + std::to_string(image.bytes.size()) + " bytes) is no PNG, JPEG or WebP");
  }
  return image;
}

Result<EncodedImage> read_data_url(std::string_view url, std::string_view at) {
  const size_t comma = url.find(',');
  if (comma == std::string_view::npos) {
    return fault(Code::invalid_value, at, "the data URL has no comma; its form is data:image/png;base64,...");
  }
  const std::string_view header = url.substr(5, comma - 5);
  const size_t type_end = std::min(header.find(';'), header.size());
  if (!known_content_type(header.substr(0, type_end))) return refuse_content_type(at, header.substr(0, type_end));
  const size_t last = header.rfind(';');
  if (last == std::string_view::npos || !equals_ignoring_case(header.substr(last + 1), "base64")) {
    return fault(Code::invalid_value, at, "the data URL is not base64; its form is data:image/png;base64,...");
  }
  return read_base64(url.substr(comma + 1), at);
}

Result<EncodedImage> read_text(std::string_view text, std::string_view at) {
  if (starts_with_ignoring_case(text, "data:")) return read_data_url(text, at);
  if (text.find("://") != std::string_view::npos) {
    return fault(Code::invalid_value, at,
                 "the image " + quoted(text) + " is a URL, and URLs are never fetched; give " + std::string(kForms));
  }
  Result<EncodedImage> image = read_base64(text, at);
  if (image.ok()) return image;
  std::string message(image.status().message());
  message.append("; it must be ").append(kForms).append(" (paths are never opened)");
  return fault(Code::invalid_value, at, std::move(message));
}

Result<EncodedImage> read_object(const json::Value& object, std::string_view at, const Limits& limits) {
  CLEF_RETURN_IF_ERROR(refuse_duplicates(object, at));
  if (limits.strict) CLEF_RETURN_IF_ERROR(refuse_unknown(object, at, {"content_type", "base64"}));
  for (const std::string_view name : {"content_type", "base64"}) {
    const json::Value* member = object.find(name);
    if (member == nullptr) {
      return fault(Code::missing_field, place(at, name), "the image has no " + std::string(name));
    }
    if (!member->is_string())
      return wrong_type(place(at, name), "an image's " + std::string(name), "a string", *member);
  }
  const std::string_view type = object.find("content_type")->text();
  if (!known_content_type(type)) return refuse_content_type(place(at, "content_type"), type);
  return read_base64(object.find("base64")->text(), place(at, "base64"));
}

Result<std::vector<EncodedImage>> read_list(std::span<const json::Value> items, std::string_view list_at,
                                            const Limits& limits) {
  std::vector<EncodedImage> out;
  out.reserve(items.size());
  for (const json::Value& item : items) {
    const std::string at = place(list_at, std::to_string(out.size()));
    if (!item.is_string() && !item.is_object()) return wrong_type(at, "an image", kForms, item);
    CLEF_ASSIGN_OR_RETURN(EncodedImage image,
                          item.is_string() ? read_text(item.text(), at) : read_object(item, at, limits));
    out.push_back(std::move(image));
  }
  return out;
}

Result<EncodedVideo> read_video(const json::Value& object, std::string_view at, const Limits& limits) {
  if (!object.is_object()) return wrong_type(at, "a video", kVideoForm, object);
  CLEF_RETURN_IF_ERROR(refuse_duplicates(object, at));
  if (limits.strict) CLEF_RETURN_IF_ERROR(refuse_unknown(object, at, {"frames", "fps", "sample"}));
  const std::string frames_at = place(at, "frames"), fps_at = place(at, "fps");
  const json::Value* frames = object.find("frames");
  if (frames == nullptr)
    return fault(Code::missing_field, frames_at, "the video has no frames; it is " + std::string(kVideoForm));
  if (!frames->is_array()) return wrong_type(frames_at, "a video's frames", "an array of images", *frames);
  if (frames->items().empty()) return fault(Code::empty, frames_at, "the video has no frames; give at least one");
  if (frames->items().size() > limits.max_frames)
    return fault(Code::too_many, frames_at,
                 "the video has " + std::to_string(frames->items().size()) + " frames; at most " +
                     std::to_string(limits.max_frames) + " are allowed");
  EncodedVideo video;
  CLEF_ASSIGN_OR_RETURN(video.frames, read_list(frames->items(), frames_at, limits));
  if (const json::Value* fps = object.find("fps"); fps != nullptr && !fps->is_null()) {
    if (!fps->is_number()) return wrong_type(fps_at, "a video's fps", "a number of frames per second, or null", *fps);
    if (!fps->to_double(video.fps) || !(video.fps > 0.0 && video.fps <= 1e6))
      return fault(Code::out_of_range, fps_at,
                   "fps is " + std::string(fps->text().substr(0, 40)) + "; it must be above 0 and at most 1000000");
  }
  if (const json::Value* sample = object.find("sample"); sample != nullptr && !sample->is_null()) {
    if (sample->kind() != json::Kind::boolean)
      return wrong_type(place(at, "sample"), "a video's sample", "true or false", *sample);
    video.sample = sample->boolean();
  }
  return video;
}

Status too_many(std::string_view at, std::string_view what, size_t count, uint32_t limit) {
  return fault(Code::too_many, at,
               "there are " + std::to_string(count) + " " + std::string(what) + "; at most " + std::to_string(limit) +
                   " are allowed (limit max_" + std::string(what) + ")");
}

}  // namespace

Result<std::vector<EncodedImage>> read_images(const json::Value& images, const Limits& limits) {
  if (!images.is_array()) return wrong_type("/images", "images", "an array", images);
  const std::span<const json::Value> items = images.items();
  if (items.size() > limits.max_images) return too_many("/images", "images", items.size(), limits.max_images);
  return read_list(items, "/images", limits);
}

Result<std::vector<EncodedVideo>> read_videos(const json::Value& videos, const Limits& limits) {
  if (!videos.is_array()) return wrong_type("/videos", "videos", "an array of videos", videos);
  const std::span<const json::Value> items = videos.items();
  if (items.size() > limits.max_videos) return too_many("/videos", "videos", items.size(), limits.max_videos);
  std::vector<EncodedVideo> out;
  out.reserve(items.size());
  for (const json::Value& item : items) {
    CLEF_ASSIGN_OR_RETURN(EncodedVideo video, read_video(item, place("/videos", std::to_string(out.size())), limits));
    out.push_back(std::move(video));
  }
  return out;
}

namespace {

bool is_url_character(char c) {
  return c > ' ' && c != '"' && c != '\'' && c != ')' && c != '>' && c != '<';
}

// Bytes of the longest data URL of a picture in `text`. A text that begins with one counts whole, so that wrapped lines
// do not hide it.
size_t longest_image_url(std::string_view text) {
  constexpr std::string_view kPrefix = "data:image/";
  if (starts_with_ignoring_case(text, kPrefix)) return text.size();
  size_t longest = 0;
  for (size_t i = text.find(':'); i != std::string_view::npos; i = text.find(':', i + 1)) {
    constexpr size_t kScheme = 4;  // "data"
    if (i < kScheme || !starts_with_ignoring_case(text.substr(i - kScheme), kPrefix)) continue;
    size_t end = i;
    while (end < text.size() && is_url_character(text[end])) ++end;
    longest = std::max(longest, end - (i - kScheme));
    i = end - 1;
  }
  return longest;
}

}  // namespace

Status refuse_images_in_state(const json::Value& state) {
  std::vector<const json::Value*> pending{&state};
  while (!pending.empty()) {
    const json::Value& value = *pending.back();
    pending.pop_back();
    if (value.is_string()) {
      const size_t bytes = longest_image_url(value.text());
      if (bytes <= kMaxImageTextInState) continue;
      return fault(Code::invalid_value, "/state",
                   "the state holds a picture as a data URL of " + std::to_string(bytes) +
                       " bytes, which would be read as text; put it under images (up to " +
                       std::to_string(kMaxImageTextInState) + " bytes are taken as text)");
    }
    const auto visit = [&](const json::Value& child) {
      if (child.is_string() || child.is_array() || child.is_object()) pending.push_back(&child);
    };
    for (const json::Value& item : value.items()) visit(item);
    for (const json::Member& member : value.members()) visit(member.value);
  }
  return {};
}

}  // namespace clef::schema
