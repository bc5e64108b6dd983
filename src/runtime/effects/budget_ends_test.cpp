#include "runtime/effects/budget_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tenon::runtime {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(BudgetEnds, WhatIsInProgressIsDueWhenMoreThanItsBudgetHasPassed) {
  std::set<std::uint64_t> in_progress = {1, 2, 3};
  BudgetEnds ends([&](std::uint64_t effect) { return in_progress.contains(effect); });
  EXPECT_EQ(ends.time_to_next(milliseconds(0)), std::nullopt);
  ends.add(1, milliseconds(0), 50);
  ends.add(2, milliseconds(0), 20);
  ends.add(3, milliseconds(0), UINT64_MAX);
  EXPECT_EQ(ends.time_to_next(milliseconds(5)), milliseconds(16));
  EXPECT_THAT(ends.take_due(milliseconds(20)), IsEmpty());
  EXPECT_EQ(ends.time_to_next(milliseconds(40)), milliseconds(0));
  EXPECT_THAT(ends.take_due(milliseconds(51)), ElementsAre(2, 1));
  EXPECT_THAT(ends.take_due(milliseconds(51)), IsEmpty());
  EXPECT_GT(ends.time_to_next(milliseconds(51)), milliseconds(1'000'000));
}

TEST(BudgetEnds, WhatHasEndedIsForgotten) {
  std::uint64_t newest = 0;
  BudgetEnds ends([&](std::uint64_t effect) { return effect == newest; });
  for (newest = 1; newest < 100'000; ++newest) ends.add(newest, milliseconds(0), 1'000);
  --newest;
  EXPECT_THAT(ends.take_due(milliseconds(2'000)), ElementsAre(newest));
  ends.add(1, milliseconds(2'000), 10);
  EXPECT_EQ(ends.time_to_next(milliseconds(2'000)), std::nullopt);
}

}  // namespace
}  // namespace tenon::runtime
