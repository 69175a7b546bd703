#include "model/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "model/named_weights.hpp"
#include "model/value_heads.hpp"

namespace clef::model {

using base::Code;
using base::Status;

double Difference::relative_error() const noexcept {
  if (!(difference_square_sum > 0)) return 0;
  return square_sum > 0 ? std::sqrt(difference_square_sum / square_sum) : std::numeric_limits<double>::infinity();
}

namespace {

double size_of(const Outlier& outlier) noexcept {
  return std::fabs(static_cast<double>(outlier.b) - static_cast<double>(outlier.a));
}

}  // namespace

double Difference::max_difference() const noexcept {
  return outlier_count > 0 ? size_of(outliers[0]) : 0;
}

void Difference::add_outlier(const Outlier& outlier) noexcept {
  const double size = size_of(outlier);
  if (outlier_count == kOutliers && size <= size_of(outliers[kOutliers - 1])) return;
  if (outlier_count < kOutliers) ++outlier_count;
  size_t place = outlier_count - 1;
  for (; place > 0 && size > size_of(outliers[place - 1]); --place) outliers[place] = outliers[place - 1];
  outliers[place] = outlier;
}

void Difference::add(const Difference& next) noexcept {
  values += next.values;
  differing += next.differing;
  non_finite_a += next.non_finite_a;
  non_finite_b += next.non_finite_b;
  square_sum += next.square_sum;
  difference_square_sum += next.difference_square_sum;
  for (size_t i = 0; i < next.outlier_count; ++i) add_outlier(next.outliers[i]);
}

namespace {

Status check_geometry(const Package& a, const Package& b) {
  const auto differ = [&](std::string_view field, const std::string& left, const std::string& right) {
    return Status(Code::invalid_argument, "the models cannot be compared: " + std::string(field) + " is " + left +
                                              " in " + a.name + " and " + right + " in " + b.name +
                                              "; give two files of one model");
  };
  struct Field {
    std::string_view name;
    int64_t left, right;
  };
  const Config &x = a.config, &y = b.config;
  const Field fields[] = {
      {"layers", static_cast<int64_t>(x.layers.size()), static_cast<int64_t>(y.layers.size())},
      {"vocabulary", x.vocabulary, y.vocabulary},
      {"hidden", x.hidden, y.hidden},
      {"intermediate", x.intermediate, y.intermediate},
      {"heads", x.heads, y.heads},
      {"kv_heads", x.kv_heads, y.kv_heads},
      {"head_dim", x.head_dim, y.head_dim},
      {"delta_key_heads", x.key_heads, y.key_heads},
      {"delta_value_heads", x.value_heads, y.value_heads},
      {"delta_key_dim", x.key_dim, y.key_dim},
      {"delta_value_dim", x.value_dim, y.value_dim},
      {"delta_conv_width", x.conv_width, y.conv_width},
      {"rotary_dims", x.rotary_dims, y.rotary_dims},
      {"head.width", x.head.width, y.head.width},
      {"head.feedforward", x.head.feedforward, y.head.feedforward},
      {"head.routing_layers", x.head.routing_layers, y.head.routing_layers},
      {"head.decoder_layers", x.head.decoder_layers, y.head.decoder_layers},
      {"head.heads", x.head.heads, y.head.heads},
  };
  for (const Field& field : fields)
    if (field.left != field.right) return differ(field.name, std::to_string(field.left), std::to_string(field.right));
  const auto kind = [](LayerKind layer) -> std::string {
    return layer == LayerKind::attention ? "full attention" : "linear attention";
  };
  for (size_t i = 0; i < x.layers.size(); ++i)
    if (x.layers[i] != y.layers[i])
      return differ("the kind of layer " + std::to_string(i), kind(x.layers[i]), kind(y.layers[i]));
  return {};
}

// The order of one model's value heads seen from the other: grouped by key head, or tiled over them.
class HeadMap {
 public:
  HeadMap(const Package& a, const Package& b)
      : same_(a.conventions.value_heads_tiled == b.conventions.value_heads_tiled),
        from_tiled_(a.conventions.value_heads_tiled),
        order_{a.config.key_heads, a.config.value_heads / a.config.key_heads} {}

