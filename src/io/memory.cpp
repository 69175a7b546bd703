#include <cstring>

#include "io/range.hpp"
#include "io/source.hpp"

namespace clef::io {
namespace {

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::span<const std::byte> bytes, bool copy, std::string name) : name_(std::move(name)), bytes_(bytes) {
    if (copy) {
      copy_.assign(bytes.begin(), bytes.end());
      bytes_ = copy_;
    }
  }
  ~MemorySource() override {
    if (release_) release_();
  }
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  // Set last, so that a failed construction never releases what the caller still owns.
  void release_with(std::function<void()> release) { release_ = std::move(release); }

  const std::string& name() const noexcept override { return name_; }
  uint64_t size() const noexcept override { return bytes_.size(); }
  const std::byte* data() const noexcept override { return bytes_.data(); }
  base::Status read(uint64_t offset, std::span<std::byte> out) const override {
    CLEF_RETURN_IF_ERROR(check_range(name_, bytes_.size(), offset, out.size()));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return {};
  }

 private:
  std::string name_;
  std::vector<std::byte> copy_;
  std::span<const std::byte> bytes_;
  std::function<void()> release_;
};

}  // namespace

base::Result<SourcePtr> from_memory(std::span<const std::byte> bytes, bool copy, std::string_view name,
                                    std::function<void()> release) {
  std::string shown = display_name(name);
  if (bytes.data() == nullptr && !bytes.empty())
    return file_error(base::Code::invalid_argument, shown, "the memory is a null pointer but its size is not 0");
  auto source = std::make_shared<MemorySource>(bytes, copy, std::move(shown));
  source->release_with(std::move(release));
  return SourcePtr(std::move(source));
}

base::Result<std::string_view> read_all(const ByteSource& source, std::string& storage, uint64_t limit) {
  const uint64_t size = source.size();
  if (size > limit || size > SIZE_MAX)
    return file_error(base::Code::too_long, source.name(),
                      "has " + std::to_string(size) + " bytes; at most " + std::to_string(limit) + " are accepted");
  const auto bytes = static_cast<size_t>(size);
  if (source.data() != nullptr) return std::string_view(reinterpret_cast<const char*>(source.data()), bytes);
  storage.resize(bytes);
  CLEF_RETURN_IF_ERROR(source.read(0, std::as_writable_bytes(std::span(storage.data(), bytes))));
  return std::string_view(storage);
}

}  // namespace clef::io
