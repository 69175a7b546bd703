// The vision tower against the recorded f32 reference, and its independence of chunks, threads and the rest of a group.
#include <cmath>
#include <cstring>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "container/safetensors.hpp"
#include "device/cpu/cpu.hpp"
#include "device/ref/ref.hpp"
#include "json/json.hpp"
#include "model/model.hpp"
#include "model/vision_pass.hpp"
#include "support/catch.hpp"
#include "support/checking_device.hpp"
#include "support/data.hpp"

using namespace clef;

namespace {

base::Memory& memory() {
  static base::Memory all{base::Allocator{}};
  return all;
}

std::shared_ptr<const model::Model> load(const std::string& path, const std::string& projector = {}) {
  model::Files files;
  files.entries.push_back({"", path, nullptr});
  if (!projector.empty()) files.entries.push_back({"mmproj", projector, nullptr});
  auto loaded = model::Model::load(files, {}, memory());
  if (!loaded.ok()) FAIL(path << ": " << loaded.status().message());
  return std::move(loaded).value();
}

const model::Vision& vision_of(const model::Model& loaded) {
  base::Watch watch{base::Hooks{}};
  auto vision = loaded.vision(watch);
  if (!vision.ok()) FAIL(vision.status().message());
  return *vision.value();
}

// A frame of recorded or made-up patches, given as bytes.
struct Picture {
  int32_t rows = 0, columns = 0;
  std::vector<uint8_t> pixels;  // [rows * columns, patch values]
};

Picture made_up(int32_t rows, int32_t columns, int64_t patch_values, uint32_t seed) {
  Picture picture{rows, columns, {}};
  picture.pixels.resize(static_cast<size_t>(rows * columns * patch_values));
  for (uint8_t& pixel : picture.pixels) {
    seed = seed * 1664525u + 1013904223u;
    pixel = static_cast<uint8_t>(seed >> 24);
  }
  return picture;
}

struct Tower {
  const model::Vision& vision;
  device::Device& device;
  std::unique_ptr<device::Buffer> out;

  std::unique_ptr<model::VisionPass> start(const std::vector<Picture>& pictures, int64_t chunk) {
    int64_t rows = 0;
    for (const Picture& picture : pictures) rows += picture.rows * picture.columns / vision.config.merged_rows();
    auto allocated = device.allocate(rows, vision.config.out, device::Role::residual);
    REQUIRE(allocated.ok());
    out = std::move(allocated).value();
    std::vector<model::VisionFrame> frames;
    int64_t first = 0;
    for (const Picture& picture : pictures) {
      const int64_t width = vision.config.patch_values();
      const int64_t count = picture.rows * picture.columns / vision.config.merged_rows();
      const auto fill = [&picture, width](int64_t patch, int64_t n, float* values) {
        for (int64_t i = 0; i < n * width; ++i)
          values[i] = (static_cast<float>(picture.pixels[static_cast<size_t>(patch * width + i)]) - 127.5f) / 127.5f;
        return base::Status();
      };
      frames.push_back({picture.rows, picture.columns, fill, {out.get(), first, count}});
      first += count;
    }
    auto pass = model::VisionPass::create(vision, device, memory(), std::move(frames), chunk);
    if (!pass.ok()) FAIL(pass.status().message());
    return std::move(pass).value();
  }

  std::vector<float> run(const std::vector<Picture>& pictures, int64_t chunk) {
    const auto pass = start(pictures, chunk);
    uint64_t steps = 0;
    for (; !pass->finished(); ++steps) {
      const base::Status status = pass->step();
      if (!status.ok()) FAIL(status.message());
    }
    REQUIRE(steps == pass->total());
    return read({out.get(), 0, out->rows()});
  }

  std::vector<float> read(device::Rows rows) {
    std::vector<float> values(static_cast<size_t>(rows.count * rows.buffer->columns()));
    REQUIRE(device.download(rows, values).ok());
    return values;
  }
};

double difference(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double error = std::fabs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    worst = std::max(worst, error / std::max(1.0, std::fabs(static_cast<double>(expected[i]))));
  }
  return worst;
}

}  // namespace

