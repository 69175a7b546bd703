// clef inspect: what a model's files are.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "inspect_compare.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  ModelArguments model;  // only the paths
  CompareArguments compare;
  DecisionArguments pictures;
  bool json = false, tensors = false;
};

constexpr double kManyTokens = 4096;  // of one picture, worth a warning

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

// How many tensors and bytes there are of each type, and of all.
void print_types(const Json& types, const Json& total) {
  std::vector<std::vector<std::string>> rows = {{"type", "tensors", "bytes", "share", "bits per weight"}};
  const auto add = [&](const std::string& name, const Json& sum) {
    if (!sum.is_object()) return;
    rows.push_back({printable(name), sum.value("tensors", Json()).dump(), bytes_text(sum.value("bytes", 0.0)),
                    number_text("%.2f %%", 100 * sum.value("share", 0.0)),
                    number_text("%.4g", sum.value("bits_per_weight", 0.0))});
  };
  for (const auto& [name, sum] : types.items()) add(name, sum);
  if (types.size() != 1) add("all", total);
  print("\n");
  print_rows(rows, "");
}

// What reading pictures costs, before any is read.
int inspect_images(const clef::Runtime& runtime, clef::Source& source, const Arguments& arguments) {
  std::vector<std::vector<std::string>> rows = {{"picture", "format", "pixels", "scaled to", "tokens"}};
  Json list = Json::array();
  bool failed = false;
  for (const std::string& path : arguments.pictures.images) {
    const std::optional<std::string> bytes = read_input(path);
    if (!bytes) return kFailed;
    auto text = source.describe_image(runtime, bytes->data(), bytes->size(), decision_options(arguments.pictures));
    if (!text) {
      complain(text.error(), path);
      failed = true;
      continue;
    }
    Json item = Json::parse(*text, nullptr, false);
    if (!item.is_object()) return kFailed;
    const auto shown = [&](const char* key) { return item.value(key, Json()).dump(); };
    rows.push_back({printable(path), printable(item.value("format", "")), shown("width") + " x " + shown("height"),
                    shown("target_width") + " x " + shown("target_height"), shown("tokens")});
    if (item.value("tokens", 0.0) > kManyTokens)
      complain(path + ": the picture costs " + shown("tokens") +
               " tokens; --max-image-tokens scales it down, which is faster and rarely worse");
    Json named = {{"image", path}};
    named.update(item);
    list.push_back(std::move(named));
  }
  if (arguments.json) {
    const std::string text = list.dump(-1, ' ', false, Json::error_handler_t::replace);
    print((is_terminal(stdout) ? pretty_json(text) : text) + "\n");
  } else {
    print_rows(rows, "");
  }
  return failed ? kFailed : kOk;
}

int run(const Arguments& arguments) {
  auto runtime = clef::Runtime::create();
  if (!runtime) {
    complain(runtime.error());
    return kFailed;
  }
  std::optional<clef::Source> source = open_source(*runtime, arguments.model);
  if (!source) return kFailed;
  if (!arguments.compare.other.empty()) return compare(*runtime, *source, arguments.compare, arguments.json);
  if (!arguments.pictures.images.empty()) return inspect_images(*runtime, *source, arguments);
  auto text = source->describe(*runtime);
  if (!text) {
    complain(text.error());
    return kFailed;
  }
  if (arguments.json) {
    print((is_terminal(stdout) ? pretty_json(*text) : *text) + "\n");
    return kOk;
  }
  Json description = Json::parse(*text, nullptr, false);
  if (!description.is_object()) {
    complain("the description could not be read back");
    return kFailed;
  }
  const Json types = description.value("types", Json::object()), total = description.value("total", Json::object());
  description.erase("types");
  description.erase("total");
  std::vector<std::pair<std::string, std::string>> members;
  collect(description, {}, members);
  std::vector<std::vector<std::string>> rows;
  for (auto& [key, value] : members) rows.push_back({std::move(key), std::move(value)});
  print_rows(rows, "");
  print_types(types, total);
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
  command
      ->add_option("MODEL", arguments->model.model, "GGUF file, directory of a release, or NAME:TAG in Ollama's store")
      ->required();
  command->add_option("--head", arguments->model.head, "Decision head, when it lies elsewhere (file or directory)");
  command->add_option("--mmproj", arguments->model.mmproj, "Vision part, when it lies elsewhere");
  CLI::Option* other =
      command->add_option("--compare", arguments->compare.other,
                          "Compare the weights with those of another file of the same model (any container)");
  command->add_flag("--all", arguments->compare.all, "List every tensor of a comparison, not only the worst")
      ->needs(other);
  command->add_flag("--tensors", arguments->tensors, "List every tensor");
  add_picture_arguments(*command, arguments->pictures,
                        "How this picture would be read, and its tokens; may be given several times");
  command->add_flag("--json", arguments->json, "Everything, as JSON");
  command->footer(
      "Examples:\n"
      "  clef inspect clef-flash.gguf\n"
      "  clef inspect clef-flash.gguf --json | jq '.tensors[].name'\n"
      "  clef inspect clef-flash/ --image invoice.jpg\n"
      "  clef inspect clef-flash/ --compare clef-flash-q8_0.gguf");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace cli
