// hidden_states MODEL [HEAD]: the last token's hidden row, after the final norm, for each line of token ids on stdin. For
// comparing the backbone with other programs that read the same file (bench/convert_check.py).
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "base/executor.hpp"
#include "device/cpu/cpu.hpp"
#include "model/executor.hpp"
#include "model/model.hpp"

using namespace clef;

namespace {

base::Status print_row(const model::Model& model, device::Device& device, const std::vector<int32_t>& ids) {
  model::Sequence sequence;
  sequence.ids = ids;
  CLEF_ASSIGN_OR_RETURN(const auto pass,
                        model::Pass::create(model.config(), model.weights(),
                                            model.package().conventions.value_heads_tiled, device, {sequence}, 0));
  while (!pass->finished()) CLEF_RETURN_IF_ERROR(pass->step());
  const device::Rows hidden = pass->hidden(0);
  const device::Rows last{hidden.buffer, hidden.first + hidden.count - 1, 1};
  device.rms_norm(last, model.weights().final_norm, model.config().norm_eps, last, {-1, "final norm"});
  std::vector<float> row(static_cast<size_t>(model.config().hidden));
  CLEF_RETURN_IF_ERROR(device.download(last, row));
  for (const float value : row) std::printf("%.9g ", static_cast<double>(value));
  std::printf("\n");
  return {};
}

int run(int count, char** arguments) {
  model::Files files;
  files.entries.push_back({"", arguments[1], nullptr});
  if (count > 2) files.entries.push_back({"head", arguments[2], nullptr});
  base::Memory memory{base::Allocator{}};
  const auto executor = base::make_pool_executor(0);
  const auto device = device::make_cpu_device(base::detect_isa(), *executor, memory);
  const auto model = model::Model::load(files, {}, memory);
  base::Status status = model.ok() ? base::Status() : base::Status(model.status().detail());
  for (std::string line; status.ok() && std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::vector<int32_t> ids;
    for (int32_t id = 0; words >> id;) ids.push_back(id);
    if (!ids.empty()) status = print_row(*model.value(), *device, ids);
  }
  if (!status.ok()) std::fprintf(stderr, "hidden_states: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 2 || count == 3) return run(count, arguments);
  std::fprintf(stderr, "usage: hidden_states MODEL [HEAD] < ids\n");
  return 2;
}
