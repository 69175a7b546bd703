#include "support/checking_device.hpp"

#include <functional>
#include <stdexcept>
#include <vector>

namespace clef::test {
namespace {

using namespace device;
using base::Result;
using base::Status;

// Every opaque kind wraps the inner device's object.
template <class Kind>
struct Wrapped final : Kind {
  explicit Wrapped(std::unique_ptr<Kind> object) : inner(std::move(object)) {}
  std::unique_ptr<Kind> inner;
};

struct WrappedBuffer final : Buffer {
  explicit WrappedBuffer(std::unique_ptr<Buffer> object)
      : Buffer(object->rows(), object->columns()), inner(std::move(object)) {}
  std::unique_ptr<Buffer> inner;
};

template <class Kind>
Kind& unwrap(Kind& object) {
  auto* wrapped = dynamic_cast<Wrapped<Kind>*>(&object);
  if (!wrapped) throw std::logic_error("an object of another device");
  return *wrapped->inner;
}
template <class Kind>
const Kind& unwrap(const Kind& object) {
  return unwrap(const_cast<Kind&>(object));
}

Rows unwrap_rows(Rows rows) {
  auto* wrapped = dynamic_cast<WrappedBuffer*>(rows.buffer);
  if (!wrapped) throw std::logic_error("a buffer of another device");
  if (rows.first < 0 || rows.count < 0 || rows.first + rows.count > rows.buffer->rows())
    throw std::logic_error("rows outside their buffer");
  return {wrapped->inner.get(), rows.first, rows.count};
}

class CheckingDevice final : public Device {
 public:
  explicit CheckingDevice(Device& inner) : inner_(inner) {}

  Result<std::unique_ptr<Buffer>> allocate(int64_t rows, int64_t columns, Role role) override {
    CLEF_ASSIGN_OR_RETURN(auto object, inner_.allocate(rows, columns, role));
    return std::unique_ptr<Buffer>(new WrappedBuffer(std::move(object)));
  }
  Result<std::unique_ptr<Arena>> allocate_arena(uint64_t bytes) override { return wrap(inner_.allocate_arena(bytes)); }
  std::unique_ptr<Buffer> place(Arena& arena, uint64_t offset, int64_t rows, int64_t columns, Role role) override {
    if (offset % 64 != 0) throw std::logic_error("a buffer at an unaligned offset");
    return std::make_unique<WrappedBuffer>(inner_.place(unwrap(arena), offset, rows, columns, role));
  }
  Result<std::unique_ptr<KvCache>> allocate_kv(const AttentionShape& shape, int64_t capacity) override {
    return wrap(inner_.allocate_kv(shape, capacity));
  }
  Result<std::unique_ptr<DeltaState>> allocate_delta(const DeltaShape& shape) override {
    return wrap(inner_.allocate_delta(shape));
  }
  Result<std::unique_ptr<AttendState>> allocate_attend(int64_t queries, int32_t heads, int64_t columns) override {
    return wrap(inner_.allocate_attend(queries, heads, columns));
  }
  uint64_t buffer_bytes(int64_t rows, int64_t columns, Role role) const noexcept override {
    return inner_.buffer_bytes(rows, columns, role);
  }
  uint64_t kv_bytes(const AttentionShape& shape, int64_t capacity) const noexcept override {
    return inner_.kv_bytes(shape, capacity);
  }

  void upload(std::span<const float> values, Rows out) override {
    later([=, this, o = unwrap_rows(out)] { inner_.upload(values, o); });
  }
  Status download(Rows in, std::span<float> values) override {
    const Rows rows = unwrap_rows(in);
    run();
    return inner_.download(rows, values);
  }
  Status sync() override {
    run();
    return inner_.sync();
  }
  void copy_kv(const KvCache& from, KvCache& to, int64_t positions) override {
    later([=, this, &f = unwrap(from), &t = unwrap(to)] { inner_.copy_kv(f, t, positions); });
  }
  void copy_delta(const DeltaState& from, DeltaState& to) override {
    later([this, &f = unwrap(from), &t = unwrap(to)] { inner_.copy_delta(f, t); });
  }
  void acquire(std::span<const Weight* const> weights) override {
    for (const Weight* weight : weights) leased_.push_back(weight);
  }
  void release(std::span<const Weight* const> weights) override {
    if (weights.size() != leased_.size()) throw std::logic_error("a lease given back in part");
    leased_.clear();
  }

