#include "journal/async_store.h"

#include <gmock/gmock.h>

#include <chrono>
#include <semaphore>
#include <thread>

#include "tests/support/journal_testing.h"
#include "tests/support/patience.h"

namespace tenon::journal {
namespace {

using std::chrono::milliseconds;
using test::make_append;
using testing::ElementsAre;

class AsyncStoreTest : public test::JournalTest {
 protected:
  void SetUp() override {
    async.emplace(std::move(store), open({.durability = Durability::Process, .access = Access::Reader}));
    async->on_progress([this] { progress.release(); });
  }
  /// Delivers until nothing is in progress.
  void deliver_all() {
    while (async->in_progress() > 0) {
      ASSERT_TRUE(progress.try_acquire_for(test::patience));
      async->deliver();
    }
  }

  std::counting_semaphore<> progress{0};
  std::optional<ThreadedStore> async;
  RunName run = make_run_name(1);
};

TEST_F(AsyncStoreTest, WorkIsDeliveredOnTheCallersThread) {
  std::thread::id performed, delivered;
  async->write([&](StoreConnection&) { performed = std::this_thread::get_id(); },
               [&] { delivered = std::this_thread::get_id(); });
  EXPECT_EQ(async->in_progress(), 1U);
  deliver_all();
  EXPECT_NE(performed, std::this_thread::get_id());
  EXPECT_EQ(delivered, std::this_thread::get_id());
}

TEST_F(AsyncStoreTest, WritesAndCommitsKeepTheirOrder) {
  const std::vector<Append> first = {make_append(run, 1, {"a"})};
  async->committer().begin(first);
  std::uint64_t epoch = 0;
  async->write([&](StoreConnection& owner) { epoch = claim_run(owner.journals(), run)->epoch; }, {});
  ASSERT_TRUE(async->committer().finish().has_value());
  const std::vector<Append> second = {make_append(run, 2, {"b"})};
  async->committer().begin(second);
  EXPECT_THAT(*async->committer().finish(), ElementsAre(AppendRefusal::OldEpoch));
  deliver_all();
  EXPECT_EQ(epoch, 1U);
}

TEST_F(AsyncStoreTest, AReadDoesNotWaitForAWrite) {
  std::binary_semaphore may_write{0};
  bool has_written = false;
  async->write([&](StoreConnection&) { may_write.acquire(); }, [&] { has_written = true; });
  bool has_read = false;
  async->read([&](StoreConnection& reader) { static_cast<void>(reader.journals().head(run)); },
              [&] { has_read = true; });
  ASSERT_TRUE(progress.try_acquire_for(test::patience));
  async->deliver();
  EXPECT_TRUE(has_read);
  EXPECT_FALSE(has_written);
  may_write.release();
  deliver_all();
  EXPECT_TRUE(has_written);
}

TEST_F(AsyncStoreTest, ACallbackMayStartFurtherCalls) {
  int rounds = 0;
  std::function<void()> next = [&] {
    if (++rounds < 3) async->read([](StoreConnection&) {}, next);
  };
  async->read([](StoreConnection&) {}, next);
  deliver_all();
  EXPECT_EQ(rounds, 3);
}

TEST_F(AsyncStoreTest, FinishPerformsAndLeavesTheDelivery) {
  bool is_performed = false, is_delivered = false;
  async->write([&](StoreConnection&) { is_performed = true; }, [&] { is_delivered = true; });
  async->finish();
  EXPECT_TRUE(is_performed);
  EXPECT_FALSE(is_delivered);
  EXPECT_EQ(async->deliver(), 1U);
  EXPECT_TRUE(is_delivered);
}

}  // namespace
}  // namespace tenon::journal
