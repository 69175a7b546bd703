// Matmul in its simple exact form: a panel of 64 weight rows is decoded to f32 and transposed once per task, then used
// for all rows of the task. Sums run over slices of 256 inputs, each slice one chain of multiply-adds.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/cpu_device.hpp"

namespace clef::device::cpu {
namespace {

constexpr int64_t kPanel = 64;   // weight rows of a panel
constexpr int64_t kSlice = 256;  // inputs per chain of sums; a multiple of every format's block
constexpr int64_t kRowBlock = 64;

int64_t blocks(int64_t n, int64_t unit) noexcept {
  return (n + unit - 1) / unit;
}

// panel[k][r] = weight[first + r][k]; rows past the end are zero.
void decode_panel(const Weight& weight, int64_t first, float* panel, float* decoded) noexcept {
  const int64_t rows = std::min(kPanel, weight.out - first);
  for (int64_t k0 = 0; k0 < weight.in; k0 += kSlice) {
    const int64_t depth = std::min(kSlice, weight.in - k0);
    for (int64_t r = 0; r < rows; ++r) quant::decode_row(weight, first + r, k0, depth, decoded + r * kSlice);
    for (int64_t r = rows; r < kPanel; ++r) std::fill_n(decoded + r * kSlice, depth, 0.0f);
    float* out = panel + k0 * kPanel;
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t r = 0; r < kPanel; ++r) out[k * kPanel + r] = decoded[r * kSlice + k];
  }
}

float gelu(float x) noexcept {
  return 0.5f * x * (1.0f + std::erf(x * 0.70710678118654752f));
}

}  // namespace

void CpuDevice::matmul(Rows in, std::span<const Product> products) {
  if (in.count == 0) return;
  const int64_t depth = in.buffer->columns();
  int64_t panels = 0;
  for (const Product& product : products) panels += blocks(product.weight->out, kPanel);
  // Few panels: split the rows too, so that every thread has work.
  const int64_t row_blocks = blocks(in.count, kRowBlock);
  const int64_t wanted = 4 * static_cast<int64_t>(executor_.concurrency());
  const int64_t groups = std::clamp<int64_t>(blocks(wanted, panels), 1, blocks(row_blocks, 2));
  const int64_t group_rows = blocks(row_blocks, groups) * kRowBlock;
  const bool two_panels =
      std::any_of(products.begin(), products.end(), [](const Product& p) { return p.epilogue == Epilogue::silu_mul; });
  // One panel or two (gate and up), decoded rows, two tiles of sums.
  const int64_t scratch = (two_panels ? 2 : 1) * kPanel * depth + kPanel * kSlice + 2 * kRowBlock * kPanel;

  for_each_tile(panels * groups, scratch, [&](int64_t tile, float* memory) {
    int64_t panel_index = tile / groups;
    const Product* product = products.data();
    for (; panel_index >= blocks(product->weight->out, kPanel); ++product)
      panel_index -= blocks(product->weight->out, kPanel);
    const int64_t first_row = tile % groups * group_rows;
    const int64_t last_row = std::min(in.count, first_row + group_rows);
    if (first_row >= last_row) return;

    float* panel = memory;
    float* second_panel = panel + kPanel * depth;
    float* decoded = second_panel + (two_panels ? kPanel * depth : 0);
    float* sums = decoded + kPanel * kSlice;
    float* second_sums = sums + kRowBlock * kPanel;
    const int64_t first_out = panel_index * kPanel;
    const int64_t columns = std::min(kPanel, product->weight->out - first_out);
    decode_panel(*product->weight, first_out, panel, decoded);
    const bool has_second = product->epilogue == Epilogue::silu_mul;
    if (has_second) decode_panel(*product->second, first_out, second_panel, decoded);

    const auto multiply = [&](const float* right, int64_t r0, int64_t rows, float* out) {
      for (int64_t k0 = 0; k0 < depth; k0 += kSlice) {
        const size_t slice = static_cast<size_t>(std::min(kSlice, depth - k0));
        kernels_.gemm_f32(static_cast<size_t>(rows), kPanel, slice, row(in, r0) + k0, static_cast<size_t>(depth),
                          right + k0 * kPanel, kPanel, out, kPanel, k0 > 0);
      }
    };
    const float* bias = product->bias ? reinterpret_cast<const float*>(product->bias->data) + first_out : nullptr;
    for (int64_t r0 = first_row; r0 < last_row; r0 += kRowBlock) {
      const int64_t rows = std::min(kRowBlock, last_row - r0);
      multiply(panel, r0, rows, sums);
      if (has_second) multiply(second_panel, r0, rows, second_sums);
      for (int64_t r = 0; r < rows; ++r) {
        float* out = row(product->out, r0 + r) + first_out;
        float* sum = sums + r * kPanel;
        if (bias)
          for (int64_t j = 0; j < columns; ++j) sum[j] += bias[j];
        switch (product->epilogue) {
          case Epilogue::store:
            std::memcpy(out, sum, static_cast<size_t>(columns) * sizeof(float));
            break;
          case Epilogue::add_residual:
            for (int64_t j = 0; j < columns; ++j) out[j] += sum[j];
            break;
          case Epilogue::silu_mul:
            kernels_.silu_mul_f32(sum, second_sums + r * kPanel, out, static_cast<size_t>(columns));
            break;
          case Epilogue::gelu:
            for (int64_t j = 0; j < columns; ++j) out[j] = gelu(sum[j]);
            break;
          case Epilogue::gelu_tanh:
            kernels_.gelu_tanh_f32(sum, out, static_cast<size_t>(columns));
            break;
        }
      }
    }
  });
}

}  // namespace clef::device::cpu
