#include "inference/llama_cpp/kv_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace tenon::inference::llama_cpp {
namespace {

/// llama.cpp's memory as the cache sees it: cells in a row, each belonging to sequences; new ones take the lowest free
/// place from where the last one was put, as llama.cpp does.
class FakeMemory final : public KvMemory {
 public:
  explicit FakeMemory(std::size_t size) : cells(size) {}

  void share(SequenceNumber source, SequenceNumber target, std::uint32_t count) override {
    EXPECT_TRUE(path_of(target).empty()) << "a shared path begins on an empty sequence";
    for (Cell& cell : cells) {
      if (cell.owners.contains(source) && cell.position < count) cell.owners.insert(target);
    }
  }
  bool truncate(SequenceNumber sequence, std::uint32_t count) override {
    if (!can_cut && count > 0) return false;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].owners.contains(sequence) && cells[i].position >= count) {
        cells[i].owners.erase(sequence);
        if (cells[i].owners.empty()) head = std::min(head, i);
      }
    }
    return true;
  }
  bool is_whole(SequenceNumber sequence, std::uint32_t count) override {
    return !has_lost_window && path_of(sequence).size() == count;
  }
  void bury(SequenceNumber sequence, std::uint32_t first) override {
    for (Cell& cell : cells) {
      if (!cell.owners.contains(sequence) || cell.position < first) continue;
      EXPECT_EQ(cell.owners.size(), 1U) << "only a path's own cells are buried";
      cell.owners.insert(buried);
    }
  }
  void clear() override {
    for (Cell& cell : cells) cell.owners.clear();
    head = 0;
  }

  void evaluate(SequenceNumber sequence, std::uint32_t position, Token token) {
    std::size_t place = head;
    while (place < cells.size() && !cells[place].owners.empty()) ++place;
    if (place == cells.size()) place = 0;
    while (place < cells.size() && !cells[place].owners.empty()) ++place;
    ASSERT_LT(place, cells.size()) << "no cell is free";
    cells[place] = {{sequence}, position, token};
    head = place + 1;
  }

  /// The sequence's tokens in the order of their cells; checks that these ascend when asked to.
  std::vector<Token> path_of(SequenceNumber sequence) const {
    std::vector<Token> path;
    for (const Cell& cell : cells) {
      if (!cell.owners.contains(sequence)) continue;
      if (path.size() <= cell.position) path.resize(cell.position + 1, -1);
      path[cell.position] = cell.token;
    }
    return path;
  }
  bool ascends(SequenceNumber sequence) const {
    std::uint32_t next = 0;
    for (const Cell& cell : cells) {
      if (cell.owners.contains(sequence) && cell.position != next++) return false;
    }
    return true;
  }
  std::uint32_t count_used() const {
    std::uint32_t count = 0;
    for (const Cell& cell : cells) count += cell.owners.empty() ? 0U : 1U;
    return count;
  }

  struct Cell {
    std::set<SequenceNumber> owners;
    std::uint32_t position = 0;
    Token token = 0;
  };
  static constexpr SequenceNumber buried = 1000;
  std::vector<Cell> cells;
  std::size_t head = 0;
  bool can_cut = true;
  bool has_lost_window = false;
};

using Tokens = std::vector<Token>;

class KvCacheTest : public ::testing::TestWithParam<KvCacheOptions::CellOrder> {
 protected:
  KvCacheTest() : memory_(64), cache_(memory_, {.cells = 64, .sequences = 4, .order = GetParam()}) {}

  /// Takes a sequence for the prompt and evaluates what is missing; gives how many tokens that were.
  std::uint32_t call(const Tokens& prompt, SequenceNumber* sequence = nullptr) {
    const auto taken = cache_.take(prompt, cache_.find_longest(prompt));
    EXPECT_TRUE(taken.has_value());
    const std::uint32_t missing = evaluate(*taken);
    cache_.keep_logits(*taken, std::vector<float>{1.0F});
    if (sequence != nullptr) {
      *sequence = *taken;
    } else {
      cache_.release(*taken);
    }
    return missing;
  }

