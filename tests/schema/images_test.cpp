// Pictures in a request, by form only.
#include <string>
#include <vector>

#include "schema/request.hpp"
#include "schema/support.hpp"

namespace clef::test {
namespace {

using base::Code;
using schema::Limits;

// "\x89PNG\r\n\x1a\n" and three zero bytes.
constexpr std::string_view kPng = "iVBORw0KGgoAAAA=";
const std::vector<uint8_t>& png_bytes() {
  static const std::vector<uint8_t> bytes{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0};
  return bytes;
}

std::string images(std::string_view items) {
  return with_members("\"images\":[" + std::string(items) + "]");
}
std::string text_image(std::string_view text) {
  return images(in_quotes(text));
}
std::string object_image(std::string_view type, std::string_view base64) {
  return images(R"({"content_type":")" + std::string(type) + R"(","base64":")" + std::string(base64) + "\"}");
}

void check_png(std::string_view request) {
  const schema::Request parsed = accepted(request);
  REQUIRE(parsed.images.size() == 1);
  CHECK(parsed.images[0].bytes == png_bytes());
}

}  // namespace

TEST_CASE("data URLs, base64 and objects are pictures") {
  const std::string png(kPng);
  check_png(text_image("data:image/png;base64," + png));
  check_png(text_image("DATA:Image/PNG;Base64," + png));
  check_png(text_image("data:image/jpg;base64," + png));
  check_png(text_image("data:image/jpeg;name=x.png;base64," + png));
  check_png(text_image("data:image/webp;base64," + png));
  check_png(text_image(png));
  check_png(text_image("iVBORw0KGgoAAAA"));
  check_png(text_image("iVBORw0K\\nGgoAAAA=\\r\\n"));
  check_png(object_image("image/png", png));
  check_png(object_image("IMAGE/JPG", png));
  CHECK(accepted(text_image("/9j/4AAQ")).images[0].bytes == std::vector<uint8_t>{0xff, 0xd8, 0xff, 0xe0, 0, 0x10});
  CHECK(accepted(text_image("UklGRgAAAABXRUJQVlA4")).images[0].bytes.size() == 15);
  CHECK(accepted(images("")).images.empty());
}

TEST_CASE("the number of pictures is limited") {
  std::string items;
  for (int i = 0; i < 4; ++i) items.append(i == 0 ? "" : ",").append(in_quotes(kPng));
  CHECK(accepted(images(items)).images.size() == 4);
  items.append(",").append(in_quotes(kPng));
  const std::string message = refused(images(items), Code::too_many, "/images");
  CHECK(contains(message, "5 images"));
  CHECK(contains(message, "at most 4"));
  Limits limits;
  limits.max_images = 5;
  CHECK(accepted(images(items), limits).images.size() == 5);
}

TEST_CASE("videos are lists of pictures with a rate") {
  const std::string frame = in_quotes(kPng);
  const auto video = [](const std::string& members) { return with_members("\"videos\":[{" + members + "}]"); };
  const auto frames = [&](const std::string& more) { return video("\"frames\":[" + frame + "," + frame + "]" + more); };
  const schema::Request plain = accepted(frames(""));
  REQUIRE(plain.videos.size() == 1);
  CHECK(plain.videos[0].frames.size() == 2);
  CHECK(plain.videos[0].fps == 0.0);
  CHECK(plain.videos[0].sample);
  CHECK(accepted(frames(R"(,"fps":29.97,"sample":false)")).videos[0].fps == 29.97);
  CHECK(!accepted(frames(R"(,"fps":29.97,"sample":false)")).videos[0].sample);
  CHECK(accepted(frames(R"(,"fps":null,"sample":null)")).videos[0].sample);
  refused(with_members(R"("videos":[3])"), Code::wrong_type, "/videos/0");
  refused(video(R"("fps":2)"), Code::missing_field, "/videos/0/frames");
  refused(video(R"("frames":"x")"), Code::wrong_type, "/videos/0/frames");
  refused(video(R"("frames":[])"), Code::empty, "/videos/0/frames");
  refused(video("\"frames\":[" + frame + ",\"@\"]"), Code::invalid_value, "/videos/0/frames/1");
  refused(video(R"("frames":[{"base64":"AAAA"}])"), Code::missing_field, "/videos/0/frames/0/content_type");
  for (const char* fps : {"0", "-1", "1e7", "1e400"})
    refused(frames(std::string(",\"fps\":") + fps), Code::out_of_range, "/videos/0/fps");
  refused(frames(R"(,"fps":"2")"), Code::wrong_type, "/videos/0/fps");
  refused(frames(R"(,"sample":1)"), Code::wrong_type, "/videos/0/sample");
  refused(frames(R"(,"fps":1,"fps":2)"), Code::duplicate_key, "/videos/0/fps");
  std::string five;
  for (int i = 0; i < 5; ++i) five += std::string(i == 0 ? "" : ",") + R"({"frames":[)" + frame + "]}";
  CHECK(contains(refused(with_members("\"videos\":[" + five + "]"), Code::too_many, "/videos"), "5 videos"));
  Limits limits;
  limits.max_frames = 1;
  refused(frames(""), Code::too_many, "/videos/0/frames", limits);
  limits.strict = true, limits.max_frames = 2;
  refused(frames(R"(,"times":[1])"), Code::unknown_field, "/videos/0/times", limits);
}

