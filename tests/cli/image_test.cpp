// Pictures given as files: ask, decide, inspect.
#include <nlohmann/json.hpp>

#include "run.hpp"
#include "support/catch.hpp"
#include "support/data.hpp"

using namespace clef::test;
using Json = nlohmann::ordered_json;

#ifdef CLEF_WITH_MEDIA

namespace {

// The first recorded request with a picture: its text, and the picture as a file.
struct Recorded {
  Json request;
  std::string picture;
};

std::string from_base64(const std::string& text) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0, count = 0;
  for (const char c : text) {
    const size_t value = kDigits.find(c);
    if (value == kDigits.npos) break;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count % 4 == 0)
      bytes += {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)};
  }
  if (count % 4 == 3) bytes += {static_cast<char>(bits >> 10), static_cast<char>(bits >> 2)};
  if (count % 4 == 2) bytes += static_cast<char>(bits >> 4);
  return bytes;
}

Recorded recorded() {
  for (const std::string& line : read_lines(data_path("nano/decisions.jsonl"))) {
    Json request = Json::parse(Json::parse(line)["request"].get<std::string>());
    if (!request.contains("images")) continue;
    const std::string url = request["images"][0];
    const std::string bytes = from_base64(url.substr(url.find(',') + 1));
    return {std::move(request), temporary_file("picture.png", bytes)};
  }
  FAIL("no request with a picture");
  return {};
}

std::string error_code(const std::string& out) {
  return Json::parse(out)["error"]["code"];
}

}  // namespace

TEST_CASE("a picture as a file is the picture in the request") {
  Recorded line = recorded();
  const std::string question = line.request["questions"].begin().value()["instructions"];
  const Json whole = Json::parse(run({"decide", nano(), "-", "--detail"}, line.request.dump()).out);
  const double probability = whole["answers"].begin().value()["noul"];

  Json pair = line.request;
  pair["images"].push_back(pair["images"][0]);
  CHECK(Json::parse(run({"decide", nano(), "-", "--detail", "--image", line.picture}, line.request.dump()).out) ==
        Json::parse(run({"decide", nano(), "-", "--detail"}, pair.dump()).out));

  line.request.erase("images");
  const Outcome decided = run({"decide", nano(), "-", "--image", line.picture, "--detail"}, line.request.dump());
  CHECK(decided.status == 0);
  CHECK(Json::parse(decided.out) == whole);

  const Outcome asked =
      run({"ask", nano(), "--state", line.request["state"], "--image", line.picture, "--yes-no", question});
  CHECK(asked.status == 0);
  CHECK(Json::parse(asked.out)["answers"]["q1"]["noul"].get<double>() > probability - 0.3);
  // Without a state, and with two pictures.
  const Outcome two = run({"ask", nano(), "--image", line.picture, "--image", line.picture, "--yes-no", question});
  CHECK(two.status == 0);
  CHECK(Json::parse(two.out)["usage"]["input_tokens"].get<int>() >
        Json::parse(asked.out)["usage"]["input_tokens"].get<int>() + 50);  // 66 more, without the state
}

TEST_CASE("pictures that cannot be read are refused by name") {
  const Recorded line = recorded();
  const Outcome missing = run({"ask", nano(), "--image", "no-such-file.png", "--yes-no", "x?"});
  CHECK(missing.status == 1);
  CHECK(missing.err.find("no-such-file.png") != std::string::npos);
  const Outcome gif = run({"ask", nano(), "--image", temporary_file("a.png", "GIF89a......"), "--yes-no", "x?"});
  CHECK(gif.status == 1);
  CHECK(gif.err.find("GIF") != std::string::npos);
  CHECK(run({"ask", nano(), "--yes-no", "x?"}).status == 2);  // neither state nor picture
  std::vector<std::string> five{"decide", nano(), "-"};
  for (int i = 0; i < 4; ++i) five.insert(five.end(), {"--image", line.picture});
  const Outcome many = run(five, line.request.dump());  // and that of the request
  CHECK(many.status == 1);
  CHECK(error_code(many.out) == "too_many");
  const Outcome small = run({"ask", nano(), "--image", line.picture, "--max-image-pixels", "100", "--yes-no", "x?"});
  CHECK(small.status == 1);
  CHECK(small.err.find("max_image_pixels") != std::string::npos);
  // A model without a vision part.
  const Outcome blind = run({"decide", data_path("gguf/mini-f32.gguf"), "-"}, line.request.dump());
  CHECK(blind.status == 1);
  CHECK(error_code(blind.out) == "missing_part");
}

TEST_CASE("inspect says what a picture costs") {
  const Recorded line = recorded();
  const Outcome json = run({"inspect", nano(), "--image", line.picture, "--json"});
  CHECK(json.status == 0);
  const Json item = Json::parse(json.out)[0];
  CHECK(item["format"] == "PNG");
  CHECK(item["width"] == 256);
  CHECK(item["target_width"] == 256);
  CHECK(item["tokens"] == 64);
  const Outcome fewer = run({"inspect", nano(), "--image", line.picture, "--json", "--max-image-tokens", "16"});
  CHECK(Json::parse(fewer.out)[0]["tokens"] == 16);
  const Outcome table = run({"inspect", nano(), "--image", line.picture});
  CHECK(table.status == 0);
  CHECK(table.out.find("256 x 256") != std::string::npos);
  CHECK(run({"inspect", data_path("gguf/mini-f32.gguf"), "--image", line.picture}).status == 1);
  // What the model does with pictures stands in its description.
  const Json model = Json::parse(run({"inspect", nano(), "--json"}).out);
  CHECK(model["vision"]["image"]["shortest_edge"] == 65536);
  CHECK(model["vision"]["video"]["longest_edge"] == 25165824);
}

#else

TEST_CASE("a build without image libraries says so") {
  const std::string png = temporary_file("a.png", "\x89PNG\r\n\x1a\n");
  const Outcome refused = run({"ask", nano(), "--image", png, "--yes-no", "x?"});
  CHECK(refused.status == 1);
  CHECK(refused.err.find("CLEF_WITH_MEDIA=OFF") != std::string::npos);
}

#endif