  std::uint32_t evaluate(SequenceNumber sequence) {
    const auto tokens = cache_.tokens_of(sequence);
    const std::uint32_t evaluated = cache_.evaluated_of(sequence);
    const auto missing = static_cast<std::uint32_t>(tokens.size()) - evaluated;
    EXPECT_TRUE(cache_.make_room(missing));
    for (std::uint32_t i = evaluated; i < tokens.size(); ++i) memory_.evaluate(sequence, i, tokens[i]);
    cache_.mark_evaluated(sequence, missing);
    return missing;
  }

  FakeMemory memory_;
  KvCache cache_;
};

TEST_P(KvCacheTest, EvaluatesACommonBeginningOnce) {
  EXPECT_EQ(call({1, 2, 3}), 3U);
  EXPECT_EQ(call({1, 2, 3, 4, 5}), 2U);  // a call continues
  EXPECT_EQ(call({1, 2, 6}), 1U);        // a return, and a sibling
  EXPECT_EQ(call({1, 2, 3, 4, 5, 7}), 1U);
  EXPECT_EQ(call({9}), 1U);
  EXPECT_EQ(cache_.cells_used(), 8U);  // 1 to 7, and 9
  EXPECT_EQ(memory_.count_used(), 8U);
}

TEST_P(KvCacheTest, ReusesAWholePromptOnlyWithItsLogits) {
  EXPECT_EQ(call({1, 2, 3}), 3U);
  EXPECT_EQ(call({1, 2, 3}), 0U);
  EXPECT_EQ(call({1, 2}), 1U);  // a beginning of it: the logits after 2 were never kept
  EXPECT_EQ(call({1, 2}), 0U);
}

TEST_P(KvCacheTest, ReportsAPrefixThatIsBeingEvaluated) {
  const Tokens first = {1, 2, 3, 4};
  const auto sequence = cache_.take(first, cache_.find_longest(first));
  const auto match = cache_.find_longest(Tokens{1, 2, 9});
  EXPECT_EQ(match.planned, 2U);
  EXPECT_EQ(match.evaluated, 0U);
  EXPECT_EQ(cache_.find_longest(first).planned, 4U);  // its logits are on their way
  evaluate(*sequence);
  EXPECT_EQ(cache_.find_longest(Tokens{1, 2, 9}).evaluated, 2U);
}

TEST_P(KvCacheTest, SharesCellsAmongPathsInUse) {
  SequenceNumber a = 0;
  SequenceNumber b = 0;
  SequenceNumber c = 0;
  SequenceNumber d = 0;
  call({1, 2, 3, 4, 5, 10}, &a);
  call({1, 2, 3, 4, 5, 11}, &b);
  call({1, 2, 3, 4, 5, 12}, &c);
  call({1, 2, 3, 20}, &d);
  EXPECT_EQ(cache_.cells_used(), 9U);
  const Tokens more = {30};
  EXPECT_FALSE(cache_.take(more, cache_.find_longest(more)).has_value());  // all sequences are in use
  for (const SequenceNumber sequence : {a, b, c, d}) cache_.release(sequence);
  EXPECT_TRUE(cache_.take(more, cache_.find_longest(more)).has_value());
}

TEST_P(KvCacheTest, DropsTheLongestUnusedPathForASequence) {
  call({1, 2});
  call({3, 4});
  call({5, 6});
  call({7, 8});
  call({1, 2, 9});  // used again
  call({10});
  EXPECT_EQ(call({1, 2, 9}), 0U);
  EXPECT_EQ(call({3, 4}), 2U);
}

TEST_P(KvCacheTest, StartsOverIfAWindowWasLost) {
  call({1, 2, 3});
  memory_.has_lost_window = true;
  EXPECT_EQ(call({1, 2, 3, 4}), 4U);
}

