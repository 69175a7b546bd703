#include "io/range.hpp"
#include "io/source.hpp"

namespace clef::io {
namespace {

class CallbackSource final : public ByteSource {
 public:
  explicit CallbackSource(std::string name) : name_(std::move(name)) {}
  ~CallbackSource() override {
    if (callbacks_.release) callbacks_.release();
  }
  CallbackSource(const CallbackSource&) = delete;
  CallbackSource& operator=(const CallbackSource&) = delete;

  // Set last, so that a failed construction never releases what the caller still owns.
  void take(ReadCallbacks callbacks) { callbacks_ = std::move(callbacks); }

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return callbacks_.size; }
  const std::byte* data() const noexcept override { return nullptr; }
  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    CLEF_RETURN_IF_ERROR(check_range(name_, callbacks_.size, offset, out.size()));
    if (out.empty()) return {};
    const int failed = callbacks_.read_at(offset, out.data(), out.size());
    if (failed == 0) return {};
    return file_error(base::Code::io, name_,
                      "the read callback answered " + std::to_string(failed) + " for " + std::to_string(out.size()) +
                          " bytes at offset " + std::to_string(offset),
                      static_cast<int64_t>(offset));
  }

 private:
  std::string name_;
  ReadCallbacks callbacks_;
};

}  // namespace

base::Result<SourcePtr> from_callbacks(ReadCallbacks callbacks, std::string_view name) {
  std::string shown = display_name(name);
  if (!callbacks.read_at) return file_error(base::Code::invalid_argument, shown, "the read callback is missing");
  if (callbacks.size > INT64_MAX)
    return file_error(base::Code::invalid_argument, shown, "the size is beyond 2^63 - 1 bytes");
  auto source = std::make_shared<CallbackSource>(std::move(shown));
  source->take(std::move(callbacks));
  return SourcePtr(std::move(source));
}

}  // namespace clef::io
