#include "text/bpe.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "text/hash.hpp"

namespace clef::text {

MergeTable::MergeTable(size_t count, uint64_t seed) : entries_(std::bit_ceil(count + count / 3 + 1)), seed_(seed) {}

size_t MergeTable::place(uint32_t left, uint32_t right) const noexcept {
  const size_t mask = entries_.size() - 1;
  size_t i = mix((uint64_t{left} << 32 | right) ^ seed_) & mask;
  while (entries_[i].merge.rank != kNoRank && (entries_[i].left != left || entries_[i].right != right))
    i = (i + 1) & mask;
  return i;
}

void MergeTable::insert(uint32_t left, uint32_t right, Merge merge) {
  entries_[place(left, right)] = {left, right, merge};
}

MergeTable::Merge MergeTable::find(uint32_t left, uint32_t right) const noexcept {
  if (entries_.empty()) return {kNoRank, 0};
  return entries_[place(left, right)].merge;
}

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr size_t kShort = 48;  // up to here repeated scans beat the heap

void merge_short(std::span<const uint32_t> symbols, const MergeTable& merges, std::vector<int32_t>& out) {
  uint32_t ids[kShort];
  MergeTable::Merge pairs[kShort];  // of each symbol with the next
  size_t size = symbols.size();
  std::copy(symbols.begin(), symbols.end(), ids);
  for (size_t i = 0; i + 1 < size; i++) pairs[i] = merges.find(ids[i], ids[i + 1]);
  while (size > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < size; i++)
      if (pairs[i].rank < pairs[best].rank) best = i;
    if (pairs[best].rank == MergeTable::kNoRank) break;
    ids[best] = pairs[best].id;
    std::copy(ids + best + 2, ids + size, ids + best + 1);
    std::copy(pairs + best + 1, pairs + size - 1, pairs + best);
    size--;
    if (best > 0) pairs[best - 1] = merges.find(ids[best - 1], ids[best]);
    if (best + 1 < size) pairs[best] = merges.find(ids[best], ids[best + 1]);
  }
  for (size_t i = 0; i < size; i++) out.push_back(static_cast<int32_t>(ids[i]));
}

// A linked list of tokens and a heap of (rank, place of the left one). An entry is stale when the node's rank has
// changed: a rank belongs to one pair, and a pair that was merged away never comes back to the same place.
void merge_long(std::span<const uint32_t> symbols, const MergeTable& merges, MergeScratch& scratch,
                std::vector<int32_t>& out) {
  auto& nodes = scratch.nodes;
  auto& heap = scratch.heap;
  const auto size = static_cast<uint32_t>(symbols.size());
  nodes.resize(size);
  heap.clear();
  for (uint32_t i = 0; i < size; i++) {
    const uint32_t rank = i + 1 < size ? merges.find(symbols[i], symbols[i + 1]).rank : MergeTable::kNoRank;
    nodes[i] = {symbols[i], i == 0 ? kNone : i - 1, i + 1 < size ? i + 1 : kNone, rank};
    if (rank != MergeTable::kNoRank) heap.push_back(uint64_t{rank} << 32 | i);
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto update = [&](uint32_t i) {
    MergeScratch::Node& node = nodes[i];
    node.rank = node.next == kNone ? MergeTable::kNoRank : merges.find(node.id, nodes[node.next].id).rank;
    if (node.rank == MergeTable::kNoRank) return;
    heap.push_back(uint64_t{node.rank} << 32 | i);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const uint64_t top = heap.back();
    heap.pop_back();
    const auto i = static_cast<uint32_t>(top);
    MergeScratch::Node& node = nodes[i];
    if (node.rank != top >> 32) continue;
    MergeScratch::Node& right = nodes[node.next];
    node.id = merges.find(node.id, right.id).id;
    right.rank = MergeTable::kNoRank;
    node.next = right.next;
    if (node.next != kNone) nodes[node.next].previous = i;
    update(i);
    if (node.previous != kNone) update(node.previous);
  }
  for (uint32_t i = 0; i != kNone; i = nodes[i].next) out.push_back(static_cast<int32_t>(nodes[i].id));
}

}  // namespace

void merge_piece(std::span<const uint32_t> symbols, const MergeTable& merges, MergeScratch& scratch,
                 std::vector<int32_t>& out) {
  if (symbols.empty()) return;
  if (symbols.size() <= kShort) return merge_short(symbols, merges, out);
  merge_long(symbols, merges, scratch, out);
}

}  // namespace clef::text