// Random calls, branches and returns against the simplest truth: after each, a sequence holds exactly its tokens, cells
// in the order promised, and the counts agree.
TEST_P(KvCacheTest, HoldsExactlyItsPathsWhateverHappens) {
  std::mt19937 random(7);
  std::map<SequenceNumber, bool> in_use;
  const auto clear = [&] {
    cache_.clear();
    in_use.clear();
  };
  int clears = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 3 != 0 || in_use.empty()) {
      Tokens prompt;
      const std::size_t length = 1 + random() % 12;
      for (std::size_t i = 0; i < length; ++i) prompt.push_back(static_cast<Token>(random() % 2));
      const auto match = cache_.find_longest(prompt);
      ASSERT_EQ(match.planned, match.evaluated);
      if (cache_.measure_load(prompt, match) > cache_.cells_max()) {
        clear();
        ++clears;
        continue;
      }
      const auto taken = cache_.take(prompt, match);
      if (!taken) continue;
      ASSERT_FALSE(in_use.contains(*taken));
      in_use[*taken] = true;
      const std::uint32_t missing = evaluate(*taken);
      ASSERT_EQ(missing + match.evaluated, prompt.size());
      if (random() % 2 == 0) cache_.keep_logits(*taken, std::vector<float>{1.0F});
      const auto known = cache_.tokens_of(*taken);
      ASSERT_EQ(memory_.path_of(*taken), Tokens(known.begin(), known.end()));
      ASSERT_EQ(memory_.path_of(*taken), prompt);
    } else {
      auto chosen = in_use.begin();
      std::advance(chosen, random() % in_use.size());
      cache_.release(chosen->first);
      in_use.erase(chosen);
    }
    ASSERT_EQ(cache_.cells_used(), memory_.count_used());
    if (GetParam() == KvCacheOptions::CellOrder::Ascending) {
      for (SequenceNumber sequence = 0; sequence < 4; ++sequence) ASSERT_TRUE(memory_.ascends(sequence));
    }
  }
  EXPECT_TRUE(clears > 0 || GetParam() == KvCacheOptions::CellOrder::Any);
}

INSTANTIATE_TEST_SUITE_P(Orders, KvCacheTest,
                         ::testing::Values(KvCacheOptions::CellOrder::Any, KvCacheOptions::CellOrder::Ascending),
                         [](const auto& instance) {
                           return instance.param == KvCacheOptions::CellOrder::Any ? "Any" : "Ascending";
                         });

TEST(KvCacheRoomTest, DropsKeptPathsForRoomButNeverThoseInUse) {
  FakeMemory memory(8);
  KvCache cache(memory, {.cells = 8, .sequences = 4});
  const Tokens kept = {1, 2, 3};
  const auto unused = cache.take(kept, {});
  for (std::uint32_t i = 0; i < 3; ++i) memory.evaluate(*unused, i, kept[i]);
  cache.mark_evaluated(*unused, 3);
  cache.release(*unused);
  const Tokens running = {5, 6, 7};
  const auto used = cache.take(running, {});
  for (std::uint32_t i = 0; i < 3; ++i) memory.evaluate(*used, i, running[i]);
  cache.mark_evaluated(*used, 3);
  EXPECT_TRUE(cache.make_room(2));
  EXPECT_EQ(cache.cells_used(), 6U);  // there was room
  EXPECT_TRUE(cache.make_room(5));
  EXPECT_EQ(cache.cells_used(), 3U);
  EXPECT_FALSE(cache.make_room(6));
}

TEST(KvCacheCutTest, OnlyContinuesWhatCannotBeCut) {
  FakeMemory memory(64);
  memory.can_cut = false;
  KvCache cache(memory, {.cells = 64, .sequences = 2, .cut = KvCacheOptions::Cut::Nowhere});
  const Tokens first = {1, 2, 3};
  const auto sequence = cache.take(first, cache.find_longest(first));
  for (std::uint32_t i = 0; i < 3; ++i) memory.evaluate(*sequence, i, first[i]);
  cache.mark_evaluated(*sequence, 3);
  EXPECT_EQ(cache.find_longest(Tokens{1, 2, 3, 4}).planned, 0U);  // in use
  cache.release(*sequence);
  EXPECT_EQ(cache.find_longest(Tokens{1, 2, 3, 4}).evaluated, 3U);
  EXPECT_EQ(cache.find_longest(Tokens{1, 2, 4}).planned, 0U);
  EXPECT_EQ(cache.find_longest(Tokens{1, 2}).planned, 0U);
}

}  // namespace
}  // namespace tenon::inference::llama_cpp
