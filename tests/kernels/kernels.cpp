// Every kernel of every level this machine has against the reference kernels and f64 arithmetic: odd sizes, extremes,
// and the rule that a result does not depend on the rows computed with it.
#include "kernels/kernels.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "base/cpu.hpp"
#include "kernels/ref/ref.hpp"
#include "support/catch.hpp"
#include "tables.hpp"

using namespace clef;

namespace {

std::vector<float> random_values(size_t n, unsigned seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

double exact_product(const float* a, const float* b, size_t ldb, size_t k, double& magnitude) {
  double sum = 0;
  magnitude = 0;
  for (size_t p = 0; p < k; ++p) {
    const double term = static_cast<double>(a[p]) * static_cast<double>(b[p * ldb]);
    sum += term, magnitude += std::fabs(term);
  }
  return sum;
}

}  // namespace

TEST_CASE("gemm_f32 agrees with f64 sums at odd sizes") {
  for (const kernels::Table* table : test::tables()) {
    INFO(table->name);
    for (const size_t m : {1, 2, 3, 5, 6, 7, 13, 64})
      for (const size_t n : {1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 130})
        for (const size_t k : {0, 1, 2, 31, 64, 257}) {
          const size_t lda = k + 3, ldb = n + 2, ldc = n + 1;
          const auto a = random_values(m * lda + 1, 1), b = random_values(k * ldb + 1, 2);
          std::vector<float> c = random_values(m * ldc, 3), before = c;
          for (const int accumulate : {0, 1}) {
            c = before;
            table->gemm_f32(m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, accumulate);
            for (size_t i = 0; i < m; ++i) {
              for (size_t j = 0; j < n; ++j) {
                double magnitude = 0;
                double expected = exact_product(a.data() + i * lda, b.data() + j, ldb, k, magnitude);
                if (accumulate) expected += static_cast<double>(before[i * ldc + j]), magnitude += 1;
                const double bound = (static_cast<double>(k) + 2) * 6e-8 * magnitude + 1e-30;
                if (!(std::fabs(static_cast<double>(c[i * ldc + j]) - expected) <= bound))
                  FAIL("m " << m << " n " << n << " k " << k << " at " << i << "," << j);
              }
              for (size_t j = n; j < ldc; ++j) REQUIRE(c[i * ldc + j] == before[i * ldc + j]);  // nothing past the row
            }
          }
        }
  }
}

TEST_CASE("a row of gemm_f32 has the same bits however many rows are computed with it") {
  for (const kernels::Table* table : test::tables()) {
    INFO(table->name);
    const size_t m = 67, n = 70, k = 193;
    const auto a = random_values(m * k, 4), b = random_values(k * n, 5);
    std::vector<float> whole(m * n), part(m * n);
    table->gemm_f32(m, n, k, a.data(), k, b.data(), n, whole.data(), n, 0);
    for (const size_t rows : {1, 2, 3, 4, 5, 6, 11}) {
      for (size_t i = 0; i < m; i += rows) {
        const size_t count = std::min(rows, m - i);
        table->gemm_f32(count, n, k, a.data() + i * k, k, b.data(), n, part.data() + i * n, n, 0);
      }
      REQUIRE(std::memcmp(whole.data(), part.data(), whole.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("terms with a zero factor change nothing in gemm_f32") {
  // Attention relies on it: keys behind the causal edge have weight 0.
  for (const kernels::Table* table : test::tables()) {
    const size_t n = 64, k = 64;
    auto a = random_values(k, 6);
    const auto b = random_values(k * n, 7, 1e6f);
    for (size_t p = 20; p < k; ++p) a[p] = 0;
    std::vector<float> all(n), few(n);
    table->gemm_f32(1, n, k, a.data(), k, b.data(), n, all.data(), n, 0);
    table->gemm_f32(1, n, 20, a.data(), k, b.data(), n, few.data(), n, 0);
    REQUIRE(std::memcmp(all.data(), few.data(), n * sizeof(float)) == 0);
  }
}

TEST_CASE("exp_sum_f32 is accurate over its whole range") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const kernels::Table* table : test::tables()) {
    INFO(table->name);
    std::vector<float> x(64 * 64), original;
    for (size_t i = 0; i < x.size(); ++i) x[i] = -90.0f * static_cast<float>(i) / static_cast<float>(x.size());
    x[5] = -infinity, x[6] = -1e30f, x[7] = -0.0f;
    original = x;
    const float sum = table->exp_sum_f32(x.data(), x.size(), 0.0f);
    double expected_sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = std::exp(static_cast<double>(original[i]));
      expected_sum += expected;
      if (expected > 2e-38) {
        REQUIRE(std::fabs(static_cast<double>(x[i]) - expected) <= 2.5e-7 * expected);
      } else {
        REQUIRE(x[i] <= 2e-38f);
      }
    }
    REQUIRE(x[5] == 0.0f);
    REQUIRE(x[6] == 0.0f);
    REQUIRE(x[7] == 1.0f);
    REQUIRE(std::fabs(static_cast<double>(sum) - expected_sum) <= 1e-5 * expected_sum);

    std::vector<float> shifted(64, -infinity);
    shifted[0] = 3.0f, shifted[63] = 5.0f;
    REQUIRE(table->exp_sum_f32(shifted.data(), 64, 5.0f) == Approx(1.0 + std::exp(-2.0)).epsilon(1e-6));

    std::vector<float> bad(64, 0.0f);
    bad[9] = std::numeric_limits<float>::quiet_NaN();
    REQUIRE(std::isnan(table->exp_sum_f32(bad.data(), 64, 0.0f)));
    REQUIRE(std::isnan(bad[9]));
  }
}

TEST_CASE("gelu_tanh_f32 is accurate at any length and touches nothing past it") {
  for (const kernels::Table* table : test::tables()) {
    INFO(table->name);
    for (const size_t n : {1, 7, 8, 15, 16, 17, 33, 400}) {
      std::vector<float> x = random_values(n, static_cast<unsigned>(n), 10.0f), out(n + 8, 77.0f);
      table->gelu_tanh_f32(x.data(), out.data(), n);
      for (size_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(x[i]);
        const double expected = 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
        INFO(v);
        REQUIRE(static_cast<double>(out[i]) == Approx(expected).epsilon(4e-6).margin(1e-9));
      }
      for (size_t i = n; i < out.size(); ++i) REQUIRE(out[i] == 77.0f);
      table->gelu_tanh_f32(x.data(), x.data(), n);  // in place
      REQUIRE(std::equal(x.begin(), x.end(), out.begin()));
    }
    const float extremes[] = {0.0f, -0.0f, 1e13f, 3e38f, 1e-40f};
    float out[5];
    table->gelu_tanh_f32(extremes, out, 5);
    REQUIRE(out[0] == 0.0f);
    REQUIRE(out[1] == 0.0f);
    REQUIRE(out[2] == 1e13f);
    REQUIRE(out[3] == 3e38f);
    REQUIRE(std::fabs(out[4]) <= 1e-40f);
    const float negative = -1e13f, nan = NAN;
    table->gelu_tanh_f32(&negative, out, 1);
    REQUIRE(std::fabs(out[0]) < 1e-20f);
    table->gelu_tanh_f32(&nan, out, 1);
    REQUIRE(std::isnan(out[0]));
  }
}

TEST_CASE("silu_mul_f32 is accurate at any length and touches nothing past it") {
  for (const kernels::Table* table : test::tables()) {
    INFO(table->name);
    for (const size_t n : {1, 5, 7, 8, 9, 15, 16, 17, 33, 100}) {
      auto gate = random_values(n, 8, 4.0f), up = random_values(n, 9);
      gate[0] = 100.0f;
      if (n > 5) gate[3] = -100.0f, gate[4] = 0.0f, gate[2] = -30.0f;
      std::vector<float> out(n + 1, 7.0f);
      table->silu_mul_f32(gate.data(), up.data(), out.data(), n);
      for (size_t i = 0; i < n; ++i) {
        const double g = static_cast<double>(gate[i]);
        const double expected = g / (1.0 + std::exp(-g)) * static_cast<double>(up[i]);
        REQUIRE(std::fabs(static_cast<double>(out[i]) - expected) <= 6e-7 * std::fabs(expected) + 1e-36);
      }
      REQUIRE(out[n] == 7.0f);
      table->silu_mul_f32(gate.data(), up.data(), up.data(), n);  // in place
      REQUIRE(std::memcmp(up.data(), out.data(), n * sizeof(float)) == 0);
    }
    float nan = std::numeric_limits<float>::quiet_NaN(), one = 1.0f, out = 0;
    table->silu_mul_f32(&nan, &one, &out, 1);
    REQUIRE(std::isnan(out));
  }
}

TEST_CASE("a level the machine or build lacks gives the next lower table") {
  REQUIRE(std::string(kernels::table(0).name) == "baseline");
  REQUIRE(kernels::table(99).gemm_f32 != nullptr);
  if (!kernels::avx2_table()) REQUIRE(&kernels::table(2) == &kernels::kRefTable);
}
