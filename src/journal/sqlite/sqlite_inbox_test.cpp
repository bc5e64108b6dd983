#include <gmock/gmock.h>

#include <chrono>
#include <semaphore>

#include "tests/support/journal_testing.h"
#include "tests/support/patience.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;

class InboxTest : public test::JournalTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
    reader = open({.durability = Durability::Process, .access = Access::Reader});
  }
  RunName run = make_run_name(1);
  std::unique_ptr<StoreConnection> reader;
};

TEST_F(InboxTest, ACommandReachesTheOwnerAndItsReplyTheSender) {
  ASSERT_TRUE(store->inbox().unanswered(10)->empty());
  const auto first = reader->inbox().send(run, "resume");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = reader->inbox().send(run, std::string("\0cancel", 7));
  const auto commands = store->inbox().unanswered(10);
  ASSERT_EQ(commands->size(), 2U);
  EXPECT_EQ((*commands)[0].id, *first);
  EXPECT_EQ((*commands)[0].run, run);
  EXPECT_EQ((*commands)[0].bytes, "resume");
  EXPECT_EQ((*commands)[1].bytes, std::string("\0cancel", 7));
  EXPECT_EQ(store->inbox().unanswered(1)->size(), 1U);

  EXPECT_EQ(reader->inbox().take_reply(*first).value(), std::nullopt);
  ASSERT_TRUE(store->inbox().answer(*first, "").has_value());
  EXPECT_EQ(store->inbox().answer(*first, "twice").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().take_reply(*first).value(), "");
  EXPECT_EQ(reader->inbox().take_reply(*first).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->inbox().unanswered(10)->front().id, *second);
  expect_clean(*store);
}

TEST_F(InboxTest, AnUnansweredCommandIsWithdrawn) {
  const auto first = reader->inbox().send(run, "resume");
  const auto second = reader->inbox().send(run, "cancel");
  EXPECT_TRUE(reader->inbox().withdraw(*first).value());
  EXPECT_FALSE(reader->inbox().withdraw(*first).value());
  ASSERT_EQ(store->inbox().unanswered(10)->size(), 1U);
  ASSERT_TRUE(store->inbox().answer(*second, "done").has_value());
  EXPECT_FALSE(reader->inbox().withdraw(*second).value());
  EXPECT_EQ(reader->inbox().take_reply(*second).value(), "done");
  EXPECT_EQ(store->inbox().answer(*first, "late").error().kind, StoreError::Kind::Missing);
  expect_clean(*store);
}

TEST_F(InboxTest, ACommandIsAnnouncedToSubscribersOnly) {
  std::counting_semaphore<> noticed{0};
  auto subscription = store->wakeups().subscribe([&] { noticed.release(); });
  ASSERT_NE(subscription, nullptr);
  ASSERT_EQ(commit(make_append(run, 2, {"b"})), std::nullopt);  // what the owner writes is no command
  EXPECT_FALSE(noticed.try_acquire_for(std::chrono::milliseconds(50)));
  ASSERT_TRUE(reader->inbox().send(run, "resume").has_value());
  EXPECT_TRUE(noticed.try_acquire_for(test::patience));
  EXPECT_EQ(store->inbox().unanswered(10)->size(), 1U);
  subscription.reset();
  ASSERT_TRUE(reader->inbox().send(run, "resume").has_value());
  EXPECT_FALSE(noticed.try_acquire_for(std::chrono::milliseconds(50)));
}

TEST_F(InboxTest, CommandsSurviveTheOwner) {
  const auto id = reader->inbox().send(run, "resume");
  reopen();
  ASSERT_EQ(store->inbox().unanswered(10)->size(), 1U);
  EXPECT_EQ(store->inbox().unanswered(10)->front().id, *id);
}

TEST_F(InboxTest, AReaderWritesNothingElse) {
  EXPECT_EQ(reader->journals().commit({}).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->journals().claim(run).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->inbox().answer(1, "x").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().forget(run, 1).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().compact().error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->admin().import_run("").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->journals().read(run, 0, 10)->size(), 1U);
}

TEST_F(InboxTest, AnUnknownRunAndTooManyBytesAreRejected) {
  EXPECT_EQ(reader->inbox().send(make_run_name(5), "x").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().send(run, std::string(command_bytes_max + 1, 'x')).error().kind,
            StoreError::Kind::TooLarge);
  EXPECT_EQ(store->inbox().answer(77, "x").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->inbox().send(run, std::string(command_bytes_max, 'x')).has_value(), true);
}

TEST_F(InboxTest, RepliesThatAreNotTakenAreBounded) {
  std::vector<std::uint64_t> ids;
  for (std::size_t at = 0; at < replies_kept_max + 5; ++at) {
    ids.push_back(store->inbox().send(run, "x").value());
    ASSERT_TRUE(store->inbox().answer(ids.back(), "done").has_value());
  }
  EXPECT_EQ(store->inbox().take_reply(ids[4]).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->inbox().take_reply(ids[5]).value(), "done");
}

}  // namespace
}  // namespace tenon::journal::sqlite
