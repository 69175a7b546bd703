// Shared by the schemes of quantized checkpoints. Inside src/container only.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "container/sizes.hpp"
#include "container/tensor_view.hpp"
#include "json/json.hpp"

namespace clef::container {

// What config.json says about quantization.
struct Quantization {
  enum class Method : uint8_t { none, mlx, compressed_tensors, awq, gptq, fp8, modelopt };
  Method method = Method::none;
  const json::Value* json = nullptr;  // the object; nullptr: none
  std::string_view file;              // config.json

  // An integer of the object; false when it is absent or no integer.
  bool number(std::string_view key, int64_t& out) const noexcept;
  std::string_view text(std::string_view key) const noexcept;  // empty when absent or no string
};

class Joiner {
 public:
  using Shape = std::vector<int64_t>;

  explicit Joiner(std::vector<TensorView>& tensors);

  // Tensors that no matrix has taken yet.
  const TensorView* find(std::string_view module, std::string_view ending) const;
  // The partner of `codes`; missing_part when it is not there.
  base::Result<const TensorView*> need(const TensorView& codes, std::string_view module, std::string_view ending) const;

  // Two dimensions, from 1 to 2^31 - 1 each, so that products of them cannot overflow.
  static base::Status check_matrix(const TensorView& tensor);
  // One of the types and one of the shapes.
  static base::Status check(const TensorView& tensor, std::span<const std::string_view> types,
                            std::span<const Shape> shapes);
  static base::Status error(const TensorView& tensor, std::string_view what, base::Code code = base::Code::bad_file);
  // "[tensor] ..., but config.json says ...": what the file says does not fit the tensors.
  static base::Status contradiction(const TensorView& tensor, std::string_view tells, const Quantization& config,
                                    std::string_view says);
  // The value of a tensor that holds one F32, finite and not 0.
  static base::Status read_factor(const TensorView& tensor, float& out);
  // Groups of the inputs: `in` numbers below `groups`. Left out of the scales where they are those of input / group.
  static base::Status read_groups(const TensorView& tensor, int64_t in, int64_t groups, Scales& scales);
  // Takes the tensor into the scales, as a tensor of values of `format` (its own type when that is nullptr).
  static void set_scales(const TensorView& tensor, Scales& scales, const quant::Format* format = nullptr);
  static void set_offsets(const TensorView& tensor, Scales& scales, const quant::Format* format);

  void take(const TensorView* tensor);  // may be nullptr
  // `codes` and what `scales` holds become the tensor `name` of shape [out, in].
  void add(const TensorView& codes, std::string name, quant::Type type, std::string type_name, int64_t out, int64_t in,
           Scales scales);
  // Puts the joined tensors into the list.
  void finish();

  bool taken(size_t index) const noexcept { return taken_[index]; }

 private:
  std::vector<TensorView>& tensors_;
  std::vector<uint32_t> order_;  // by name
  std::vector<bool> taken_;
  std::vector<TensorView> joined_;
};

inline constexpr std::string_view kFloats[] = {"F32", "F16", "BF16"};

// "g128", "per row".
std::string group_text(int64_t group);

// `name` without `ending`; false when it does not end so or nothing is left.
bool strip(std::string_view name, std::string_view ending, std::string_view& module) noexcept;

// The schemes; `codes` is the tensor that was recognised. Each takes the tensors of one matrix.
base::Status join_mlx(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module);
base::Status join_packed(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module);
base::Status join_int8(Joiner& joiner, const TensorView& codes, std::string_view module);
base::Status join_fp8(Joiner& joiner, const Quantization& config, const TensorView& codes, std::string_view module);
base::Status join_fp4(Joiner& joiner, const TensorView& codes, std::string_view module);
base::Status join_awq_gptq(Joiner& joiner, const Quantization& config, const TensorView& codes,
                           std::string_view module);
// Refuses variants of a scheme that store other numbers under the same names.
base::Status check_compressed_tensors(const Quantization& config);
base::Status check_awq_gptq(const Quantization& config);

// The block of rows and inputs that the configuration gives to FP8 scales; {128, 128} when it says nothing.
base::Status block_size(const Quantization& config, int64_t (&block)[2], bool& stated);

// Scales of one value per matrix, row, group of inputs or block, told apart by their shape.
base::Status place_scales(const TensorView& scales, int64_t out, int64_t in, const int64_t (&block)[2],
                          quant::Scaling& layout, std::string& text);

}  // namespace clef::container
