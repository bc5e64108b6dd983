#include "base/counted.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(CountedTest, TheNounFollowsTheNumber) {
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(2, "run"), "2 runs");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(21, "entry", "entries"), "21 entries");
  EXPECT_EQ(counted_were(1), "1 was");
  EXPECT_EQ(counted_were(0), "0 were");
}

}  // namespace
}  // namespace tenon
