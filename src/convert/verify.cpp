#include "convert/verify.hpp"

#include <cmath>
#include <map>

#include "container/gguf.hpp"
#include "model/message.hpp"

namespace clef::convert {

using base::Code;
using base::Status;
using model::file_error;
using model::tensor_error;
using quant::Type;

namespace {

// Largest relative error (root of the squares' sums) of any matrix that the format can hold; damage gives 1 and more.
double error_bound(Type type, bool importance) noexcept {
  switch (type) {
    case Type::f32:
      return 0;
    case Type::f16:
      return 1e-3;
    case Type::bf16:
      return 4e-3;
    case Type::q8_0:
      return 0.05;
    default:
      break;
  }
  if (importance) return 0.9;  // columns that do not matter may be far off
  switch (type) {
    case Type::q6_k:
      return 0.2;
    case Type::q5_0:
    case Type::q5_1:
    case Type::q5_k:
      return 0.3;
    case Type::q2_k:
      return 0.8;
    case Type::q3_k:
      return 0.6;
    default:
      return 0.5;
  }
}

bool is_exact(const Tensor& tensor) noexcept {
  return tensor.format->type == Type::f32 ||
         (tensor.is_plain() && tensor.source->format == tensor.format && tensor.matrix);
}

}  // namespace

Status verify(const std::string& path, std::span<const Tensor> tensors, const Importance& importance, Encoder& encoder,
              base::Watch& watch) {
  CLEF_ASSIGN_OR_RETURN(const io::SourcePtr source, io::open_path(path));
  CLEF_ASSIGN_OR_RETURN(const container::Gguf gguf, container::read_gguf(source));
  const std::string& file = source->name();
  const auto bad = [&](const Tensor& tensor, std::string_view what) {
    return tensor_error(Code::internal, file, tensor.name,
                        std::string(what) + "; the file was not written as it should be, delete it and try again");
  };
  if (gguf.tensors.size() != tensors.size())
    return file_error(Code::internal, file, "does not hold all tensors; delete it and try again");
  std::map<std::string_view, const container::TensorView*> written;
  for (const container::TensorView& view : gguf.tensors) written[view.name] = &view;
  for (const Tensor& tensor : tensors) {
    CLEF_RETURN_IF_ERROR(watch.check());
    const auto place = written.find(tensor.name);
    if (place == written.end()) return bad(tensor, "is missing");
    const container::TensorView& view = *place->second;
    if (view.format != tensor.format || view.shape != tensor.shape || view.bytes != tensor.bytes)
      return bad(tensor, "is " + container::describe(view) + " after writing");
    const std::span<const float> weights = tensor.matrix ? importance.find(tensor.name) : std::span<const float>();
    CLEF_ASSIGN_OR_RETURN(const Encoder::Difference difference,
                          encoder.compare(tensor, weights, [&](uint64_t offset, std::span<std::byte> bytes) {
                            return source->read(view.offset + offset, bytes);
                          }));
    if (!difference.finite)
      return tensor_error(Code::unsupported, file, tensor.name,
                          "has values that are too large for " + std::string(tensor.format->name) +
                              "; give it another type, such as BF16");
    if (!difference.same_bytes) return bad(tensor, "is not what was to be written");
    const double bound = is_exact(tensor) ? 0 : error_bound(tensor.format->type, !weights.empty());
    // The smallest step of a half-precision number is a part of every bound.
    const double least = is_exact(tensor) ? 0 : 0x1p-24 * std::sqrt(static_cast<double>(tensor.elements()));
    if (!(std::sqrt(difference.error) <= bound * std::sqrt(difference.size) + least))
      return tensor_error(
          Code::internal, file, tensor.name,
          "is too far from the source as " + std::string(tensor.format->name) + ": the relative error is " +
              std::to_string(std::sqrt(difference.error / difference.size)) + "; give it another type, such as Q8_0");
  }
  return {};
}

}  // namespace clef::convert
