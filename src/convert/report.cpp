#include <algorithm>

#include "convert/quantize.hpp"
#include "json/json.hpp"

namespace clef::convert {

std::string report_json(const Report& report) {
  std::string text;
  json::Writer writer(text);
  writer.begin_object();
  writer.key("file");
  writer.string(report.file);
  writer.key("file_bytes");
  writer.unsigned_integer(report.file_bytes);
  writer.key("tensors");
  writer.unsigned_integer(report.tensors);
  writer.key("weights");
  writer.unsigned_integer(report.values);
  writer.key("tensor_bytes");
  writer.unsigned_integer(report.tensor_bytes);
  writer.key("bits_per_weight");
  const double values = static_cast<double>(std::max<uint64_t>(report.values, 1));
  writer.rounded4(8.0 * static_cast<double>(report.tensor_bytes) / values);
  writer.key("types");
  writer.begin_array();
  for (const TypeTotal& total : report.types) {
    writer.begin_object();
    writer.key("type");
    writer.string(total.type);
    writer.key("tensors");
    writer.unsigned_integer(total.tensors);
    writer.key("weights");
    writer.unsigned_integer(total.values);
    writer.key("bytes");
    writer.unsigned_integer(total.bytes);
    writer.end_object();
  }
  writer.end_array();
  writer.key("seconds");
  writer.rounded4(report.seconds);
  writer.key("notes");
  writer.begin_array();
  for (const std::string& note : report.notes) writer.string(note);
  writer.end_array();
  writer.end_object();
  return text;
}

}  // namespace clef::convert
