// Importance matrices: both forms, what they change, broken ones.
#include <cmath>
#include <fstream>
#include <limits>

#include "convert/imatrix.hpp"
#include "support.hpp"
#include "support/catch.hpp"
#include "support/gguf_writer.hpp"

using namespace clef;
using namespace clef::test;

namespace {

using Entry = std::pair<std::string, std::vector<float>>;

std::string entry_bytes(const Entry& entry, int32_t calls) {
  std::string bytes = GgufWriter::raw(static_cast<int32_t>(entry.first.size())) + entry.first + GgufWriter::raw(calls) +
                      GgufWriter::raw(static_cast<int32_t>(entry.second.size()));
  for (const float value : entry.second) bytes += GgufWriter::raw(value);
  return bytes;
}

std::string binary(const std::vector<Entry>& entries, int32_t calls = 2) {
  std::string bytes = GgufWriter::raw(static_cast<int32_t>(entries.size()));
  for (const Entry& entry : entries) bytes += entry_bytes(entry, calls);
  return bytes;
}

std::string write_file(const std::string& name, const std::string& bytes) {
  const std::string path = temporary_directory() + "/" + name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string gguf(const std::vector<Entry>& entries, float count = 2) {
  GgufWriter writer;
  writer.add_string("general.type", "imatrix");
  for (const Entry& entry : entries) {
    writer.add_f32_tensor(entry.first + ".in_sum2", {1, static_cast<int64_t>(entry.second.size())}, entry.second);
    writer.add_f32_tensor(entry.first + ".counts", {1, 1}, {count});
  }
  return writer.bytes();
}

std::vector<float> slope(size_t columns, float first) {
  std::vector<float> values(columns);
  for (size_t i = 0; i < columns; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

base::Result<convert::Importance> read(const std::string& bytes) {
  auto source = io::from_memory(std::as_bytes(std::span(bytes)), true, "imatrix.dat");
  return convert::read_importance(source.value());
}

base::Result<convert::Report> convert_with(const std::string& matrix, const std::string& out,
                                           const std::string& type = "Q4_K_M") {
  convert::Options options = options_of(type);
  options.importance = matrix;
  return convert_files(files_of(model_path("tiny-flash")), out, options);
}

}  // namespace

TEST_CASE("both forms hold the same weights") {
  const std::vector<Entry> entries = {{"blk.0.ssm_out.weight", slope(512, 2)}, {"output.weight", slope(64, 10)}};
  for (const std::string& bytes : {binary(entries), gguf(entries), binary(entries) + "what follows is not needed"}) {
    const auto matrix = read(bytes);
    REQUIRE(matrix.ok());
    REQUIRE(matrix.value().entries.size() == 2);
    CHECK(matrix.value().file == "imatrix.dat");
    const std::span<const float> weights = matrix.value().find("blk.0.ssm_out.weight");
    REQUIRE(weights.size() == 512);
    for (size_t i = 0; i < 512; ++i) CHECK(weights[i] == (2 + static_cast<float>(i)) / 2);
    CHECK(matrix.value().find("blk.1.ssm_out.weight").empty());
  }
  // Columns that were never seen count alike.
  const auto unseen = read(gguf(entries, 0));
  REQUIRE(unseen.ok());
  CHECK(unseen.value().find("output.weight")[5] == 1.0f);
}

TEST_CASE("what matters more is kept better") {
  const std::string directory = temporary_directory();
  std::vector<float> weights(512, 1.0f);
  for (size_t i = 0; i < 32; ++i) weights[i * 16] = 1000.0f;
  const std::string name = "blk.0.ssm_out.weight";
  REQUIRE(convert_with(write_file("a.dat", binary({{name, weights}})), directory + "/with.gguf").ok());
  REQUIRE(convert_with(write_file("a.gguf", gguf({{name, weights}})), directory + "/form.gguf").ok());
  REQUIRE(convert_files(files_of(model_path("tiny-flash")), directory + "/without.gguf", options_of("Q4_K_M")).ok());
  const ReadFile with = read_written(directory + "/with.gguf"), form = read_written(directory + "/form.gguf"),
                 without = read_written(directory + "/without.gguf"),
                 source = read_written(data_path("gguf/tiny-flash-bf16.gguf"));
  for (const auto& [tensor, view] : without.tensors) {
    CAPTURE(tensor);
    CHECK(bytes_of(form.tensors.at(tensor)) == bytes_of(with.tensors.at(tensor)));
    CHECK((bytes_of(view) == bytes_of(with.tensors.at(tensor))) == (tensor != name));
  }
  const std::vector<float> x = decoded(source.tensors.at(name));
  const auto heavy_error = [&](const ReadFile& file) {
    const std::vector<float> y = decoded(file.tensors.at(name));
    double sum = 0;
    for (size_t i = 0; i < x.size(); i += 16) sum += std::pow(double{x[i]} - double{y[i]}, 2);
    return sum;
  };
  CHECK(heavy_error(with) < 0.8 * heavy_error(without));
  std::string_view text;
  CHECK(with.gguf.get_string("quantize.imatrix.file", text));
  CHECK(text == "a.dat");
}

TEST_CASE("what has no entry is counted") {
  const std::string directory = temporary_directory();
  const auto report = convert_with(
      write_file("a.dat", binary({{"blk.0.ssm_out.weight", slope(512, 1)}, {"blk.99.ssm_out.weight", slope(3, 1)}})),
      directory + "/out.gguf");
  REQUIRE(report.ok());
  std::string notes;
  for (const std::string& note : report.value().notes) notes += note + "\n";
  CHECK(notes.find("without an entry in the importance matrix: 122.") != std::string::npos);
  CHECK(notes.find("for no tensor of this file: 1.") != std::string::npos);
}

TEST_CASE("an importance matrix of another model is refused") {
  const std::string out = temporary_directory() + "/out.gguf";
  const auto wide = convert_with(write_file("a.dat", binary({{"blk.0.ssm_out.weight", slope(513, 1)}})), out);
  REQUIRE(!wide.ok());
  CHECK(wide.status().code() == base::Code::bad_file);
  CHECK(wide.status().detail().tensor == "blk.0.ssm_out.weight");
  CHECK(wide.status().message().find("513 columns") != std::string::npos);
  CHECK(!convert_with(write_file("a.dat", binary({{"model.layers.0", slope(5, 1)}})), out).ok());
  CHECK(!convert_with(temporary_directory() + "/absent.dat", out).ok());
  CHECK(!std::ifstream(out + ".part"));
}

TEST_CASE("broken importance matrices are refused") {
  const std::vector<Entry> good = {{"a.weight", slope(8, 1)}, {"b.weight", slope(4, 1)}};
  const std::string bytes = binary(good);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    CAPTURE(cut);
    const auto result = read(bytes.substr(0, cut));
    REQUIRE(!result.ok());
    CHECK((result.status().code() == base::Code::bad_file));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  const std::string huge =
      GgufWriter::raw(int32_t{1}) + GgufWriter::raw(int32_t{1}) + "a" + GgufWriter::raw(int32_t{1});
  for (const std::string& broken :
       {std::string(),
        std::string("no matrix at all, only a text"),
        binary({}),
        GgufWriter::raw(int32_t{-1}) + bytes,
        GgufWriter::raw(int32_t{0x7fffffff}) + bytes,
        huge + GgufWriter::raw(int32_t{0x7fffffff}) + bytes,
        huge + GgufWriter::raw(int32_t{-1}) + bytes,
        huge + GgufWriter::raw(int32_t{0}) + bytes,
        binary({good[0], good[0]}),
        binary({{"", {1}}}),
        binary({{std::string(5000, 'a'), {1}}}),
        binary({{"a", {1, std::nanf("")}}}),
        binary({{"a", {1, infinity}}}),
        binary({{"a", {1, -1}}}),
        gguf({{"a", {1, -1}}}),
        gguf({{"a", {1}}}, -1),
        gguf({{"a", {1}}}, infinity),
        gguf({}),
        gguf({{"a", {}}}),
        GgufWriter().add_f32_tensor("a.in_sum2", {1, 1}, {1}).bytes(),
        GgufWriter().add_tensor("a.in_sum2", 1, {1, 2}, "abcd").add_f32_tensor("a.counts", {1, 1}, {1}).bytes()}) {
    const auto result = read(broken);
    REQUIRE(!result.ok());
    CHECK(result.status().code() == base::Code::bad_file);
    CHECK(result.status().message().find("imatrix.dat") == 0);
  }
}
