#include "journal/committer.h"

#include <gmock/gmock.h>

#include <semaphore>

#include "tests/support/faulty_disk.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal {
namespace {

using test::make_append;
using testing::ElementsAre;

class CommitterTest : public test::JournalTest {
 protected:
  /// The outcome, once the committer has reported it.
  CommitOutcome wait_for(Committer& committer) {
    notified.acquire();
    auto outcome = committer.take();
    EXPECT_TRUE(outcome.has_value());
    return outcome ? std::move(*outcome) : committer.finish();
  }
  std::function<void()> notify() {
    return [this] { notified.release(); };
  }
  std::counting_semaphore<> notified{0};
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};

TEST_F(CommitterTest, CommitsOneAfterTheOther) {
  ThreadCommitter committer(store->journals(), notify());
  EXPECT_FALSE(committer.take().has_value());
  for (std::uint64_t number = 1; number <= 200; number += 2) {
    const std::vector<Append> appends = {make_append(run, number, {std::to_string(number)}),
                                         make_append(run, number + 1, {std::to_string(number + 1)})};
    committer.begin(appends);
    const CommitOutcome outcome = number % 3 == 0 ? committer.finish() : wait_for(committer);
    if (number % 3 == 0) notified.acquire();
    ASSERT_TRUE(outcome.has_value());
    EXPECT_THAT(*outcome, ElementsAre(std::nullopt, std::nullopt));
    EXPECT_FALSE(committer.take().has_value());  // given once
  }
  committer.rest();
  EXPECT_EQ(store->journals().head(run)->records, 200U);
  EXPECT_EQ(read_all(run).back(), "200");
}

TEST_F(CommitterTest, ARefusalStopsNoOther) {
  ThreadCommitter committer(store->journals(), notify());
  const std::vector<Append> appends = {make_append(run, 3, {"a"}), make_append(other, 1, {"b"})};
  committer.begin(appends);
  EXPECT_THAT(*wait_for(committer), ElementsAre(AppendRefusal::UnknownRun, std::nullopt));
  committer.rest();
  EXPECT_THAT(read_all(other), ElementsAre("b"));
}

TEST_F(CommitterTest, AfterAFailedSyncNothingIsCommittedAnyMore) {
  test::FaultyDisk disk;
  auto faulty = open_store(folder.file("faulty.db"), {.disk = disk.name()});
  ASSERT_TRUE(faulty.has_value());
  ThreadCommitter committer((*faulty)->journals(), notify());
  const std::vector<Append> appends = {make_append(run, 1, {"a"}), make_append(other, 1, {"b"})};
  disk.fail_at(0, test::FaultyDisk::Fault::InputOutput);
  for (int round = 0; round < 3; ++round) {  // the disk works again after the first one, and is not asked
    committer.begin(appends);
    const CommitOutcome outcome = wait_for(committer);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().kind, StoreError::Kind::Broken);
    disk.heal();
  }
}

TEST_F(CommitterTest, AFullDiskCanBeTriedAgain) {
  test::FaultyDisk disk;
  auto faulty = open_store(folder.file("faulty.db"), {.disk = disk.name()});
  ASSERT_TRUE(faulty.has_value());
  ThreadCommitter committer((*faulty)->journals(), notify());
  const std::vector<Append> appends = {make_append(run, 1, {"a"})};
  disk.fail_at(0, test::FaultyDisk::Fault::NoSpace, UINT64_MAX / 2);
  committer.begin(appends);
  const CommitOutcome outcome = wait_for(committer);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().kind, StoreError::Kind::Full);
  disk.heal();
  committer.begin(appends);
  EXPECT_THAT(*wait_for(committer), ElementsAre(std::nullopt));
  committer.rest();
  EXPECT_THAT(read_all((*faulty)->journals(), run), ElementsAre("a"));
}

TEST_F(CommitterTest, WhatWasBegunIsCommittedBeforeTheEnd) {
  const std::vector<Append> appends = {make_append(run, 1, {"x"})};
  {
    ThreadCommitter committer(store->journals(), {});
    committer.begin(appends);
  }
  EXPECT_THAT(read_all(run), ElementsAre("x"));
}

}  // namespace
}  // namespace tenon::journal
