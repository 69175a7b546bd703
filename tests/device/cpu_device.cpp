// The operations of the CPU device against plain f64 formulas written here, at sizes off every tile.
#include "device/cpu/cpu.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/cpu.hpp"
#include "support/catch.hpp"

using namespace clef;
using device::Rows;
using device::Weight;

namespace {

struct Fixture {
  Fixture()
      : executor(base::make_pool_executor(3)),
        memory(base::Allocator{}),
        device(device::make_cpu_device(base::detect_isa(), *executor, memory)) {}

  std::unique_ptr<device::Buffer> rows(int64_t count, int64_t columns, const std::vector<float>& values) {
    auto buffer = device->allocate(count, columns, device::Role::activation);
    REQUIRE(buffer.ok());
    device->upload(values, {buffer.value().get(), 0, count});
    return std::move(buffer).value();
  }
  std::vector<float> read(device::Buffer& buffer) {
    std::vector<float> values(static_cast<size_t>(buffer.rows() * buffer.columns()));
    REQUIRE(device->download({&buffer, 0, buffer.rows()}, values).ok());
    return values;
  }

  std::unique_ptr<base::Executor> executor;
  base::Memory memory;
  std::unique_ptr<device::Device> device;
};

std::mt19937 generator(7);

std::vector<float> random_values(size_t n, float scale = 1.0f) {
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(n);
  for (float& value : values) value = normal(generator);
  return values;
}

Weight weight(const std::vector<float>& values, int64_t out) {
  const int64_t in = static_cast<int64_t>(values.size()) / out;
  return {&quant::format(quant::Type::f32), reinterpret_cast<const std::byte*>(values.data()), out, in};
}

Rows all(device::Buffer& buffer) {
  return {&buffer, 0, buffer.rows()};
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The largest difference, relative above 1.
double difference(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double error = std::fabs(static_cast<double>(found[i]) - expected[i]) / std::max(1.0, std::fabs(expected[i]));
    worst = std::max(worst, std::isfinite(error) ? error : 1e9);
  }
  return worst;
}

}  // namespace

TEST_CASE("matmul with every epilogue and format equals f64 sums") {
  Fixture f;
  const int64_t rows = 131, in = 320;
  const auto x = random_values(static_cast<size_t>(rows * in));
  const auto input = f.rows(rows, in, x);
  for (const int64_t out : {1, 63, 64, 65, 200}) {
    for (const quant::Type type : {quant::Type::f32, quant::Type::f16, quant::Type::bf16, quant::Type::q8_0}) {
      const quant::Format& format = quant::format(type);
      const auto encode = [&](const std::vector<float>& values, std::vector<float>& decoded) {
        std::vector<std::byte> bytes(quant::row_bytes(format, static_cast<uint64_t>(in)) * static_cast<size_t>(out) +
                                     1);
        format.encode(values.data(), nullptr, bytes.data() + 1, values.size());  // at an odd address, as in safetensors
        decoded.resize(values.size());
        format.decode(bytes.data() + 1, decoded.data(), values.size());
        return bytes;
      };
      std::vector<float> w, u;
      const auto w_bytes = encode(random_values(static_cast<size_t>(out * in), 0.1f), w);
      const auto u_bytes = encode(random_values(static_cast<size_t>(out * in), 0.1f), u);
      const auto bias = random_values(static_cast<size_t>(out));
      const Weight first{&format, w_bytes.data() + 1, out, in}, second{&format, u_bytes.data() + 1, out, in},
          bias_weight = weight(bias, 1);
      const auto before = random_values(static_cast<size_t>(rows * out));
      for (const device::Epilogue epilogue :
           {device::Epilogue::store, device::Epilogue::add_residual, device::Epilogue::silu_mul, device::Epilogue::gelu,
            device::Epilogue::gelu_tanh}) {
        const bool has_bias = epilogue != device::Epilogue::silu_mul;
        const auto result = f.rows(rows, out, before);
        const device::Product product[] = {{&first, all(*result), epilogue, has_bias ? &bias_weight : nullptr,
                                            epilogue == device::Epilogue::silu_mul ? &second : nullptr}};
        f.device->matmul(all(*input), product);
        std::vector<double> expected;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < out; ++j) {
            double sum = has_bias ? static_cast<double>(bias[static_cast<size_t>(j)]) : 0, other = 0;
            for (int64_t k = 0; k < in; ++k) {
              const double value = static_cast<double>(x[static_cast<size_t>(i * in + k)]);
              sum += value * static_cast<double>(w[static_cast<size_t>(j * in + k)]);
              other += value * static_cast<double>(u[static_cast<size_t>(j * in + k)]);
            }
            if (epilogue == device::Epilogue::add_residual)
              sum += static_cast<double>(before[static_cast<size_t>(i * out + j)]);
            if (epilogue == device::Epilogue::silu_mul) sum = sum * sigmoid(sum) * other;
            if (epilogue == device::Epilogue::gelu) sum = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
            if (epilogue == device::Epilogue::gelu_tanh)
              sum = 0.5 * sum * (1 + std::tanh(std::sqrt(2 / M_PI) * (sum + 0.044715 * sum * sum * sum)));
            expected.push_back(sum);
          }
        // Sums of 320 products near 1; silu_mul multiplies the error of one by the size of the other.
        INFO(format.name << " out " << out << " epilogue " << static_cast<int>(epilogue));
        REQUIRE(difference(f.read(*result), expected) < 2e-5);
      }
    }
  }
}

