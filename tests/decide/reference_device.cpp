// The whole pass and head on the CPU device against the reference device (f64 inside each operation, plain recurrence).
#include <cmath>

#include "decide/head.hpp"
#include "device/cpu/cpu.hpp"
#include "device/ref/ref.hpp"
#include "fixture.hpp"
#include "model/executor.hpp"

using namespace clef;

TEST_CASE("the CPU device agrees with the reference device") {
  const auto schema = schema::parse_schema(
      R"({"a":{"type":"noul"},"b":{"type":"choice","criteria":{"x":"one","y":null,"z":["three"]}},"c":{"type":"score","criteria":["l","m","h"]}})",
      {});
  REQUIRE(schema.ok());
  for (const std::string& path : {test::data_path("models/tiny-flash"), test::data_path("gguf/tiny-clef-bf16.gguf"),
                                  test::source_path("examples/clef-nano")}) {
    base::Memory memory{base::Allocator{}};
    const auto model = test::load(path, memory);
    const auto prompt =
        schema::encode_prompt(model->tokenizer(), "The parcel came late and the box was open.", schema.value(), {});
    REQUIRE(prompt.ok());
    const auto logits_on = [&](device::Device& device) {
      model::Sequence sequence;
      sequence.ids = prompt.value().ids;
      auto pass = model::Pass::create(model->config(), model->weights(), model->package().conventions.value_heads_tiled,
                                      device, {sequence}, 128);
      REQUIRE(pass.ok());
      while (!pass.value()->finished()) REQUIRE(pass.value()->step().ok());
      auto head = decide::Head::create(model->config(), model->weights(), device, *pass.value(), schema.value(),
                                       prompt.value());
      REQUIRE(head.ok());
      while (!head.value()->finished()) REQUIRE(head.value()->step().ok());
      return head.value()->logits();
    };
    const auto reference = device::make_ref_device();
    const auto expected = logits_on(*reference);
    for (int level = 0; level <= static_cast<int>(base::detect_isa()); ++level) {
      const auto executor = base::make_pool_executor(2);
      const auto cpu = device::make_cpu_device(static_cast<base::IsaLevel>(level), *executor, memory);
      const auto found = logits_on(*cpu);
      REQUIRE(found.size() == expected.size());
      for (size_t i = 0; i < found.size(); ++i) {
        INFO(path << " " << base::isa_name(static_cast<base::IsaLevel>(level)) << " option " << i);
        REQUIRE(std::fabs(static_cast<double>(found[i] - expected[i])) <=
                2e-5 * std::max(1.0, std::fabs(static_cast<double>(expected[i]))));
      }
    }
  }
}