TEST_CASE("what is no picture is refused") {
  const std::string png(kPng);
  const auto bad_text = [](std::string_view text) {
    return refused(text_image(text), Code::invalid_value, "/images/0");
  };
  CHECK(contains(bad_text("https://example.com/a.png"), "never fetched"));
  CHECK(contains(bad_text("file:///etc/hostname"), "never fetched"));
  CHECK(contains(bad_text("/etc/hostname"), "never opened"));
  CHECK(contains(bad_text("/etc/passwd1"), "never opened"));
  CHECK(contains(bad_text("data:image/gif;base64,R0lGODlh"), "image/gif"));
  CHECK(contains(bad_text("data:text/plain;base64," + png), "text/plain"));
  bad_text("data:,x");
  bad_text("data:");
  bad_text("data:image/png," + png);
  bad_text("data:image/png;base64");
  bad_text("data:image/png;base64,");
  bad_text("data:image/png;base64,@@@@");
  bad_text("");
  bad_text("====");
  bad_text("iVBORw0KGgoAAAA==");
  bad_text("iVBORw0KGgo=AAAA");
  bad_text("iVBORw0KGgoAA-_A");
  bad_text("iVBORw0KGgoAAAAAA");
  bad_text("iVBOR\xC3\xA4==");
  CHECK(contains(bad_text("aGVsbG8gd29ybGQ="), "11 bytes"));
  bad_text("UklGRgAAAABXRUJ");   // RIFF, cut off
  bad_text("UklGRgAAAABXQVZF");  // RIFF WAVE
  bad_text("iVBORw0KGg==");      // seven bytes of PNG
  refused(images(in_quotes(png) + ",3"), Code::wrong_type, "/images/1");
  refused(images("null"), Code::wrong_type, "/images/0");
  refused(images("[]"), Code::wrong_type, "/images/0");
  refused(with_members(R"("images":{})"), Code::wrong_type, "/images");
  refused(with_members(R"("images":"x")"), Code::wrong_type, "/images");
}

TEST_CASE("objects of a picture name the member at fault") {
  const std::string png(kPng);
  refused(images(R"({"base64":"AAAA"})"), Code::missing_field, "/images/0/content_type");
  refused(images(R"({"content_type":"image/png"})"), Code::missing_field, "/images/0/base64");
  refused(images(R"({"content_type":1,"base64":"AAAA"})"), Code::wrong_type, "/images/0/content_type");
  refused(images(R"({"content_type":"image/png","base64":null})"), Code::wrong_type, "/images/0/base64");
  refused(object_image("image/gif", png), Code::invalid_value, "/images/0/content_type");
  refused(object_image("image/png", "@"), Code::invalid_value, "/images/0/base64");
  refused(object_image("image/png", "aGVsbG8="), Code::invalid_value, "/images/0/base64");
  refused(images(R"({"content_type":"image/png","base64":"AAAA","base64":"AAAA"})"), Code::duplicate_key,
          "/images/0/base64");
  const std::string extra = images(R"({"content_type":"image/png","base64":")" + png + R"(","detail":"low"})");
  check_png(extra);
  Limits strict;
  strict.strict = true;
  refused(extra, Code::unknown_field, "/images/0/detail", strict);
}

TEST_CASE("big pictures inside the state are refused with a hint") {
  const auto url = [](size_t bytes) {
    std::string text = "data:image/png;base64,";
    text.resize(bytes, 'A');
    return text;
  };
  const std::string message = refused(with_state(in_quotes(url(4097))), Code::invalid_value, "/state");
  CHECK(contains(message, "images"));
  CHECK(contains(message, "4097"));
  accepted(with_state(in_quotes(url(4096))));
  refused(with_state(R"([{"image_url":{"url":")" + url(5000) + R"("}}])"), Code::invalid_value, "/state");
  refused(with_state("\"text ![x](" + url(5000) + ") text\""), Code::invalid_value, "/state");
  refused(with_state("\"DATA:IMAGE/PNG;base64," + url(5000) + "\""), Code::invalid_value, "/state");
  check_error(schema::render_state(in_quotes(url(5000)), Limits()), Code::invalid_value, "/state");
  // Long text that only speaks of data URLs stays text.
  std::string prose = "about data:image/png URLs. ";
  while (prose.size() < 20000) prose += "a word, data: b, data:image c; ";
  CHECK(accepted(with_state(in_quotes(prose))).state == prose);
  // Many short ones, and one that looks like another scheme.
  CHECK(accepted(with_state(std::string("[").append(in_quotes(url(100))) + "," + in_quotes(url(4096)) + "]"))
            .state.size() > 4196);
  const std::string other = std::string("x:image/png,").append(5000, 'A');
  CHECK(accepted(with_state(in_quotes(other))).state == other);
}

}  // namespace clef::test