  bool moves(const HeadBlocks& heads, HeadBlocks::Axis axis) const noexcept {
    return heads.axis == axis && !same_ && order_.per_key > 1 && order_.key_heads > 1;
  }
  // Where a row or column of the first model is in the second.
  int64_t operator()(const HeadBlocks& heads, int64_t index) const noexcept {
    if (index < heads.first) return index;
    const int64_t head = (index - heads.first) / heads.block, inside = (index - heads.first) % heads.block;
    const int64_t other = from_tiled_ ? order_.grouped(head) : order_.tiled(head);
    return heads.first + other * heads.block + inside;
  }

 private:
  bool same_, from_tiled_;
  ValueHeads order_;
};

// Memory of one task at a time.
struct Slot {
  std::vector<float> a, b, moved;
  Difference difference;
};

bool same_number(float a, float b) noexcept {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void compare_row(std::span<const float> a, std::span<const float> b, int64_t row, Difference& out) noexcept {
  out.values += static_cast<int64_t>(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double left = static_cast<double>(a[i]), difference = static_cast<double>(b[i]) - left;
    if (!std::isfinite(difference)) {  // the difference of two floats does not overflow
      out.non_finite_a += std::isfinite(a[i]) ? 0 : 1;
      out.non_finite_b += std::isfinite(b[i]) ? 0 : 1;
      out.differing += same_number(a[i], b[i]) ? 0 : 1;
      continue;
    }
    out.square_sum += left * left;
    if (!(difference < 0 || difference > 0)) continue;
    ++out.differing;
    out.difference_square_sum += difference * difference;
    out.add_outlier({row, static_cast<int64_t>(i), a[i], b[i]});
  }
}

class Comparer {
 public:
  Comparer(const HeadMap& map, base::Executor& executor, base::Watch& watch)
      : map_(map), executor_(executor), watch_(watch), slots_(std::max<uint32_t>(executor.concurrency(), 1)) {}

  void set_total(uint64_t values) noexcept { total_ = values; }

  Status run(const NamedWeight& a, const NamedWeight& b, Difference& out) {
    const int64_t columns = a.weight.in, rows = a.weight.out;
    const bool moves_rows = map_.moves(a.heads, HeadBlocks::rows), moves = map_.moves(a.heads, HeadBlocks::columns);
    for (Slot& slot : slots_) {
      slot.a.resize(static_cast<size_t>(columns)), slot.b.resize(static_cast<size_t>(columns));
      if (moves) slot.moved.resize(static_cast<size_t>(columns));
    }
    const int64_t step = std::max<int64_t>(kTaskValues / std::max<int64_t>(columns, 1), 1);
    for (int64_t row = 0; row < rows;) {
      CLEF_RETURN_IF_ERROR(watch_.check());
      const int64_t first = row, left = rows - first;
      const size_t tasks = std::min(slots_.size(), static_cast<size_t>((left + step - 1) / step));
      base::parallel_for(executor_, tasks, [&](size_t task) noexcept {
        Slot& slot = slots_[task];
        slot.difference = {};
        const int64_t begin = first + static_cast<int64_t>(task) * step, end = std::min(rows, begin + step);
        for (int64_t i = begin; i < end && !watch_.tripped(); ++i) {
          quant::decode_row(a.weight, i, 0, columns, slot.a.data());
          quant::decode_row(b.weight, moves_rows ? map_(a.heads, i) : i, 0, columns, slot.b.data());
          for (int64_t c = 0; moves && c < columns; c += a.heads.block)
            std::copy_n(slot.b.begin() + map_(a.heads, c), a.heads.block, slot.moved.begin() + c);
          compare_row(slot.a, moves ? slot.moved : slot.b, i, slot.difference);
        }
      });
      for (size_t task = 0; task < tasks; ++task) out.add(slots_[task].difference);
      row = std::min(rows, first + static_cast<int64_t>(tasks) * step);
      done_ += static_cast<uint64_t>(row - first) * static_cast<uint64_t>(columns);
      watch_.progress(base::Stage::load, done_, total_);
    }
    return watch_.check();
  }

 private:
  static constexpr int64_t kTaskValues = int64_t{1} << 20;

  const HeadMap& map_;
  base::Executor& executor_;
  base::Watch& watch_;
  std::vector<Slot> slots_;
  uint64_t done_ = 0, total_ = 0;
};

}  // namespace

base::Result<Comparison> compare(const Package& a, const Package& b, base::Executor& executor, base::Memory& memory,
                                 const base::Hooks& hooks) {
  CLEF_RETURN_IF_ERROR(check_geometry(a, b));
  base::Hooks quiet = hooks;  // progress is that of the comparison
  quiet.progress = nullptr;
  base::Watch loading(quiet), watch(hooks);
  const WeightOptions options{false, false};  // a wrong convention shall show
  CLEF_ASSIGN_OR_RETURN(const Weights weights_a, resolve_weights(a, options, memory, loading));
  CLEF_ASSIGN_OR_RETURN(const Weights weights_b, resolve_weights(b, options, memory, loading));
  const NamedWeights left = named_weights(a, weights_a), right = named_weights(b, weights_b);
  const auto skipped = [&](size_t i) { return left.all[i].stands_twice && right.all[i].stands_twice; };
  uint64_t total = 0;
  for (size_t i = 0; i < left.all.size(); ++i)
    if (!skipped(i))
      total += static_cast<uint64_t>(left.all[i].weight.out) * static_cast<uint64_t>(left.all[i].weight.in);

  const HeadMap map(a, b);
  Comparer comparer(map, executor, watch);
  comparer.set_total(total);
  Comparison made;
  for (size_t i = 0; i < left.all.size(); ++i) {
    if (skipped(i)) continue;
    const NamedWeight &x = left.all[i], &y = right.all[i];
    TensorDifference& tensor = made.tensors.emplace_back();
    tensor.name = x.name;
    tensor.shape = {x.weight.out, x.weight.in};
    if (x.is_vector || y.is_vector) tensor.shape.erase(tensor.shape.begin());
    tensor.type_a = x.type, tensor.type_b = y.type;
    CLEF_RETURN_IF_ERROR(comparer.run(x, y, tensor.difference));
    made.total.add(tensor.difference);
  }
  return made;
}

namespace {

void write_numbers(json::Writer& json, const Difference& difference) {
  json.key("equal");
  json.boolean(difference.differing == 0);
  json.key("differing");
  json.integer(difference.differing);
  json.key("relative_error");
  json.number(difference.relative_error());
  json.key("max_difference");
  json.number(difference.max_difference());
  json.key("non_finite");
  json.begin_array();
  json.integer(difference.non_finite_a);
  json.integer(difference.non_finite_b);
  json.end_array();
}

void write_model(json::Writer& json, const Package& package) {
  json.begin_object();
  json.key("name");
  json.string(package.name);
  json.key("kind");
  json.string(package.kind_name);
  json.end_object();
}

void write_tensor(json::Writer& json, const TensorDifference& tensor) {
  json.begin_object();
  json.key("name");
  json.string(tensor.name);
  json.key("shape");
  json.begin_array();
  for (const int64_t size : tensor.shape) json.integer(size);
  json.end_array();
  json.key("type_a");
  json.string(tensor.type_a);
  json.key("type_b");
  json.string(tensor.type_b);
  write_numbers(json, tensor.difference);
  json.key("outliers");
  json.begin_array();
  for (size_t i = 0; i < tensor.difference.outlier_count; ++i) {
    const Outlier& outlier = tensor.difference.outliers[i];
    json.begin_object();
    json.key("row");
    json.integer(outlier.row);
    json.key("column");
    json.integer(outlier.column);
    json.key("a");
    json.number(static_cast<double>(outlier.a));
    json.key("b");
    json.number(static_cast<double>(outlier.b));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string describe(const Comparison& comparison, const Package& a, const Package& b) {
  std::string out;
  json::Writer json(out);
  json.begin_object();
  json.key("a");
  write_model(json, a);
  json.key("b");
  write_model(json, b);
  json.key("total");
  json.begin_object();
  json.key("tensors");
  json.unsigned_integer(comparison.tensors.size());
  json.key("parameters");
  json.integer(comparison.total.values);
  write_numbers(json, comparison.total);
  json.end_object();
  json.key("tensors");
  json.begin_array();
  for (const TensorDifference& tensor : comparison.tensors) write_tensor(json, tensor);
  json.end_array();
  json.end_object();
  return out;
}

}  // namespace clef::model
