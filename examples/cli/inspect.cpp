// clef inspect: what a model's files are.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  ModelArguments model;  // only the paths
  bool json = false, tensors = false;
};

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, kUnits[unit]);
  return text;
}

// A value for people: shapes as "2 x 3", sizes with a unit.
std::string value_text(const std::string& key, const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_number() && key.find("bytes") != key.npos) return bytes_text(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_null()) return "-";
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const Json& item : value) out += (out.empty() ? "" : key == "shape" ? " x " : ", ") + value_text({}, item);
  return out;
}

bool is_table(const Json& value) {
  return value.is_array() && !value.empty() && value[0].is_object();
}

// Members that are plain values, objects inside objects under "outer.inner". Tables are left for later.
void collect(const Json& object, const std::string& prefix, std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object() && prefix.size() < 64) {
      collect(value, prefix + printable(key) + ".", rows);
    } else if (!is_table(value)) {
      rows.emplace_back(prefix + printable(key), value_text(key, value));
    }
  }
}

void print_rows(const std::vector<std::vector<std::string>>& rows, const std::string& indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) line += i + 1 < row.size() ? fitted(row[i], widths[i]) + "  " : row[i];
    print(line + "\n");
  }
}

void print_table(const std::string& name, const Json& table) {
  print("\n" + printable(name) + " (" + std::to_string(table.size()) + ")\n");
  std::vector<std::vector<std::string>> rows;
  for (const Json& item : table) {
    std::vector<std::string>& row = rows.emplace_back();
    if (!item.is_object()) continue;
    for (const auto& [key, value] : item.items()) row.push_back(value_text(key, value));
  }
  print_rows(rows, "  ");
}

int run(const Arguments& arguments) {
  auto runtime = clef::Runtime::create();
  if (!runtime) {
    complain(runtime.error());
    return kFailed;
  }
  std::optional<clef::Source> source = open_source(*runtime, arguments.model);
  if (!source) return kFailed;
  auto text = source->describe(*runtime);
  if (!text) {
    complain(text.error());
    return kFailed;
  }
  if (arguments.json) {
    print((is_terminal(stdout) ? pretty_json(*text) : *text) + "\n");
    return kOk;
  }
  const Json description = Json::parse(*text, nullptr, false);
  if (!description.is_object()) {
    complain("the description could not be read back");
    return kFailed;
  }
  std::vector<std::pair<std::string, std::string>> members;
  collect(description, {}, members);
  std::vector<std::vector<std::string>> rows;
  for (auto& [key, value] : members) rows.push_back({std::move(key), std::move(value)});
  print_rows(rows, "");
  for (const auto& [key, value] : description.items()) {
    if (!is_table(value)) continue;
    if (key == "tensors" && !arguments.tensors) {
      print("\ntensors (" + std::to_string(value.size()) + "), listed with --tensors\n");
    } else {
      print_table(key, value);
    }
  }
  return kOk;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a model's files are, without loading weights");
  command->add_option("MODEL", arguments->model.model, "GGUF file, or the directory of a release")->required();
  command->add_option("--head", arguments->model.head, "Decision head, when it lies elsewhere (file or directory)");
  command->add_option("--mmproj", arguments->model.mmproj, "Vision part, when it lies elsewhere");
  command->add_flag("--tensors", arguments->tensors, "List every tensor");
  command->add_flag("--json", arguments->json, "Everything, as JSON");
  command->footer(
      "Examples:\n"
      "  clef inspect clef-flash.gguf\n"
      "  clef inspect clef-flash.gguf --json | jq '.tensors[].name'");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
