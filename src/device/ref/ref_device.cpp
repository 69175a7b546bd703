#include "device/ref/ref.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <vector>

namespace clef::device {
namespace {

using base::Result;
using base::Status;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::RowVectorXd;
using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Values are kept in f32, as the definition of a result says; only the arithmetic inside an operation is f64.
struct RefBuffer final : Buffer {
  RefBuffer(int64_t rows, int64_t columns, std::shared_ptr<std::vector<float>> memory, size_t offset)
      : Buffer(rows, columns), values(std::move(memory)), first(offset) {}
  std::shared_ptr<std::vector<float>> values;
  size_t first;
};
struct RefArena final : Arena {
  std::shared_ptr<std::vector<float>> memory;
};
struct RefKv final : KvCache {
  Floats keys, values;  // [positions, kv_heads * head_dim]
};
struct RefDelta final : DeltaState {
  std::vector<Matrix> matrices;  // [key_dim, value_dim] of each value head
  Matrix tail;                   // [conv_width - 1, channels]
};
struct RefAttend final : AttendState {
  int32_t heads = 0;
  Matrix queries, keys, values;
};

auto map(Rows rows) {
  auto& buffer = static_cast<RefBuffer&>(*rows.buffer);
  float* data = buffer.values->data() + buffer.first + static_cast<size_t>(rows.first * buffer.columns());
  return Eigen::Map<Floats>(data, rows.count, buffer.columns());
}
Matrix read(Rows rows) {
  return map(rows).cast<double>();
}
void write(const Matrix& values, Rows rows) {
  map(rows) = values.cast<float>();
}

Matrix decode(const Weight& weight) {
  Floats values(weight.out, weight.in);
  for (int64_t row = 0; row < weight.out; ++row)
    quant::decode_row(weight, row, 0, weight.in, values.data() + row * weight.in);
  return values.cast<double>();
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}
RowVector rms(const RowVector& x, const RowVector& scale, double eps) {
  return (x / std::sqrt(x.squaredNorm() / static_cast<double>(x.size()) + eps)).cwiseProduct(scale);
}
RowVector softmax_times(const RowVector& scores, const Matrix& values) {
  const RowVector weights = (scores.array() - scores.maxCoeff()).exp();
  return weights * values / weights.sum();
}

class RefDevice final : public Device {
 public:
  Result<std::unique_ptr<Buffer>> allocate(int64_t rows, int64_t columns, Role) override {
    auto memory = std::make_shared<std::vector<float>>(static_cast<size_t>(rows * columns));
    return std::unique_ptr<Buffer>(new RefBuffer(rows, columns, std::move(memory), 0));
  }
  Result<std::unique_ptr<Arena>> allocate_arena(uint64_t bytes) override {
    auto arena = std::make_unique<RefArena>();
    arena->memory = std::make_shared<std::vector<float>>(bytes / sizeof(float) + 1);
    return std::unique_ptr<Arena>(std::move(arena));
  }
  std::unique_ptr<Buffer> place(Arena& arena, uint64_t offset, int64_t rows, int64_t columns, Role) override {
    return std::make_unique<RefBuffer>(rows, columns, static_cast<RefArena&>(arena).memory, offset / sizeof(float));
  }
  Result<std::unique_ptr<KvCache>> allocate_kv(const AttentionShape& shape, int64_t capacity) override {
    auto cache = std::make_unique<RefKv>();
    cache->keys = cache->values = Floats::Zero(capacity, shape.kv_heads * shape.head_dim);
    return std::unique_ptr<KvCache>(std::move(cache));
  }
  Result<std::unique_ptr<DeltaState>> allocate_delta(const DeltaShape& shape) override {
    auto state = std::make_unique<RefDelta>();
    state->matrices.assign(static_cast<size_t>(shape.value_heads), Matrix::Zero(shape.key_dim, shape.value_dim));
    state->tail =
        Matrix::Zero(shape.conv_width - 1, 2 * shape.key_heads * shape.key_dim + shape.value_heads * shape.value_dim);
    return std::unique_ptr<DeltaState>(std::move(state));
  }
  Result<std::unique_ptr<AttendState>> allocate_attend(int64_t, int32_t heads, int64_t columns) override {
    auto state = std::make_unique<RefAttend>();
    state->heads = heads;
    state->keys = state->values = Matrix(0, columns);
    return std::unique_ptr<AttendState>(std::move(state));
  }
  uint64_t buffer_bytes(int64_t rows, int64_t columns, Role) const noexcept override {
    return static_cast<uint64_t>(rows * columns) * sizeof(float);
  }
  uint64_t kv_bytes(const AttentionShape& shape, int64_t capacity) const noexcept override {
    return static_cast<uint64_t>(2 * capacity * shape.kv_heads * shape.head_dim) * sizeof(float);
  }

