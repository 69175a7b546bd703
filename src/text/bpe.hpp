// Byte-pair merging of one piece.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clef::text {

// Which pairs of tokens merge, in which order, into what: a flat hash table keyed by (left, right).
class MergeTable {
 public:
  struct Merge {
    uint32_t rank;
    uint32_t id;
  };
  static constexpr uint32_t kNoRank = UINT32_MAX;

  MergeTable() = default;
  // Room for `count` merges. `seed` makes the places of the entries unpredictable for whoever wrote the file.
  MergeTable(size_t count, uint64_t seed);
  // A repeated pair replaces the earlier one, as the reference does. At most `count` calls.
  void insert(uint32_t left, uint32_t right, Merge merge);
  // rank is kNoRank when the pair does not merge.
  Merge find(uint32_t left, uint32_t right) const noexcept;
  size_t memory_bytes() const noexcept { return entries_.capacity() * sizeof(Entry); }

 private:
  struct Entry {
    uint32_t left = 0;
    uint32_t right = 0;
    Merge merge{kNoRank, 0};
  };
  size_t place(uint32_t left, uint32_t right) const noexcept;

  std::vector<Entry> entries_;  // a power of two, at least a quarter of it free
  uint64_t seed_ = 0;
};

// Working memory for long pieces, kept between the pieces of one call.
struct MergeScratch {
  struct Node {
    uint32_t id;
    uint32_t previous;
    uint32_t next;
    uint32_t rank;  // of the pair with the next node
  };
  std::vector<Node> nodes;
  std::vector<uint64_t> heap;
};

// Merges the adjacent pair of lowest rank, the leftmost first, until none is left, and appends the result to `out`.
// `symbols` are the ids of the piece's bytes. O(n log n).
void merge_piece(std::span<const uint32_t> symbols, const MergeTable& merges, MergeScratch& scratch,
                 std::vector<int32_t>& out);

}  // namespace clef::text
