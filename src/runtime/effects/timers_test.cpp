#include "runtime/effects/timers.h"

#include <gtest/gtest.h>

#include "tests/support/recorded_run.h"

namespace tenon::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A run that waits for two timers, at 100 and at 200.
class TimersTest : public testing::Test {
 protected:
  TimersTest() {
    run = runs.add();
    const auto image = test::make_image(
        "fn nap(time: i64) -> i64 {\n sleep(time)\n time }\n"
        "fn main() -> i64 { let (a, b) = parallel { nap(1), nap(2) }\n a + b }");
    runs[run].core =
        std::make_unique<RunCore>(image, *find_function(image->program(), "main"), std::vector<vm::Argument>{},
                                  bytecode::default_bounds, RunCore::Recording::Off);
    EXPECT_TRUE(runs[run].core->advance(1'000).is_quiescent);
    std::int64_t time = 0;
    for (auto& [key, open] : runs[run].core->open()) {
      open.wake_at = time += 100;
      keys.push_back(key);
      timers.add(run, key, {0, nanoseconds(0)});
    }
  }

  static nanoseconds at(std::int64_t ms) { return milliseconds(ms); }

  RunTable runs;
  Timers timers{runs};
  RunId run;
  std::vector<std::string> keys;
};

TEST_F(TimersTest, AreDueInTheOrderOfTheirTimes) {
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(timers.time_to_next(at(30)), milliseconds(70));
  EXPECT_FALSE(timers.take_due(at(99)).has_value());
  EXPECT_EQ(timers.take_due(at(250))->key, keys[0]);
  EXPECT_EQ(timers.time_to_next(at(250)), milliseconds(0));
  EXPECT_EQ(timers.take_due(at(250))->key, keys[1]);
  EXPECT_FALSE(timers.take_due(at(250)).has_value());
  EXPECT_FALSE(timers.time_to_next(at(250)).has_value());
}

TEST_F(TimersTest, AreDueOnceHoweverOftenTheyAreAdded) {
  timers.add(run, keys[0], {50, at(50)});
  EXPECT_EQ(timers.take_due(at(100))->key, keys[0]);
  EXPECT_FALSE(timers.take_due(at(100)).has_value());
}

TEST_F(TimersTest, AreStaleOnceTheRequestHasAnotherTimeOrNone) {
  runs.find(run, keys[0])->wake_at = 500;
  EXPECT_EQ(timers.time_to_next(at(0)), milliseconds(200));
  runs.find(run, keys[1])->wake_at.reset();
  EXPECT_FALSE(timers.take_due(at(1'000)).has_value());
}

/// A request whose time another process has recorded is compared with the wall clock once.
TEST_F(TimersTest, DoNotFollowWhenTheWallClockIsSet) {
  OpenRequest& open = *runs.find(run, keys[0]);
  open.set_wake(5'000);
  EXPECT_EQ(open.due_at({4'000, at(70)}), at(1'070));
  EXPECT_EQ(open.due_at({1'000, at(80)}), at(1'070));
  open.begin_wait(900'000, {899'000, at(500)});  // a run whose newest time is ahead of the clock
  EXPECT_EQ(open.due_at({0, at(600)}), at(1'500));
  open.set_wake(INT64_MIN);
  EXPECT_LT(open.due_at({4'000, at(0)}), at(0));
}

TEST_F(TimersTest, OfARunAreRemoved) {
  timers.remove(run);
  EXPECT_FALSE(timers.time_to_next(at(0)).has_value());
}

}  // namespace
}  // namespace tenon::runtime
