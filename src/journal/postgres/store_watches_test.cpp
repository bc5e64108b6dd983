#include "journal/postgres/store_watches.h"

#include <gmock/gmock.h>

namespace tenon::journal::postgres {
namespace {

using std::chrono::nanoseconds;
using testing::IsEmpty;
using testing::SizeIs;

class StoreRecorder final : public Wakeups::StoreWatcher {
 public:
  void on_changed(const RunName& run) override { changed.push_back(run.text); }
  void on_missed() override { ++missed; }
  std::vector<std::string> changed;
  int missed = 0;
};

class StoreWatchesTest : public testing::Test {
 protected:
  /// Delivers what the owner has for the other one, 2.
  void deliver() {
    for (const OutgoingNotice& notice : owner.take_outgoing(now)) {
      EXPECT_EQ(notice.owner, 2);
      EXPECT_LT(notice.text.size(), 8'000U);
      const auto runs = read_any_changed_notice(notice.text);
      ASSERT_TRUE(runs.has_value());
      other.on_changed(*runs);
    }
  }

  int wakes = 0;
  StoreWatches owner{[this] { ++wakes; }};
  StoreWatches other{[] {}};
  StoreRecorder watcher;
  nanoseconds now{1};
};

TEST_F(StoreWatchesTest, AWatcherIsNotifiedOfEachRunOnce) {
  const std::vector<RunName> runs = {make_run_name(1), make_run_name(1)};
  owner.note_changed(runs);
  EXPECT_FALSE(owner.has_outgoing()) << "no one watches";
  auto watch = other.watch(watcher);
  EXPECT_TRUE(other.take_has_new());
  EXPECT_FALSE(other.take_has_new());
  owner.on_watch(2, now);
  owner.note_changed(runs);
  owner.note_changed({runs.data(), 1});
  EXPECT_EQ(wakes, 1);
  EXPECT_TRUE(owner.has_outgoing());
  deliver();
  EXPECT_FALSE(owner.has_outgoing());
  EXPECT_THAT(watcher.changed, testing::UnorderedElementsAre(runs[0].text, runs[1].text));
  watch.reset();
  EXPECT_FALSE(other.has_watchers_here());
  owner.note_changed(runs);
  deliver();
  EXPECT_THAT(watcher.changed, SizeIs(2)) << "the watch has ended";
}

TEST_F(StoreWatchesTest, OfTooManyChangesOnlyTheFactIsSent) {
  const auto watch = other.watch(watcher);
  owner.on_watch(2, now);
  std::vector<RunName> runs;
  for (std::size_t at = 0; at < changed_runs_max; ++at) runs.push_back(make_run_name(1));
  owner.note_changed(runs);
  deliver();
  EXPECT_THAT(watcher.changed, SizeIs(changed_runs_max));
  EXPECT_EQ(watcher.missed, 0);
  runs.push_back(make_run_name(1));
  owner.note_changed(runs);
  deliver();
  EXPECT_THAT(watcher.changed, SizeIs(changed_runs_max));
  EXPECT_EQ(watcher.missed, 1);
  other.on_missed();
  EXPECT_EQ(watcher.missed, 2);
}

TEST_F(StoreWatchesTest, AWatchThatIsNotRenewedEnds) {
  owner.on_watch(2, now);
  now += watch_time + nanoseconds(1);
  owner.note_changed(std::vector<RunName>{make_run_name(1)});
  EXPECT_THAT(owner.take_outgoing(now), IsEmpty());
  EXPECT_FALSE(owner.is_watched());
  owner.on_watch(2, now);
  owner.forget_watched();
  EXPECT_FALSE(owner.is_watched());
}

}  // namespace
}  // namespace tenon::journal::postgres