  void upload(std::span<const float> values, Rows out) override {
    if (!values.empty()) std::copy(values.begin(), values.end(), map(out).data());
  }
  Status download(Rows in, std::span<float> values) override {
    if (!values.empty()) std::copy_n(map(in).data(), values.size(), values.begin());
    return {};
  }
  Status sync() override { return {}; }
  void copy_kv(const KvCache& from, KvCache& to, int64_t positions) override {
    const auto& source = static_cast<const RefKv&>(from);
    auto& target = static_cast<RefKv&>(to);
    target.keys.topRows(positions) = source.keys.topRows(positions);
    target.values.topRows(positions) = source.values.topRows(positions);
  }
  void copy_delta(const DeltaState& from, DeltaState& to) override {
    const auto& source = static_cast<const RefDelta&>(from);
    auto& target = static_cast<RefDelta&>(to);
    target.matrices = source.matrices;
    target.tail = source.tail;
  }
  void acquire(std::span<const Weight* const>) override {}
  void release(std::span<const Weight* const>) override {}

  void embed(const Weight& table, std::span<const int32_t> ids, Rows out) override {
    const Matrix rows = decode(table);
    for (int64_t i = 0; i < out.count; ++i) map(out).row(i) = rows.row(ids[static_cast<size_t>(i)]).cast<float>();
  }
  void rms_norm(Rows in, const Weight& scale, float eps, Rows out, Place) override {
    Matrix x = read(in);
    const Matrix w = decode(scale);
    for (int64_t i = 0; i < x.rows(); ++i) x.row(i) = rms(x.row(i), w.row(0), static_cast<double>(eps));
    write(x, out);
  }
  void layer_norm(Rows in, const Weight& scale, const Weight& bias, float eps, Rows out, Place) override {
    Matrix x = read(in);
    const Matrix w = decode(scale), b = decode(bias);
    for (int64_t i = 0; i < x.rows(); ++i) {
      const RowVector centred = x.row(i).array() - x.row(i).mean();
      x.row(i) = rms(centred, w.row(0), static_cast<double>(eps)) + b.row(0);
    }
    // Rows side by side are rows one after another.
    write(Eigen::Map<const Matrix>(x.data(), out.count, out.buffer->columns()), out);
  }
  void matmul(Rows in, std::span<const Product> products) override {
    const Matrix x = read(in);
    for (const Product& product : products) {
      Matrix y = x * decode(*product.weight).transpose();
      if (product.bias) y.rowwise() += decode(*product.bias).row(0);
      switch (product.epilogue) {
        case Epilogue::store:
          break;
        case Epilogue::add_residual:
          y += read(product.out);
          break;
        case Epilogue::silu_mul:
          y = y.unaryExpr([](double v) {
                 return v * sigmoid(v);
               }).cwiseProduct(x * decode(*product.second).transpose());
          break;
        case Epilogue::gelu:
          y = y.unaryExpr([](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); });
          break;
        case Epilogue::gelu_tanh:
          y = y.unaryExpr(
              [](double v) { return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); });
          break;
      }
      write(y, product.out);
    }
  }
  void sum_spans(Rows in, std::span<const SpanPart> spans, Rows out) override {
    for (const SpanPart& span : spans) {
      const Rows target{out.buffer, out.first + span.out, 1};
      Matrix sum = read(target) + read({in.buffer, in.first + span.first, span.count}).colwise().sum();
      if (span.divisor != 0) sum /= static_cast<double>(span.divisor);
      write(sum, target);
    }
  }
  void embed_mean(const Weight& table, std::span<const int32_t> ids, std::span<const SpanPart> spans,
                  Rows out) override {
    const Matrix rows = decode(table);
    for (const SpanPart& span : spans) {
      Matrix sum = Matrix::Zero(1, table.in);
      for (int64_t i = 0; i < span.count; ++i) sum += rows.row(ids[static_cast<size_t>(span.first + i)]);
      write(sum / static_cast<double>(span.count), {out.buffer, out.first + span.out, 1});
    }
  }
  void add_weighted_rows(const Weight& table, std::span<const int32_t> ids, std::span<const float> weights,
                         int64_t taps, Rows out) override {
    const Matrix rows = decode(table);
    Matrix y = read(out);
    for (int64_t i = 0; i < out.count * taps; ++i)
      y.row(i / taps) += static_cast<double>(weights[static_cast<size_t>(i)]) * rows.row(ids[static_cast<size_t>(i)]);
    write(y, out);
  }
  void rotate_2d(Rows rows, std::span<const int32_t> positions, int32_t heads, double theta) override {
    Matrix x = read(rows);
    const int64_t dim = x.cols() / heads, half = dim / 2, quarter = dim / 4;
    for (int64_t i = 0; i < x.rows(); ++i)
      for (int64_t pair = 0; pair < heads * half; ++pair) {
        const int64_t j = pair % half, first = pair / half * dim + j;
        const double position = positions[static_cast<size_t>(j < quarter ? i : x.rows() + i)];
        const double angle =
            position * std::pow(theta, -4.0 * static_cast<double>(j % quarter) / static_cast<double>(dim));
        const double a = x(i, first), b = x(i, first + half);
        x(i, first) = a * std::cos(angle) - b * std::sin(angle);
        x(i, first + half) = b * std::cos(angle) + a * std::sin(angle);
      }
    write(x, rows);
  }