TEST_CASE("norms equal their formulas and name the place of a non-finite value") {
  Fixture f;
  const int64_t rows = 37, n = 96;
  auto x = random_values(static_cast<size_t>(rows * n), 3.0f);
  const auto scale = random_values(static_cast<size_t>(n)), bias = random_values(static_cast<size_t>(n));
  const auto input = f.rows(rows, n, x), out = f.rows(rows, n, x);
  f.device->rms_norm(all(*input), weight(scale, 1), 1e-6f, all(*out), {});
  std::vector<double> expected;
  for (int64_t i = 0; i < rows; ++i) {
    double squares = 0;
    for (int64_t j = 0; j < n; ++j) squares += std::pow(static_cast<double>(x[static_cast<size_t>(i * n + j)]), 2);
    for (int64_t j = 0; j < n; ++j)
      expected.push_back(static_cast<double>(x[static_cast<size_t>(i * n + j)]) / std::sqrt(squares / n + 1e-6) *
                         static_cast<double>(scale[static_cast<size_t>(j)]));
  }
  REQUIRE(difference(f.read(*out), expected) < 2e-6);

  f.device->layer_norm(all(*input), weight(scale, 1), weight(bias, 1), 1e-5f, all(*out), {});
  expected.clear();
  for (int64_t i = 0; i < rows; ++i) {
    double mean = 0, squares = 0;
    for (int64_t j = 0; j < n; ++j) mean += static_cast<double>(x[static_cast<size_t>(i * n + j)]) / n;
    for (int64_t j = 0; j < n; ++j)
      squares += std::pow(static_cast<double>(x[static_cast<size_t>(i * n + j)]) - mean, 2);
    for (int64_t j = 0; j < n; ++j)
      expected.push_back((static_cast<double>(x[static_cast<size_t>(i * n + j)]) - mean) /
                             std::sqrt(squares / n + 1e-5) * static_cast<double>(scale[static_cast<size_t>(j)]) +
                         static_cast<double>(bias[static_cast<size_t>(j)]));
  }
  REQUIRE(difference(f.read(*out), expected) < 2e-6);

  for (const float bad : {std::nanf(""), __builtin_inff()}) {
    x[static_cast<size_t>(20 * n + 5)] = bad;
    f.device->upload(x, all(*input));
    f.device->rms_norm(all(*input), weight(scale, 1), 1e-6f, all(*out), {4, "input norm"});
    const base::Status status = f.device->sync();
    REQUIRE(status.code() == base::Code::non_finite);
    REQUIRE(std::string(status.message()).find("layer 4, input norm, row 20") != std::string::npos);
    REQUIRE(f.device->sync().ok());  // reported once
  }
}

TEST_CASE("a layer norm puts neighbours side by side") {
  Fixture f;
  const int64_t rows = 132, n = 20;
  const auto x = random_values(static_cast<size_t>(rows * n), 2.0f);
  const auto scale = random_values(static_cast<size_t>(n)), bias = random_values(static_cast<size_t>(n));
  const auto input = f.rows(rows, n, x), plain = f.rows(rows, n, x);
  const auto wide = f.rows(rows / 4, 4 * n, x);
  f.device->layer_norm(all(*input), weight(scale, 1), weight(bias, 1), 1e-6f, all(*plain), {});
  f.device->layer_norm(all(*input), weight(scale, 1), weight(bias, 1), 1e-6f, all(*wide), {});
  CHECK(f.read(*wide) == f.read(*plain));
  CHECK(f.read(*wide) != x);
}

