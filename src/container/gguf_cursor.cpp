#include "container/gguf_cursor.hpp"

#include "base/unicode.hpp"
#include "container/sizes.hpp"

namespace clef::container {
namespace {

constexpr uint64_t kLongestName = 65535;

}  // namespace

base::Status GgufCursor::too_short(uint64_t bytes, std::string_view what) {
  if (bytes > file_size_ - position_)
    return bad_file(file_,
                    "ends in " + std::string(what) + ": " + std::to_string(bytes) + " bytes are needed at offset " +
                        std::to_string(position_) + ", the file has " + std::to_string(file_size_) +
                        " bytes; it is cut short or damaged, fetch it again",
                    position_);
  wants_more_ = true;
  return bad_file(file_,
                  "the part before the tensor data is longer than " + std::to_string(kLargestGgufHeader) + " bytes",
                  position_, base::Code::unsupported);
}

base::Status GgufCursor::string(std::string_view& out, std::string_view what) {
  CLEF_RETURN_IF_ERROR(need(8, what));
  const auto length = take<uint64_t>();
  CLEF_RETURN_IF_ERROR(need(length, what));
  const auto bytes = static_cast<size_t>(length);
  out = {reinterpret_cast<const char*>(window_.data()) + position_, bytes};
  position_ += bytes;
  return {};
}

base::Status GgufCursor::name(std::string_view& out, std::string_view what) {
  const uint64_t start = position_;
  CLEF_RETURN_IF_ERROR(string(out, what));
  if (out.size() > kLongestName)
    return bad_file(file_,
                    std::string(what) + " has " + std::to_string(out.size()) + " bytes; at most " +
                        std::to_string(kLongestName) + " are allowed",
                    start);
  if (base::find_invalid_utf8(out) != out.npos)
    return bad_file(file_, std::string(what) + " is not valid UTF-8; the file is damaged", start);
  return {};
}

}  // namespace clef::container
