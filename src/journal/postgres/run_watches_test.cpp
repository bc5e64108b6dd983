#include "journal/postgres/run_watches.h"

#include <gmock/gmock.h>

#include <set>

namespace tenon::journal::postgres {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Remembers what it is called with.
class Recorder final : public Wakeups::Watcher {
 public:
  void on_changed() override {
    ++changes;
    calls.emplace_back("changed");
  }
  void on_message(std::string_view message) override {
    messages.emplace_back(message);
    calls.emplace_back(message);
  }
  int changes = 0;
  std::vector<std::string> calls;
  std::vector<std::string> messages;
};

class RunWatchesTest : public testing::Test {
 protected:
  /// Delivers what one owner has for another, except notices whose place `loses` returns.
  void deliver(
      RunWatches& from, std::int64_t sender, RunWatches& to, std::int64_t receiver,
      const std::function<bool(std::size_t)>& loses = [](std::size_t) { return false; }) {
    const auto notices = from.take_outgoing(sender, now);
    for (std::size_t at = 0; at < notices.size(); ++at) {
      EXPECT_EQ(notices[at].owner, receiver);
      if (loses(at)) continue;
      if (const auto runs = read_changed_notice(notices[at].text)) to.on_changed(*runs);
      if (const auto messages = read_messages_notice(notices[at].text)) to.on_messages(*messages);
    }
  }
  void ask(const RunName& run) {
    for (const std::string& notice : make_watch_notices(2, {run})) owner.on_watch(*read_watch_notice(notice), now);
  }

  int wakes = 0;
  RunWatches owner{[this] { ++wakes; }};  ///< of owner 1
  RunWatches other{[] {}};                ///< of owner 2, which watches
  RunName run = make_run_name(1);
  Recorder watcher;
  nanoseconds now{1};
};

TEST_F(RunWatchesTest, AWatcherReceivesWhatThePublisherSendsInOrder) {
  const auto watch = other.watch(run, watcher);
  EXPECT_TRUE(other.take_has_new());
  EXPECT_THAT(other.watched_here(), ElementsAre(run));
  EXPECT_FALSE(owner.is_watched(run));
  ask(run);
  EXPECT_TRUE(owner.is_watched(run));
  EXPECT_FALSE(owner.is_watched(make_run_name(2)));
  owner.publish(run, "a");
  owner.publish(run, std::string(20'000, 'b'));
  owner.note_changed({&run, 1});
  owner.publish(run, "c");
  EXPECT_GT(wakes, 0);
  EXPECT_TRUE(owner.has_outgoing());
  deliver(owner, 1, other, 2);
  EXPECT_THAT(watcher.messages, ElementsAre("a", std::string(20'000, 'b'), "c"));
  EXPECT_EQ(watcher.changes, 1);
  EXPECT_FALSE(owner.has_outgoing());
}

TEST_F(RunWatchesTest, MessagesAndChangesOfARunAreInOrder) {
  const RunName second_run = make_run_name(2);
  Recorder second;
  const auto watch = other.watch(run, watcher);
  const auto second_watch = other.watch(second_run, second);
  ask(run);
  ask(second_run);
  const auto change = [&](const RunName& changed) { owner.note_changed({&changed, 1}); };
  owner.publish(run, "a");
  owner.publish(run, "b");
  change(run);
  change(run);
  owner.publish(second_run, "x");
  owner.publish(run, "c");
  change(second_run);
  change(run);
  owner.publish(run, "d");
  std::set<std::string> texts;
  for (const OutgoingNotice& notice : owner.take_outgoing(1, now)) {
    EXPECT_TRUE(texts.insert(notice.text).second) << "the server would drop it: " << notice.text;
    if (const auto runs = read_changed_notice(notice.text)) other.on_changed(*runs);
    if (const auto messages = read_messages_notice(notice.text)) other.on_messages(*messages);
  }
  EXPECT_THAT(watcher.calls, ElementsAre("a", "b", "changed", "c", "changed", "d"));
  EXPECT_THAT(second.calls, ElementsAre("x", "changed"));
}

TEST_F(RunWatchesTest, AMessageOfWhichAPartIsLostIsDroppedAndTheNextArrives) {
  const auto watch = other.watch(run, watcher);
  ask(run);
  owner.publish(run, std::string(30'000, 'a'));
  owner.publish(run, "next");
  deliver(owner, 1, other, 2, [](std::size_t at) { return at == 1; });
  EXPECT_THAT(watcher.messages, ElementsAre("next"));
  owner.publish(run, std::string(30'000, 'b'));
  deliver(owner, 1, other, 2, [](std::size_t at) { return at == 0; });
  EXPECT_THAT(watcher.messages, SizeIs(1));
  owner.publish(run, std::string(30'000, 'c'));
  deliver(owner, 1, other, 2);
  EXPECT_THAT(watcher.messages, SizeIs(2));
}

TEST_F(RunWatchesTest, AWatchThatIsNotRenewedEnds) {
  ask(run);
  now += watch_time + nanoseconds(1);
  owner.publish(run, "a");
  EXPECT_THAT(owner.take_outgoing(1, now), IsEmpty());
  EXPECT_FALSE(owner.is_watched(run));
  ask(run);
  owner.forget_watched();
  EXPECT_FALSE(owner.is_watched(run));
}

TEST_F(RunWatchesTest, WhatWaitsToBeSentIsBounded) {
  ask(run);
  const std::string large(100'000, 'x');
  for (int at = 0; at < 100; ++at) owner.publish(run, large);
  std::size_t size = 0;
  for (const OutgoingNotice& notice : owner.take_outgoing(1, now)) size += notice.text.size();
  EXPECT_LT(size, outgoing_bytes_max + 100'000);
  EXPECT_GT(size, outgoing_bytes_max / 2);
  owner.publish(run, "again");
  EXPECT_THAT(owner.take_outgoing(1, now), SizeIs(1));
}

TEST_F(RunWatchesTest, AWatcherIsNotCalledAfterItsEnd) {
  auto watch = other.watch(run, watcher);
  Recorder second;
  const auto second_watch = other.watch(run, second);
  ask(run);
  watch.reset();
  owner.publish(run, "a");
  owner.note_changed({&run, 1});
  deliver(owner, 1, other, 2);
  EXPECT_THAT(watcher.messages, IsEmpty());
  EXPECT_EQ(watcher.changes, 0);
  EXPECT_THAT(second.messages, ElementsAre("a"));
}

TEST_F(RunWatchesTest, AChangeInTheTableIsNoticedOnce) {
  const auto watch = other.watch(run, watcher);
  other.on_seen(run, 1, 5);
  EXPECT_EQ(watcher.changes, 1);
  other.on_seen(run, 1, 5);
  EXPECT_EQ(watcher.changes, 1);
  other.on_seen(run, 1, 6);
  other.on_seen(run, 3, 6);
  EXPECT_EQ(watcher.changes, 3);
}

}  // namespace
}  // namespace tenon::journal::postgres