  void embed(const Weight& table, std::span<const int32_t> ids, Rows out) override {
    later([=, this, &table, o = unwrap_rows(out)] { inner_.embed(table, ids, o); });
  }
  void rms_norm(Rows in, const Weight& scale, float eps, Rows out, Place place) override {
    later([=, this, &scale, i = unwrap_rows(in), o = unwrap_rows(out)] { inner_.rms_norm(i, scale, eps, o, place); });
  }
  void layer_norm(Rows in, const Weight& scale, const Weight& bias, float eps, Rows out, Place place) override {
    if (out.count * out.buffer->columns() != in.count * in.buffer->columns())
      throw std::logic_error("a layer norm whose rows do not fit");
    later([=, this, &scale, &bias, i = unwrap_rows(in), o = unwrap_rows(out)] {
      inner_.layer_norm(i, scale, bias, eps, o, place);
    });
  }
  void matmul(Rows in, std::span<const Product> products) override {
    std::vector<Product> list(products.begin(), products.end());
    for (Product& product : list) {
      if (product.weight->in != in.buffer->columns() || product.weight->out != product.out.buffer->columns() ||
          product.out.count != in.count)
        throw std::logic_error("a matmul whose shapes do not agree");
      product.out = unwrap_rows(product.out);
    }
    later([this, list, i = unwrap_rows(in)] { inner_.matmul(i, list); });
  }
  void sum_spans(Rows in, std::span<const SpanPart> spans, Rows out) override {
    later([=, this, i = unwrap_rows(in), o = unwrap_rows(out)] { inner_.sum_spans(i, spans, o); });
  }
  void embed_mean(const Weight& table, std::span<const int32_t> ids, std::span<const SpanPart> spans,
                  Rows out) override {
    later([=, this, &table, o = unwrap_rows(out)] { inner_.embed_mean(table, ids, spans, o); });
  }
  void add_weighted_rows(const Weight& table, std::span<const int32_t> ids, std::span<const float> weights,
                         int64_t taps, Rows out) override {
    if (ids.size() != weights.size() || static_cast<int64_t>(ids.size()) != taps * out.count)
      throw std::logic_error("taps that do not fit the rows");
    later([=, this, &table, o = unwrap_rows(out)] { inner_.add_weighted_rows(table, ids, weights, taps, o); });
  }
  void rotate_2d(Rows rows, std::span<const int32_t> positions, int32_t heads, double theta) override {
    if (static_cast<int64_t>(positions.size()) != 2 * rows.count) throw std::logic_error("positions for other rows");
    later([=, this, r = unwrap_rows(rows)] { inner_.rotate_2d(r, positions, heads, theta); });
  }
  void attention_prepare(Rows q_gate, Rows keys, Rows values, const Weight& q_norm, const Weight& k_norm,
                         std::span<const int32_t> rope_positions, const AttentionShape& shape, int64_t first,
                         KvCache& cache, Place place) override {
    later([=, this, &q_norm, &k_norm, q = unwrap_rows(q_gate), k = unwrap_rows(keys), v = unwrap_rows(values),
           &c = unwrap(cache)] {
      inner_.attention_prepare(q, k, v, q_norm, k_norm, rope_positions, shape, first, c, place);
    });
  }
  void attention(Rows q_gate, const KvCache& cache, const AttentionShape& shape, int64_t first, Rows out) override {
    later([=, this, q = unwrap_rows(q_gate), o = unwrap_rows(out), &c = unwrap(cache)] {
      inner_.attention(q, c, shape, first, o);
    });
  }
  void causal_conv_silu(Rows in, const Weight& conv, const DeltaShape& shape, DeltaState& state, Rows out) override {
    later([=, this, &conv, i = unwrap_rows(in), o = unwrap_rows(out), &s = unwrap(state)] {
      inner_.causal_conv_silu(i, conv, shape, s, o);
    });
  }
  void delta_rule(Rows qkv, Rows a, Rows b, const Weight& a_scale, const Weight& dt_bias, const DeltaShape& shape,
                  int64_t first, DeltaState& state, Rows out, Place place) override {
    if (first % 64 != 0) throw std::logic_error("a delta-rule chunk off the multiples of 64");
    later([=, this, &a_scale, &dt_bias, x = unwrap_rows(qkv), ra = unwrap_rows(a), rb = unwrap_rows(b),
           o = unwrap_rows(out),
           &s = unwrap(state)] { inner_.delta_rule(x, ra, rb, a_scale, dt_bias, shape, first, s, o, place); });
  }
  void gated_norm(Rows in, Rows z, const Weight& scale, float eps, int32_t head_dim, Rows out, Place place) override {
    later([=, this, &scale, i = unwrap_rows(in), rz = unwrap_rows(z), o = unwrap_rows(out)] {
      inner_.gated_norm(i, rz, scale, eps, head_dim, o, place);
    });
  }
  void attend(Rows queries, Rows keys, Rows values, int32_t heads, AttendState& state) override {
    later([=, this, q = unwrap_rows(queries), k = unwrap_rows(keys), v = unwrap_rows(values), &s = unwrap(state)] {
      inner_.attend(q, k, v, heads, s);
    });
  }
  void attend_finish(AttendState& state, Rows out) override {
    later([this, o = unwrap_rows(out), &s = unwrap(state)] { inner_.attend_finish(s, o); });
  }
  void set_watch(const base::Watch* watch) override { inner_.set_watch(watch); }
  const char* description() const noexcept override { return "checking"; }

 private:
  template <class Kind>
  static Result<std::unique_ptr<Kind>> wrap(Result<std::unique_ptr<Kind>> object) {
    if (!object.ok()) return std::move(object).status();
    return std::unique_ptr<Kind>(new Wrapped<Kind>(std::move(object).value()));
  }
  void later(std::function<void()> work) { queue_.push_back(std::move(work)); }
  void run() {
    std::vector<std::function<void()>> work;
    work.swap(queue_);
    for (const auto& item : work) item();
  }

  Device& inner_;
  std::vector<std::function<void()>> queue_;
  std::vector<const Weight*> leased_;
};

}  // namespace

std::unique_ptr<device::Device> make_checking_device(device::Device& inner) {
  return std::make_unique<CheckingDevice>(inner);
}

}  // namespace clef::test
