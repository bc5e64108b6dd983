#include "journal/postgres/postgres_wakeups.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <functional>
#include <mutex>

#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::seconds;
using test::make_append;
using testing::ElementsAre;

/// Waits for calls from another thread.
class WaitingWatcher final : public Wakeups::Watcher {
 public:
  void on_changed() override {
    const std::scoped_lock lock(mutex_);
    ++changes_;
    changed_.notify_all();
  }
  void on_message(std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    messages_.emplace_back(message);
    changed_.notify_all();
  }
  [[nodiscard]] bool wait_for_message(const std::string& text) {
    return wait([&] { return !messages_.empty() && messages_.back() == text; });
  }
  [[nodiscard]] bool wait_for_change_after(int count) {
    return wait([&] { return changes_ > count; });
  }
  [[nodiscard]] int changes() {
    const std::scoped_lock lock(mutex_);
    return changes_;
  }
  [[nodiscard]] std::vector<std::string> messages() {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }

 private:
  [[nodiscard]] bool wait(const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(20), condition);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  int changes_ = 0;
  std::vector<std::string> messages_;
};

/// One owner watches the runs of another.
class PostgresWakeupsTest : public test::PostgresStoreTest {
 protected:
  void SetUp() override {
    reopen(host);
    gateway = join(OwnerRole::Gateway);
    ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  }
  static void wait_until_watched(StoreConnection& owner, const RunName& watched) {
    test::expect_soon([&] { return owner.wakeups().is_watched(watched); });
  }
  std::unique_ptr<StoreConnection> gateway;
  RunName run = make_run_name(1);
  WaitingWatcher watcher;
};

TEST_F(PostgresWakeupsTest, AWatcherElsewhereSeesCommitsAndMessages) {
  const auto watch = gateway->wakeups().watch(run, watcher);
  ASSERT_NE(watch, nullptr);
  wait_until_watched(*store, run);
  for (std::uint64_t number = 2; number < 10; ++number) {
    const int before = watcher.changes();
    ASSERT_EQ(commit(make_append(run, number, {"b"})), std::nullopt);
    ASSERT_TRUE(watcher.wait_for_change_after(before));
  }
  std::vector<std::string> sent;
  for (int at = 0; at < 100; ++at) {
    sent.push_back("message " + std::to_string(at) + std::string(static_cast<std::size_t>(at) * 100, 'x'));
    store->wakeups().publish(run, sent.back());
  }
  ASSERT_TRUE(watcher.wait_for_message(sent.back()));
  EXPECT_EQ(watcher.messages(), sent);
}

TEST_F(PostgresWakeupsTest, AWatchFollowsTheRunToItsNextOwner) {
  const auto watch = gateway->wakeups().watch(run, watcher);
  wait_until_watched(*store, run);
  const auto second = join();
  ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
  ASSERT_TRUE(claim_run(second->journals(), run).has_value());
  wait_until_watched(*second, run);
  second->wakeups().publish(run, "from the second");
  EXPECT_TRUE(watcher.wait_for_message("from the second"));
}

TEST_F(PostgresWakeupsTest, AChangeWhoseNoticeIsLostIsSeenSoon) {
  const auto watch = gateway->wakeups().watch(run, watcher);
  wait_until_watched(*store, run);
  const int before = watcher.changes();
  {
    // Another owner's commit, of which no one is notified.
    const auto second = join(OwnerRole::Visitor);
    ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
    ASSERT_TRUE(claim_run(second->journals(), run).has_value());
    Append append = make_append(run, 2, {"b"});
    append.epoch = 1;
    ASSERT_EQ(commit(second->journals(), append), std::nullopt);
  }
  EXPECT_TRUE(watcher.wait_for_change_after(before));
}

TEST_F(PostgresWakeupsTest, MessagesComeBeforeTheChangeThatMakesThemObsolete) {
  const auto watch = gateway->wakeups().watch(run, watcher);
  wait_until_watched(*store, run);
  for (std::uint64_t number = 2; number < 30; ++number) {
    const std::string text = std::to_string(number);
    store->wakeups().publish(run, text);
    const int before = watcher.changes();
    ASSERT_EQ(commit(make_append(run, number, {"b"})), std::nullopt);
    ASSERT_TRUE(watcher.wait_for_message(text));
    ASSERT_TRUE(watcher.wait_for_change_after(before));
  }
}

TEST_F(PostgresWakeupsTest, AWatchOfOnesOwnRunGetsNoMessages) {
  const auto watch = store->wakeups().watch(run, watcher);
  WaitingWatcher elsewhere;
  const auto other_watch = gateway->wakeups().watch(run, elsewhere);
  wait_until_watched(*store, run);
  store->wakeups().publish(run, "a");
  ASSERT_TRUE(elsewhere.wait_for_message("a"));
  EXPECT_THAT(watcher.messages(), testing::IsEmpty());
}

TEST_F(PostgresWakeupsTest, AReaderLooksByItself) {
  const auto reader = open({.durability = Durability::Process, .access = Access::Reader});
  EXPECT_EQ(reader->wakeups().subscribe([](Wakeups::Notice) {}), nullptr);
  EXPECT_EQ(reader->wakeups().watch(run, watcher), nullptr);
  EXPECT_FALSE(reader->wakeups().is_watched(run));
  reader->wakeups().publish(run, "nothing");
}

}  // namespace
}  // namespace tenon::journal::postgres
