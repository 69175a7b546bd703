#include "inspect_compare.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "table.hpp"
#include "terminal.hpp"

namespace cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 20;

bool is_equal(const Json& difference) {
  return difference["equal"].get<bool>();
}

double error_of(const Json& difference) {
  const Json& error = difference["relative_error"];
  return error.is_number() ? error.get<double>() : std::numeric_limits<double>::infinity();
}

std::int64_t non_finite(const Json& difference) {
  return difference["non_finite"][0].get<std::int64_t>() + difference["non_finite"][1].get<std::int64_t>();
}

// The worst first: not finite in one of them, then by error; equal ones stay in the order of the model.
bool worse(const Json& a, const Json& b) {
  if (non_finite(a) != non_finite(b)) return non_finite(a) > non_finite(b);
  if (is_equal(a) != is_equal(b)) return is_equal(b);
  return error_of(a) > error_of(b);
}

std::string error_text(const Json& difference) {
  return is_equal(difference) ? "equal" : number_text("%.4g", error_of(difference));
}

std::vector<std::string> cells(const Json& tensor) {
  std::string shape, outlier = "-";
  for (const Json& size : tensor["shape"]) shape += (shape.empty() ? "" : " x ") + size.dump();
  if (!tensor["outliers"].empty()) {
    const Json& worst = tensor["outliers"][0];
    outlier = number_text("%.4g", tensor["max_difference"].get<double>()) + " at (" + worst["row"].dump() + ", " +
              worst["column"].dump() + "): " + number_text("%.6g", worst["a"].get<double>()) + ", " +
              number_text("%.6g", worst["b"].get<double>());
  }
  const std::int64_t broken = non_finite(tensor);
  if (broken > 0) outlier += "; not finite: " + std::to_string(broken);
  return {printable(tensor["name"].get<std::string>()),
          shape,
          printable(tensor["type_a"].get<std::string>()),
          printable(tensor["type_b"].get<std::string>()),
          error_text(tensor),
          outlier};
}

void print_summary(const Json& result, std::size_t differing) {
  for (const char* model : {"a", "b"})
    print(std::string(model) + "  " + printable(result[model]["name"].get<std::string>()) + ", " +
          printable(result[model]["kind"].get<std::string>()) + "\n");
  const Json& total = result["total"];
  const std::string size = total["tensors"].dump() + " tensors, " + total["parameters"].dump() + " parameters";
  if (is_equal(total)) {
    print("all weights are equal (" + size + ")\n");
    return;
  }
  print(std::to_string(differing) + " of " + size + ", differ: relative error " + error_text(total) +
        ", largest difference " + number_text("%.4g", total["max_difference"].get<double>()) + ", " +
        total["differing"].dump() + " values\n");
  if (non_finite(total) > 0)
    print("values that are not finite: " + total["non_finite"][0].dump() + " in a, " + total["non_finite"][1].dump() +
          " in b\n");
}

void print_tensors(const std::vector<Json>& unsorted, bool all) {
  // By place where nothing tells two apart. (std::stable_sort warns with clang and this standard library.)
  std::vector<const Json*> order;
  for (const Json& tensor : unsorted) order.push_back(&tensor);
  std::sort(order.begin(), order.end(),
            [](const Json* a, const Json* b) { return worse(*a, *b) || (!worse(*b, *a) && a < b); });
  std::vector<Json> tensors;
  for (const Json* tensor : order) tensors.push_back(*tensor);
  if (!all) {
    const auto first_equal = std::find_if(tensors.begin(), tensors.end(), is_equal);
    tensors.erase(
        std::min(first_equal, tensors.begin() + static_cast<std::ptrdiff_t>(std::min(tensors.size(), kShown))),
        tensors.end());
  }
  if (tensors.empty()) return;
  std::vector<std::vector<std::string>> rows = {{"tensor", "shape", "a", "b", "error", "largest difference"}};
  for (const Json& tensor : tensors) rows.push_back(cells(tensor));
  print("\n");
  print_rows(rows, "");
}

}  // namespace

int compare(const clef::Runtime& runtime, clef::Source& source, const CompareArguments& arguments, bool json) {
  ModelArguments other_model;
  other_model.model = arguments.other;
  std::optional<clef::Source> other = open_source(runtime, other_model);
  if (!other) return kFailed;
  ProgressLine progress;
  clef::LoadOptions options;
  options.on_progress = progress.function();
  auto text = source.compare(runtime, *other, options);
  progress.erase();
  if (!text) {
    complain(text.error());
    return kFailed;
  }
  if (json) {
    print((is_terminal(stdout) ? pretty_json(*text) : *text) + "\n");
    return kOk;
  }
  const Json result = Json::parse(*text, nullptr, false);
  if (!result.is_object()) {
    complain("the comparison could not be read back");
    return kFailed;
  }
  const std::vector<Json> tensors(result["tensors"].begin(), result["tensors"].end());
  const auto differing = static_cast<std::size_t>(
      std::count_if(tensors.begin(), tensors.end(), [](const Json& tensor) { return !is_equal(tensor); }));
  print_summary(result, differing);
  print_tensors(tensors, arguments.all);
  if (!arguments.all && differing > kShown)
    print("\n" + std::to_string(differing - kShown) + " more tensors differ; --all lists all\n");
  return kOk;
}

}  // namespace cli
