#include "text/bpe.hpp"

#include <vector>

#include "support/catch.hpp"

using namespace clef;
using text::MergeScratch;
using text::MergeTable;
using Ids = std::vector<int32_t>;

namespace {

struct Rule {
  uint32_t left, right, id;
};

// The definition: merge the pair of lowest rank, the leftmost first, until none applies.
Ids by_definition(std::vector<uint32_t> symbols, const std::vector<Rule>& rules) {
  for (bool merged = true; merged;) {
    merged = false;
    for (const Rule& rule : rules) {
      for (size_t i = 0; i + 1 < symbols.size() && !merged; i++)
        if (symbols[i] == rule.left && symbols[i + 1] == rule.right) {
          symbols[i] = rule.id;
          symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          merged = true;
        }
      if (merged) break;
    }
  }
  return Ids(symbols.begin(), symbols.end());
}

}  // namespace

TEST_CASE("merging follows the definition for pieces of any length") {
  uint32_t state = 7;
  const auto next = [&](uint32_t bound) { return (state = state * 1664525 + 1013904223) / 65536 % bound; };
  MergeScratch scratch;
  size_t merged = 0;
  for (int round = 0; round < 300; round++) {
    // Random rules over few symbols; each makes a new token out of any two that exist.
    const uint32_t symbols = 2 + next(3);
    std::vector<Rule> rules;
    MergeTable table(20, 0x1234);
    for (uint32_t i = 0; i < 20; i++) {
      const Rule rule = {next(symbols + i), next(symbols + i), symbols + i};
      bool known = false;
      for (const Rule& other : rules) known |= other.left == rule.left && other.right == rule.right;
      if (known) continue;
      table.insert(rule.left, rule.right, {i, rule.id});
      rules.push_back(rule);
    }
    for (const size_t length : {0, 1, 2, 3, 10, 47, 48, 49, 50, 120, 400}) {
      std::vector<uint32_t> piece;
      for (size_t i = 0; i < length; i++) piece.push_back(next(symbols));
      Ids ids = {-7};
      text::merge_piece(piece, table, scratch, ids);
      Ids wanted = by_definition(piece, rules);
      merged += length - wanted.size();
      wanted.insert(wanted.begin(), -7);
      CAPTURE(round, length);
      REQUIRE(ids == wanted);
    }
  }
  CHECK(merged > 10'000);
}

TEST_CASE("the merge table finds what was put in and nothing else") {
  MergeTable table(1000, 99);
  for (uint32_t i = 0; i < 1000; i++) table.insert(i % 10, i, {i, 5000 + i});
  for (uint32_t i = 0; i < 1000; i++) {
    CHECK(table.find(i % 10, i).rank == i);
    CHECK(table.find(i % 10, i).id == 5000 + i);
    CHECK(table.find(i % 10 + 1, i).rank == MergeTable::kNoRank);
    CHECK(table.find(i, UINT32_MAX).rank == MergeTable::kNoRank);
  }
  table.insert(3, 3, {70000, 1});
  CHECK(table.find(3, 3).rank == 70000);
  CHECK(MergeTable().find(0, 0).rank == MergeTable::kNoRank);
  CHECK(MergeTable(0, 0).find(0, 0).rank == MergeTable::kNoRank);
}
