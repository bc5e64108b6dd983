#include <gmock/gmock.h>

#include "tests/support/journal_testing.h"

namespace tenon::journal {
namespace {

using test::make_append;

class InboxTest : public test::JournalTest {
 protected:
  void SetUp() override {
    ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
    reader = open({.durability = Durability::Process, .access = Access::Reader});
  }
  RunName run = make_run_name(1);
  std::unique_ptr<SqliteStore> reader;
};

TEST_F(InboxTest, ACommandReachesTheOwnerAndItsReplyTheSender) {
  ASSERT_TRUE(store->inbox(10)->empty());
  EXPECT_FALSE(store->inbox_may_have_changed());
  const auto first = reader->send(run, "resume");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  const auto second = reader->send(run, std::string("\0cancel", 7));
  EXPECT_TRUE(store->inbox_may_have_changed());
  const auto commands = store->inbox(10);
  ASSERT_EQ(commands->size(), 2U);
  EXPECT_EQ((*commands)[0].id, *first);
  EXPECT_EQ((*commands)[0].run, run);
  EXPECT_EQ((*commands)[0].bytes, "resume");
  EXPECT_EQ((*commands)[1].bytes, std::string("\0cancel", 7));
  EXPECT_FALSE(store->inbox_may_have_changed());
  EXPECT_EQ(store->inbox(1)->size(), 1U);

  EXPECT_EQ(reader->take_reply(*first).value(), std::nullopt);
  ASSERT_TRUE(store->answer(*first, "").has_value());
  EXPECT_EQ(store->answer(*first, "twice").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->take_reply(*first).value(), "");
  EXPECT_EQ(reader->take_reply(*first).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->inbox(10)->front().id, *second);
  expect_clean(*store);
}

TEST_F(InboxTest, ACommandThatNobodyHasAnsweredIsTakenBack) {
  const auto first = reader->send(run, "resume");
  const auto second = reader->send(run, "cancel");
  EXPECT_TRUE(reader->withdraw(*first).value());
  EXPECT_FALSE(reader->withdraw(*first).value());
  ASSERT_EQ(store->inbox(10)->size(), 1U);
  ASSERT_TRUE(store->answer(*second, "done").has_value());
  EXPECT_FALSE(reader->withdraw(*second).value());
  EXPECT_EQ(reader->take_reply(*second).value(), "done");
  EXPECT_EQ(store->answer(*first, "late").error().kind, StoreError::Kind::Missing);
  expect_clean(*store);
}

TEST_F(InboxTest, OwnWritesAreNoChange) {
  ASSERT_TRUE(store->inbox(10)->empty());
  ASSERT_EQ(commit(make_append(run, 2, {"b"})), std::nullopt);
  EXPECT_FALSE(store->inbox_may_have_changed());
  ASSERT_TRUE(store->send(run, "to itself").has_value());
  EXPECT_TRUE(store->inbox_may_have_changed());
}

TEST_F(InboxTest, CommandsSurviveTheOwner) {
  const auto id = reader->send(run, "resume");
  reopen();
  EXPECT_TRUE(store->inbox_may_have_changed());
  ASSERT_EQ(store->inbox(10)->size(), 1U);
  EXPECT_EQ(store->inbox(10)->front().id, *id);
}

TEST_F(InboxTest, AReaderWritesNothingElse) {
  EXPECT_EQ(reader->commit({}).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->claim(run).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->answer(1, "x").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->forget(run, 1).error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->compact().error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->import_run("").error().kind, StoreError::Kind::InUse);
  EXPECT_EQ(reader->read(run, 0, 10)->size(), 1U);
}

TEST_F(InboxTest, AnUnknownRunAndTooManyBytesAreTold) {
  EXPECT_EQ(reader->send(make_run_name(5), "x").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->send(run, std::string(command_bytes_max + 1, 'x')).error().kind, StoreError::Kind::TooLarge);
  EXPECT_EQ(store->answer(77, "x").error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(reader->send(run, std::string(command_bytes_max, 'x')).has_value(), true);
}

TEST_F(InboxTest, RepliesThatNobodyTakesAreBounded) {
  std::vector<std::uint64_t> ids;
  for (std::size_t at = 0; at < replies_kept_max + 5; ++at) {
    ids.push_back(store->send(run, "x").value());
    ASSERT_TRUE(store->answer(ids.back(), "done").has_value());
  }
  EXPECT_EQ(store->take_reply(ids[4]).error().kind, StoreError::Kind::Missing);
  EXPECT_EQ(store->take_reply(ids[5]).value(), "done");
}

}  // namespace
}  // namespace tenon::journal