TEST_CASE("weighted rows of a table are added") {
  Fixture f;
  const int64_t rows = 37, n = 70, taps = 4;
  const auto table = random_values(static_cast<size_t>(11 * n)), before = random_values(static_cast<size_t>(rows * n)),
             weights = random_values(static_cast<size_t>(rows * taps));
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < rows * taps; ++i) ids.push_back(static_cast<int32_t>(generator() % 11));
  const auto out = f.rows(rows, n, before);
  f.device->add_weighted_rows(weight(table, 11), ids, weights, taps, all(*out));
  std::vector<double> expected(before.begin(), before.end());
  for (int64_t i = 0; i < rows * taps; ++i)
    for (int64_t j = 0; j < n; ++j)
      expected[static_cast<size_t>(i / taps * n + j)] +=
          static_cast<double>(weights[static_cast<size_t>(i)]) *
          static_cast<double>(table[static_cast<size_t>(ids[static_cast<size_t>(i)] * n + j)]);
  CHECK(difference(f.read(*out), expected) < 1e-6);
}

TEST_CASE("rotation on two axes, each pair by the angle of its own axis") {
  Fixture f;
  const int64_t rows = 21, heads = 3, dim = 24, half = dim / 2, quarter = dim / 4;
  const auto x = random_values(static_cast<size_t>(rows * heads * dim));
  std::vector<int32_t> positions(static_cast<size_t>(2 * rows));
  for (int64_t i = 0; i < rows; ++i) {
    positions[static_cast<size_t>(i)] = static_cast<int32_t>(i / 5);
    positions[static_cast<size_t>(rows + i)] = static_cast<int32_t>(100 + 3 * i);
  }
  const auto out = f.rows(rows, heads * dim, x);
  f.device->rotate_2d(all(*out), positions, heads, 10000);
  std::vector<double> expected(x.begin(), x.end());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t j = 0; j < half; ++j) {
        const double position = positions[static_cast<size_t>(j < quarter ? i : rows + i)];
        const double angle =
            position * std::pow(10000.0, -2.0 * static_cast<double>(j % quarter) / static_cast<double>(half));
        const auto at = static_cast<size_t>((i * heads + h) * dim + j), other = at + static_cast<size_t>(half);
        const auto a = static_cast<double>(x[at]), b = static_cast<double>(x[other]);
        expected[at] = a * std::cos(angle) - b * std::sin(angle);
        expected[other] = b * std::cos(angle) + a * std::sin(angle);
      }
  // Angles up to 160, formed in f32 as the reference forms them.
  CHECK(difference(f.read(*out), expected) < 3e-5);
}

