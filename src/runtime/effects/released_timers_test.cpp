#include "runtime/effects/released_timers.h"

#include <gtest/gtest.h>

#include "tests/support/recorded_run.h"

namespace tenon::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class ReleasedTimersTest : public testing::Test {
 protected:
  ReleasedTimersTest() {
    const auto image = test::make_image("fn main() -> () { sleep(1) }");
    core = std::make_unique<RunCore>(image, *find_function(image->program(), "main"), std::vector<vm::Argument>{},
                                     bytecode::default_bounds, RunCore::Recording::Off);
    EXPECT_TRUE(core->advance(1'000).is_quiescent);
  }

  /// Keeps a run that sleeps until this time.
  void keep(const std::string& name, std::int64_t wake_at) {
    core->open().begin()->second.set_wake(wake_at);
    timers.keep({name}, *core, {0, nanoseconds(0)});
  }

  std::unique_ptr<RunCore> core;
  ReleasedTimers timers;
};

TEST_F(ReleasedTimersTest, ARunIsDueOnceAndKeptUntilItIsGivenBack) {
  keep("a", 100);
  EXPECT_EQ(timers.time_to_next(milliseconds(40)), milliseconds(60));
  EXPECT_TRUE(timers.take_due(milliseconds(99)).empty());
  EXPECT_TRUE(timers.waits({"a"}, 100));
  const auto due = timers.take_due(milliseconds(100));
  ASSERT_EQ(due.size(), 1U);
  EXPECT_EQ(due[0].text, "a");
  EXPECT_TRUE(timers.take_due(milliseconds(200)).empty());
  EXPECT_FALSE(timers.waits({"a"}, 100));
  core->open().begin()->second.set_wake(100);
  timers.give_back({"a"}, *core);
  EXPECT_EQ(core->open().begin()->second.due, milliseconds(100));
}

TEST_F(ReleasedTimersTest, ManyRunsAreBoundedAndTheSoonestAreKept) {
  for (std::size_t run = 0; run < ReleasedTimers::kept_max; ++run) {
    keep(std::to_string(run), 1'000 + static_cast<std::int64_t>(run));
  }
  const std::string last = std::to_string(ReleasedTimers::kept_max - 1);
  keep("late", 1'000'000);
  EXPECT_FALSE(timers.waits({"late"}, 1'000'000));
  keep("soon", 5);
  EXPECT_EQ(timers.time_to_next(nanoseconds(0)), milliseconds(5));
  EXPECT_FALSE(timers.waits({last}, 1'000 + static_cast<std::int64_t>(ReleasedTimers::kept_max) - 1));
  EXPECT_EQ(timers.take_due(milliseconds(1'000'000)).size(), ReleasedTimers::kept_max);
}

}  // namespace
}  // namespace tenon::runtime
