// Turns tensors of a file into weights: presence, type, shape; vectors decoded, matrices left where they are or copied.
// Inside src/model only.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/weights.hpp"

namespace clef::model {

using Shape = std::vector<int64_t>;

class TensorReader {
 public:
  TensorReader(const Package& package, const WeightOptions& options, base::Memory& memory, base::Watch& watch,
               WeightStorage& out)
      : package_(package), options_(options), memory_(memory), watch_(watch), out_(out) {}

  // `where` names the file that ought to hold the tensor, for messages about a missing one.
  base::Result<const container::TensorView*> need(std::string_view name, std::string_view where) const;

  // A matrix. `shapes`, when not empty, are all shapes that the tensor may have.
  base::Status matrix(std::string_view name, std::string_view where, int64_t rows, int64_t columns, Weight& out,
                      std::span<const Shape> shapes = {});
  // Decoded values. Non-finite ones are an error.
  base::Status values(std::string_view name, std::string_view where, std::span<const Shape> shapes,
                      std::vector<float>& out) const;
  // A vector of `size` values, converted and kept; a layer norm, NAME.weight and NAME.bias.
  base::Status vector(std::string_view name, std::string_view where, int64_t size, Weight& out);
  base::Status layer_norm(const std::string& name, std::string_view where, int64_t size, NormWeights& out);
  // A vector that the weights keep.
  Weight keep(std::vector<float> values, int64_t rows, int64_t columns);

  // Fills the copies, with progress. The last step.
  base::Status fill_copies();

 private:
  struct Copy {
    const container::TensorView* tensor;  // of the package, or of one of its tensors' scales
    std::byte* to;
  };
  base::Status check_shape(const container::TensorView& tensor, std::span<const Shape> shapes) const;
  base::Status place(const container::TensorView& tensor, const std::byte*& data);
  base::Status place_scales(const container::Scales& scales, Weight& out);

  const Package& package_;
  const WeightOptions& options_;
  base::Memory& memory_;
  base::Watch& watch_;
  WeightStorage& out_;
  std::vector<Copy> pending_;
};

// The decision head's weights.
base::Status resolve_head(const Package& package, TensorReader& reader, HeadWeights& out);

}  // namespace clef::model