TEST_CASE("rows inside the vision tower equal the recorded ones") {
  const std::string folder = test::golden_path("media");
  if (folder.empty()) {
    WARN("CLEF_GOLDEN_DIR is not set: the recorded rows of the vision tower are not checked");
    return;
  }
  const auto source = io::open_path(folder + "/tower.safetensors");
  REQUIRE(source.ok());
  const auto file = container::read_safetensors(source.value());
  REQUIRE(file.ok());
  const auto bytes = [&](const std::string& name) {
    for (const container::TensorView& tensor : file.value().tensors)
      if (tensor.name == name)
        return std::vector<std::byte>(tensor.data(), tensor.data() + static_cast<size_t>(tensor.bytes));
    FAIL("no tensor " << name);
    return std::vector<std::byte>();
  };
  const auto floats = [&](const std::string& name) {
    const std::vector<std::byte> raw = bytes(name);
    std::vector<float> values(raw.size() / sizeof(float));
    std::memcpy(values.data(), raw.data(), raw.size());
    return values;
  };
  const std::string text = test::read_file(folder + "/tower.json");
  const auto document = json::parse(text);
  REQUIRE(document.ok());
  const auto executor = base::make_pool_executor(2);
  size_t checked = 0;
  for (const json::Value& input : document.value().root().find("inputs")->items()) {
    const std::string model_name(input.find("model")->text()), name(input.find("input")->text());
    INFO(model_name << " " << name);
    int64_t grid[3] = {};
    for (size_t i = 0; i < 3; ++i) REQUIRE(input.find("grid_thw")->items()[i].to_int64(grid[i]));
    const auto loaded = load(test::data_path("models/" + model_name));
    const model::Vision& vision = vision_of(*loaded);
    const std::vector<std::byte> raw = bytes(name + ".pixels");
    std::vector<Picture> frames;
    const auto size = static_cast<size_t>(grid[1] * grid[2] * vision.config.patch_values());
    for (int64_t t = 0; t < grid[0]; ++t) {
      Picture picture{static_cast<int32_t>(grid[1]), static_cast<int32_t>(grid[2]), std::vector<uint8_t>(size)};
      std::memcpy(picture.pixels.data(), raw.data() + static_cast<size_t>(t) * size, size);
      frames.push_back(std::move(picture));
    }
    const auto device = device::make_cpu_device(base::detect_isa(), *executor, memory());
    Tower tower{vision, *device, nullptr};
    const auto pass = tower.start(frames, 0);
    const std::string at = model_name + "." + name + ".";
    REQUIRE(pass->step().ok());
    CHECK(difference(tower.read(pass->hidden()), floats(at + "embedded")) <= 1e-5);
    for (int32_t block = 0; block < vision.config.blocks; ++block) {
      REQUIRE(pass->step().ok());
      REQUIRE(pass->step().ok());
      CHECK(difference(tower.read(pass->hidden()), floats(at + "block" + std::to_string(block))) <= 1e-4);
    }
    REQUIRE(pass->step().ok());
    REQUIRE(pass->finished());
    CHECK(difference(tower.read({tower.out.get(), 0, tower.out->rows()}), floats(at + "merged")) <= 1e-4);
    ++checked;
  }
  CHECK(checked >= 8);
}

TEST_CASE("the tower gives the same bits for all chunks, threads and neighbours") {
  const auto loaded = load(test::source_path("examples/clef-nano"));
  const model::Vision& vision = vision_of(*loaded);
  const int64_t width = vision.config.patch_values();
  const std::vector<Picture> pictures = {made_up(4, 6, width, 1), made_up(10, 16, width, 2), made_up(2, 2, width, 3),
                                         made_up(66, 64, width, 4)};
  const auto one = base::make_serial_executor();
  const auto device = device::make_cpu_device(base::detect_isa(), *one, memory());
  Tower tower{vision, *device, nullptr};
  const std::vector<float> expected = tower.run(pictures, 0);
  for (const int64_t chunk : {1, 64, 128, 1024, 100000}) CHECK(tower.run(pictures, chunk) == expected);
  for (const unsigned threads : {2u, 5u}) {
    const auto pool = base::make_pool_executor(threads);
    const auto other = device::make_cpu_device(base::detect_isa(), *pool, memory());
    Tower same{vision, *other, nullptr};
    CHECK(same.run(pictures, 128) == expected);
  }
  // Alone, the third picture has the rows that it had among the others.
  const auto columns = static_cast<size_t>(vision.config.out);
  const std::vector<float> alone = tower.run({pictures[2]}, 0);
  const size_t before = (24 + 160) / 4 * columns;
  CHECK(std::vector<float>(expected.begin() + static_cast<long>(before),
                           expected.begin() + static_cast<long>(before + columns)) == alone);
}

TEST_CASE("the tower on other devices") {
  const auto loaded = load(test::data_path("models/tiny-flash"));
  const model::Vision& vision = vision_of(*loaded);
  const std::vector<Picture> pictures = {made_up(6, 12, vision.config.patch_values(), 5),
                                         made_up(2, 50, vision.config.patch_values(), 6)};
  const auto one = base::make_serial_executor();
  const auto cpu = device::make_cpu_device(base::detect_isa(), *one, memory());
  Tower tower{vision, *cpu, nullptr};
  const std::vector<float> expected = tower.run(pictures, 0);

  const auto inner = device::make_cpu_device(base::detect_isa(), *one, memory());
  const auto checking = test::make_checking_device(*inner);
  Tower checked{vision, *checking, nullptr};
  CHECK(checked.run(pictures, 64) == expected);

  const auto reference = device::make_ref_device();
  Tower exact{vision, *reference, nullptr};
  CHECK(difference(exact.run(pictures, 64), expected) < 2e-5);
}
