// Which tensors a GGUF file of Clef has, and how each is made from a model's files.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "container/tensor_view.hpp"
#include "model/package.hpp"
#include "model/value_heads.hpp"
#include "quant/format.hpp"

namespace clef::convert {

enum class Architecture : uint8_t {
  clef,    // backbone and decision head
  qwen35,  // the backbone alone, for other programs
};

// Rows or columns that move from the grouped to the tiled order of value heads.
struct HeadOrder {
  int64_t begin = 0;  // what stands before it stays
  int64_t block = 0;  // rows or columns of one head; 0: nothing moves
  model::ValueHeads heads;

  bool moves() const noexcept { return block != 0; }
  // Where index `to` of the written tensor comes from.
  int64_t source(int64_t to) const noexcept {
    if (block == 0 || to < begin) return to;
    return begin + heads.grouped((to - begin) / block) * block + (to - begin) % block;
  }
};

enum class Change : uint8_t { none, add_one, negative_exp };

struct Tensor {
  std::string name;            // in the written file
  std::vector<int64_t> shape;  // as written, the last dimension contiguous
  const container::TensorView* source = nullptr;
  std::vector<float> values;  // when there is no source
  int64_t first_row = 0;      // of the source: a part of a joined matrix
  HeadOrder rows, columns;
  Change change = Change::none;
  bool matrix = false;  // may be quantized, and is streamed by rows; everything else is small
  bool head = false;    // belongs to the decision head
  const quant::Format* format = nullptr;
  uint64_t offset = 0, bytes = 0;  // in the data of the written file

  int64_t columns_count() const noexcept { return shape.back(); }
  int64_t rows_count() const noexcept { return elements() / columns_count(); }
  int64_t elements() const noexcept {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }
  // Whether source bytes of the same format may be copied as they are.
  bool is_plain() const noexcept {
    return source != nullptr && !rows.moves() && !columns.moves() && change == Change::none;
  }
};

// In the order in which they are written. Errors: missing_part, bad_file, unsupported, with file and tensor. The
// tensors refer to the package. Pictures are not part of such a file.
base::Result<std::vector<Tensor>> list_tensors(const model::Package& package, Architecture architecture);
// The decision head's, appended.
base::Status list_head_tensors(const model::Package& package, std::vector<Tensor>& out);

// Finds tensors of a package and checks them.
class TensorFinder {
 public:
  explicit TensorFinder(const model::Package& package) : package_(package) {}
  // A tensor of one of these shapes. `where` names the file that ought to hold it.
  base::Result<const container::TensorView*> find(const std::string& name, const std::string& where,
                                                  const std::vector<std::vector<int64_t>>& shapes) const;

 private:
  const model::Package& package_;
};

}  // namespace clef::convert
