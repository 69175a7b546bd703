// Every recorded picture: header, pixels under both readings of EXIF and of transparency, grids and scaled pixels.
#include <set>

#include "media/support.hpp"

namespace clef::test {
namespace {

using media::DecodeOptions;
using media::Image;
using media::Processor;

struct Reading {
  std::string prefix;  // of the keys
  const json::Value* row;
  DecodeOptions options;
};

// What of `row` is recorded for a picture: as the reference reads it, turned upright, with transparency dropped.
std::vector<Reading> readings(const json::Value& row) {
  std::vector<Reading> out;
  DecodeOptions as_stored;
  as_stored.exif_orientation = false;
  out.push_back({"", &row, as_stored});
  if (row.find("upright_rgb_sha256")) out.push_back({"upright_", &row, {}});
  if (const json::Value* older = row.find("older")) {
    as_stored.drop_alpha = true;
    out.push_back({"", older, as_stored});
  }
  return out;
}

Processor limited(const json::Document& recorded, std::string_view config) {
  const json::Value* limits = recorded.root().find("configs")->find(config);
  Processor processor;
  processor.image = {static_cast<uint64_t>(integer(*limits, "shortest_edge")),
                     static_cast<uint64_t>(integer(*limits, "longest_edge"))};
  return processor;
}

void check_scaled(const std::string& file, const Reading& reading, const json::Value& picture,
                  const std::string& config, const Processor& processor) {
  const std::string key = reading.prefix + config;
  INFO(key);
  Image image = accepted(media::decode(bytes_of(file), reading.options, test_memory()));  // it may lie on its side
  const auto size = media::image_size(image.shown_width(), image.shown_height(), processor);
  if (picture.find(config + "_error")) {
    refused(size, base::Code::out_of_range);
    return;
  }
  REQUIRE(size.ok());
  CHECK(grid_of(size.value()) == integers(*picture.find(key + "_grid")));
  const Image scaled = accepted(resized(std::move(image), size.value().width, size.value().height));
  CHECK(sha256(scaled) == text(*reading.row, key + "_resized_sha256"));
}

TEST_CASE("recorded pictures") {
  const json::Document recorded = read_json(data_path("media/images.json"));
  size_t checked = 0;
  for (const json::Value& picture : recorded.root().find("images")->items()) {
    const std::string name = text(picture, "file");
    INFO(name);
    const std::string file = picture_file(name);
    REQUIRE(sha256(file) == text(picture, "file_sha256"));
    for (const Reading& reading : readings(picture)) {
      const Image image = decoded(file, reading.options);
      CHECK(sha256(image) == text(*reading.row, reading.prefix + "rgb_sha256"));
      CHECK(std::vector<int64_t>{image.height, image.width, 3} ==
            integers(*picture.find(reading.prefix + "rgb_shape")));
      for (const std::string config : {"default", "small"})
        check_scaled(file, reading, picture, config, limited(recorded, config));
      ++checked;
    }
  }
  CHECK(checked == 93);
}

TEST_CASE("headers of recorded pictures") {
  const json::Document recorded = read_json(data_path("media/images.json"));
  for (const json::Value& picture : recorded.root().find("images")->items()) {
    const std::string name = text(picture, "file");
    INFO(name);
    const std::string file = picture_file(name);
    DecodeOptions as_stored;
    as_stored.exif_orientation = false;
    const media::ImageInfo info = accepted(media::probe(bytes_of(file), as_stored));
    const std::string format = text(picture, "pillow_format");
    CHECK(media::format_name(info.format) == (format == "WEBP" ? "WebP" : format));
    CHECK(info.width == u32(picture, "width"));
    CHECK(info.height == u32(picture, "height"));
    CHECK(info.orientation == (picture.find("exif_orientation") ? integer(picture, "exif_orientation") : 1));
    const std::set<std::string> with_alpha{"RGBA", "LA"};
    CHECK(info.alpha == (with_alpha.count(text(picture, "pillow_mode")) > 0 || contains(name, "trns")));
    const media::ImageInfo shown = accepted(media::probe(bytes_of(file)));
    const Image image = decoded(file);
    CHECK(shown.width == image.width);
    CHECK(shown.height == image.height);
  }
}

TEST_CASE("the content decides, bytes behind the picture do not") {
  for (const std::string name : {"jpeg_420_65x43.jpg", "rgb_trns_40x30.png", "webp_lossy_alpha_48x48.webp"}) {
    INFO(name);
    const std::string file = picture_file(name);
    CHECK(sha256(decoded(file + std::string(1000, '\0'))) == sha256(decoded(file)));
  }
}

TEST_CASE("recorded pixels") {
  const std::string path = golden_path("media/images.safetensors");
  if (path.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set; recorded pixels are not compared");
    return;
  }
  const json::Document recorded = read_json(data_path("media/images.json"));
  const TensorFile arrays(path);
  REQUIRE(arrays.tensors().size() == 171);
  for (const container::TensorView& array : arrays.tensors()) {
    INFO(array.name);
    const size_t slash = array.name.find('/');
    const std::string kind = array.name.substr(0, slash), file = picture_file(array.name.substr(slash + 1));
    DecodeOptions options;
    options.exif_orientation = contains(kind, "upright");
    options.drop_alpha = contains(kind, "older");
    Image image = decoded(file, options);
    if (!contains(kind, "rgb")) {
      const Processor processor = limited(recorded, contains(kind, "default") ? "default" : "small");
      const media::Size size = accepted(media::image_size(image.width, image.height, processor));
      image = accepted(resized(std::move(image), size.width, size.height));
    }
    CHECK(array.shape == std::vector<int64_t>{image.height, image.width, 3});
    CHECK((arrays.data(array) == pixels_of(image)));
  }
}
}  // namespace
}  // namespace clef::test