TEST_CASE("attention equals softmax over all earlier positions, whatever the chunk") {
  Fixture f;
  device::AttentionShape shape;
  shape.heads = 6, shape.kv_heads = 2, shape.head_dim = 32, shape.rotary_dims = 24;
  shape.sections[0] = 4, shape.sections[1] = 4, shape.sections[2] = 4;
  shape.rope_theta = 10000, shape.norm_eps = 1e-6f;
  const int64_t tokens = 150, dim = shape.head_dim, half = shape.rotary_dims / 2;
  const int64_t q_width = 2 * shape.heads * dim, kv_width = shape.kv_heads * dim;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  const auto q = random_values(size(tokens * q_width)), k = random_values(size(tokens * kv_width)),
             v = random_values(size(tokens * kv_width)), q_scale = random_values(size(dim)),
             k_scale = random_values(size(dim));
  std::vector<int32_t> positions(size(3 * tokens));
  for (int64_t t = 0; t < tokens; ++t)
    positions[size(t)] = static_cast<int32_t>(t), positions[size(tokens + t)] = static_cast<int32_t>(t / 2 + 1),
    positions[size(2 * tokens + t)] = static_cast<int32_t>(t % 17);

  // Plain f64.
  const auto prepared = [&](const std::vector<float>& x, int64_t at, const std::vector<float>& scale, int64_t t) {
    std::vector<double> y(size(dim));
    double squares = 0;
    for (int64_t j = 0; j < dim; ++j) squares += std::pow(static_cast<double>(x[size(at + j)]), 2);
    for (int64_t j = 0; j < dim; ++j)
      y[size(j)] = static_cast<double>(x[size(at + j)]) / std::sqrt(squares / static_cast<double>(dim) + 1e-6) *
                   static_cast<double>(scale[size(j)]);
    for (int64_t j = 0; j < half; ++j) {
      const int64_t axis = j % 3;  // 12 pairs, 4 of each axis, interleaved
      const double angle = positions[size(axis * tokens + t)] * std::pow(10000.0, -2.0 * static_cast<double>(j) / 24.0);
      const double a = y[size(j)], b = y[size(j + half)];
      y[size(j)] = a * std::cos(angle) - b * std::sin(angle);
      y[size(j + half)] = b * std::cos(angle) + a * std::sin(angle);
    }
    return y;
  };
  std::vector<double> expected(size(tokens * shape.heads * dim));
  for (int64_t h = 0; h < shape.heads; ++h) {
    std::vector<std::vector<double>> keys;
    for (int64_t t = 0; t < tokens; ++t) {
      keys.push_back(prepared(k, t * kv_width + h / 3 * dim, k_scale, t));
      const auto query = prepared(q, t * q_width + h * 2 * dim, q_scale, t);
      std::vector<double> weights;
      double sum = 0;
      for (int64_t s = 0; s <= t; ++s) {
        double dot = 0;
        for (int64_t j = 0; j < dim; ++j) dot += query[size(j)] * keys[size(s)][size(j)];
        weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(dim))));
        sum += weights.back();
      }
      for (int64_t j = 0; j < dim; ++j) {
        double value = 0;
        for (int64_t s = 0; s <= t; ++s)
          value += weights[size(s)] / sum * static_cast<double>(v[size(s * kv_width + h / 3 * dim + j)]);
        expected[size((t * shape.heads + h) * dim + j)] =
            value * sigmoid(static_cast<double>(q[size(t * q_width + h * 2 * dim + dim + j)]));
      }
    }
  }

  std::vector<float> whole;
  for (const int64_t chunk : {int64_t{64}, int64_t{128}, tokens}) {
    auto cache = f.device->allocate_kv(shape, tokens);
    REQUIRE(cache.ok());
    const auto queries = f.rows(tokens, q_width, q), keys = f.rows(tokens, kv_width, k),
               values = f.rows(tokens, kv_width, v),
               out = f.rows(tokens, shape.heads * dim, std::vector<float>(expected.size()));
    for (int64_t first = 0; first < tokens; first += chunk) {
      const int64_t count = std::min(chunk, tokens - first);
      std::vector<int32_t> part;
      for (int64_t axis = 0; axis < 3; ++axis)
        part.insert(part.end(), positions.begin() + axis * tokens + first,
                    positions.begin() + axis * tokens + first + count);
      f.device->attention_prepare({queries.get(), first, count}, {keys.get(), first, count},
                                  {values.get(), first, count}, weight(q_scale, 1), weight(k_scale, 1), part, shape,
                                  first, *cache.value(), {});
      f.device->attention({queries.get(), first, count}, *cache.value(), shape, first, {out.get(), first, count});
    }
    const auto found = f.read(*out);
    REQUIRE(difference(found, expected) < 3e-6);
    if (whole.empty()) whole = found;
    REQUIRE(std::memcmp(whole.data(), found.data(), found.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("the chunked gated delta rule equals the plain recurrence, for both orders of value heads") {
  Fixture f;
  for (const bool tiled : {false, true})
    for (const int32_t ratio : {1, 2, 3})
      for (const float dt : {-8.0f, 0.0f, 6.0f}) {  // decay near 1, medium, near 0
        device::DeltaShape shape;
        shape.key_heads = 2, shape.value_heads = 2 * ratio, shape.key_dim = 24, shape.value_dim = 40,
        shape.conv_width = 4;
        shape.tiled = tiled;
        const auto size = [](int64_t n) { return static_cast<size_t>(n); };
        const int64_t tokens = 150, dk = shape.key_dim, dv = shape.value_dim, heads = shape.value_heads;
        const int64_t channels = 2 * shape.key_heads * dk + heads * dv;
        const auto x = random_values(size(tokens * channels)), taps = random_values(size(channels * 4), 0.5f),
                   a = random_values(size(tokens * heads)), b = random_values(size(tokens * heads)),
                   dt_bias = std::vector<float>(size(heads), dt);
        auto a_scale = random_values(size(heads));
        for (float& value : a_scale) value = -std::exp(value);

        // Convolution, then decay, read old, correct, write, read out; all f64.
        std::vector<double> convolved(size(tokens * channels)), expected(size(tokens * heads * dv));
        for (int64_t t = 0; t < tokens; ++t)
          for (int64_t c = 0; c < channels; ++c) {
            double sum = 0;
            for (int64_t j = 0; j < 4; ++j)
              if (t - 3 + j >= 0)
                sum += static_cast<double>(taps[size(c * 4 + j)]) *
                       static_cast<double>(x[size((t - 3 + j) * channels + c)]);
            convolved[size(t * channels + c)] = sum * sigmoid(sum);
          }
        for (int64_t h = 0; h < heads; ++h) {
          const int64_t key_head = tiled ? h % 2 : h / ratio;
          std::vector<double> s(size(dk * dv));
          for (int64_t t = 0; t < tokens; ++t) {
            const double* row = convolved.data() + t * channels;
            const auto unit = [&](int64_t at, double factor) {
              double squares = 1e-6;
              for (int64_t j = 0; j < dk; ++j) squares += row[at + j] * row[at + j];
              std::vector<double> y;
              for (int64_t j = 0; j < dk; ++j) y.push_back(row[at + j] / std::sqrt(squares) * factor);
              return y;
            };
            const auto query = unit(key_head * dk, 1 / std::sqrt(static_cast<double>(dk))),
                       key = unit((2 + key_head) * dk, 1);
            const double* value = row + 4 * dk + h * dv;
            const double z = static_cast<double>(a[size(t * heads + h)]) + static_cast<double>(dt);
            const double decay = std::exp(static_cast<double>(a_scale[size(h)]) * std::log1p(std::exp(z)));
            const double beta = sigmoid(static_cast<double>(b[size(t * heads + h)]));
            for (double& entry : s) entry *= decay;
            for (int64_t j = 0; j < dv; ++j) {
              double old = 0, read = 0;
              for (int64_t i = 0; i < dk; ++i) old += s[size(i * dv + j)] * key[size(i)];
              for (int64_t i = 0; i < dk; ++i) s[size(i * dv + j)] += key[size(i)] * beta * (value[j] - old);
              for (int64_t i = 0; i < dk; ++i) read += s[size(i * dv + j)] * query[size(i)];
              expected[size((t * heads + h) * dv + j)] = read;
            }
          }
        }

        std::vector<float> whole;
        for (const int64_t chunk : {int64_t{64}, int64_t{128}, tokens}) {
          auto state = f.device->allocate_delta(shape);
          REQUIRE(state.ok());
          const auto in = f.rows(tokens, channels, x), mixed = f.rows(tokens, channels, x),
                     ra = f.rows(tokens, heads, a), rb = f.rows(tokens, heads, b),
                     out = f.rows(tokens, heads * dv, std::vector<float>(expected.size()));
          for (int64_t first = 0; first < tokens; first += chunk) {
            const int64_t count = std::min(chunk, tokens - first);
            const auto part = [&](const auto& buffer) { return Rows{buffer.get(), first, count}; };
            f.device->causal_conv_silu(part(in), weight(taps, channels), shape, *state.value(), part(mixed));
            f.device->delta_rule(part(mixed), part(ra), part(rb), weight(a_scale, 1), weight(dt_bias, 1), shape, first,
                                 *state.value(), part(out), {});
          }
          const auto found = f.read(*out);
          INFO("tiled " << tiled << " ratio " << ratio << " dt " << dt);
          REQUIRE(difference(found, expected) < 5e-6);
          if (whole.empty()) whole = found;
          REQUIRE(std::memcmp(whole.data(), found.data(), found.size() * sizeof(float)) == 0);
        }
      }
}

TEST_CASE("a device without memory says so and goes on") {
  Fixture f;
  f.memory.set_limit(1000);
  const auto buffer = f.device->allocate(100, 100, device::Role::residual);
  REQUIRE(!buffer.ok());
  REQUIRE(buffer.status().code() == base::Code::memory_limit);
  f.memory.set_limit(0);
  const auto huge = f.device->allocate(INT64_MAX / 2, 1 << 20, device::Role::residual);
  REQUIRE(!huge.ok());
  REQUIRE(huge.status().code() == base::Code::out_of_memory);
  REQUIRE(f.device->allocate(100, 100, device::Role::residual).ok());
}