  void attention_prepare(Rows q_gate, Rows keys, Rows values, const Weight& q_norm, const Weight& k_norm,
                         std::span<const int32_t> rope_positions, const AttentionShape& shape, int64_t first,
                         KvCache& kv, Place) override {
    auto& cache = static_cast<RefKv&>(kv);
    Matrix q = read(q_gate), k = read(keys);
    const RowVector q_scale = decode(q_norm).row(0), k_scale = decode(k_norm).row(0);
    const int64_t dim = shape.head_dim, half = shape.rotary_dims / 2, count = q_gate.count;
    const auto turn = [&](RowVector x, const RowVector& scale, int64_t i) {
      x = rms(x, scale, static_cast<double>(shape.norm_eps));
      for (int64_t j = 0; j < half; ++j) {
        int64_t axis = j % 3;
        if (axis != 0 && j >= 3 * shape.sections[axis]) axis = 0;
        const double position = rope_positions[static_cast<size_t>(axis * count + i)];
        const double angle = position * std::pow(shape.rope_theta, -2.0 * static_cast<double>(j) / shape.rotary_dims);
        const double a = x[j], b = x[j + half];
        x[j] = a * std::cos(angle) - b * std::sin(angle);
        x[j + half] = b * std::cos(angle) + a * std::sin(angle);
      }
      return x;
    };
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t h = 0; h < shape.heads; ++h) {
        const RowVector turned = turn(q.row(i).segment(2 * h * dim, dim), q_scale, i);
        q.row(i).segment(2 * h * dim, dim) = turned;
      }
      for (int64_t h = 0; h < shape.kv_heads; ++h) {
        const RowVector turned = turn(k.row(i).segment(h * dim, dim), k_scale, i);
        k.row(i).segment(h * dim, dim) = turned;
      }
    }
    write(q, q_gate);
    cache.keys.middleRows(first, count) = k.cast<float>();
    cache.values.middleRows(first, count) = map(values);
  }
  void attention(Rows q_gate, const KvCache& kv, const AttentionShape& shape, int64_t first, Rows out) override {
    const auto& cache = static_cast<const RefKv&>(kv);
    const Matrix q = read(q_gate);
    const int64_t dim = shape.head_dim, group = shape.heads / shape.kv_heads;
    Matrix result(q.rows(), shape.heads * dim);
    for (int64_t h = 0; h < shape.heads; ++h) {
      const int64_t end = first + q.rows();
      const Matrix k = cache.keys.block(0, h / group * dim, end, dim).cast<double>();
      const Matrix v = cache.values.block(0, h / group * dim, end, dim).cast<double>();
      for (int64_t i = 0; i < q.rows(); ++i) {
        const int64_t seen = first + i + 1;
        const RowVector scores =
            q.row(i).segment(2 * h * dim, dim) * k.topRows(seen).transpose() / std::sqrt(static_cast<double>(dim));
        const RowVector gate = q.row(i).segment((2 * h + 1) * dim, dim).unaryExpr([](double x) { return sigmoid(x); });
        result.row(i).segment(h * dim, dim) = softmax_times(scores, v.topRows(seen)).cwiseProduct(gate);
      }
    }
    write(result, out);
  }

  void causal_conv_silu(Rows in, const Weight& conv, const DeltaShape& shape, DeltaState& delta, Rows out) override {
    auto& state = static_cast<RefDelta&>(delta);
    const int64_t past = shape.conv_width - 1, count = in.count;
    Matrix x(past + count, in.buffer->columns());
    x << state.tail, read(in);
    const Matrix taps = decode(conv);
    Matrix y = Matrix::Zero(count, x.cols());
    for (int64_t j = 0; j <= past; ++j) y += x.middleRows(j, count) * taps.col(j).asDiagonal();
    write(y.unaryExpr([](double v) { return v * sigmoid(v); }), out);
    const Matrix tail = x.bottomRows(past);
    state.tail = tail;
  }
  // The plain recurrence: decay, read old, correct, write, read out.
  void delta_rule(Rows qkv, Rows a, Rows b, const Weight& a_scale, const Weight& dt_bias, const DeltaShape& shape,
                  int64_t, DeltaState& delta, Rows out, Place) override {
    auto& state = static_cast<RefDelta&>(delta);
    const Matrix x = read(qkv), ra = read(a), rb = read(b), scale = decode(a_scale), bias = decode(dt_bias);
    const int64_t dk = shape.key_dim, dv = shape.value_dim, keys = shape.key_heads;
    Matrix result(x.rows(), shape.value_heads * dv);
    for (int64_t h = 0; h < shape.value_heads; ++h) {
      const int64_t key_head = shape.tiled ? h % keys : h / (shape.value_heads / keys);
      Matrix& s = state.matrices[static_cast<size_t>(h)];
      for (int64_t t = 0; t < x.rows(); ++t) {
        RowVector q = x.row(t).segment(key_head * dk, dk), k = x.row(t).segment((keys + key_head) * dk, dk);
        q /= std::sqrt(q.squaredNorm() + 1e-6) * std::sqrt(static_cast<double>(dk));
        k /= std::sqrt(k.squaredNorm() + 1e-6);
        s *= std::exp(scale(0, h) * softplus(ra(t, h) + bias(0, h)));
        const RowVector correction = sigmoid(rb(t, h)) * (x.row(t).segment(2 * keys * dk + h * dv, dv) - k * s);
        s += k.transpose() * correction;
        result.row(t).segment(h * dv, dv) = q * s;
      }
    }
    write(result, out);
  }
  void gated_norm(Rows in, Rows z, const Weight& scale, float eps, int32_t head_dim, Rows out, Place) override {
    Matrix x = read(in);
    const Matrix w = decode(scale), gate = read(z);
    for (int64_t i = 0; i < x.rows(); ++i)
      for (int64_t first = 0; first < x.cols(); first += head_dim) {
        const RowVector normed = rms(x.row(i).segment(first, head_dim), w.row(0), static_cast<double>(eps));
        x.row(i).segment(first, head_dim) = normed;
      }
    write(x.cwiseProduct(gate.unaryExpr([](double v) { return v * sigmoid(v); })), out);
  }

  void attend(Rows queries, Rows keys, Rows values, int32_t, AttendState& attend_state) override {
    auto& state = static_cast<RefAttend&>(attend_state);
    state.queries = read(queries);
    const int64_t old = state.keys.rows();
    state.keys.conservativeResize(old + keys.count, Eigen::NoChange);
    state.values.conservativeResize(old + keys.count, Eigen::NoChange);
    state.keys.bottomRows(keys.count) = read(keys);
    state.values.bottomRows(keys.count) = read(values);
  }
  void attend_finish(AttendState& attend_state, Rows out) override {
    const auto& state = static_cast<const RefAttend&>(attend_state);
    const int64_t dim = state.queries.cols() / state.heads;
    Matrix result(state.queries.rows(), state.queries.cols());
    for (int64_t h = 0; h < state.heads; ++h) {
      const auto columns = Eigen::seqN(h * dim, dim);
      const Matrix k = state.keys(Eigen::all, columns), v = state.values(Eigen::all, columns);
      for (int64_t i = 0; i < result.rows(); ++i) {
        const RowVector scores = state.queries(i, columns) * k.transpose() / std::sqrt(static_cast<double>(dim));
        result(i, columns) = softmax_times(scores, v);
      }
    }
    write(result, out);
  }
  void set_watch(const base::Watch*) override {}
  const char* description() const noexcept override { return "reference f64"; }
};

}  // namespace

std::unique_ptr<Device> make_ref_device() {
  return std::make_unique<RefDevice>();
}

}  // namespace clef::device
