#include "runtime/recording/commit_gate.h"

#include <gmock/gmock.h>

#include "tests/support/faulty_disk.h"
#include "tests/support/journal_testing.h"

namespace tenon::runtime {
namespace {

using journal::RunName;
using test::make_append;
using testing::ElementsAre;
using testing::IsEmpty;

class CommitGateTest : public test::JournalTest {
 protected:
  static void add(CommitGate& gate, RunId id, const RunName& run, std::uint64_t first, std::vector<std::string> keys) {
    gate.add({id, first, {}, std::move(keys)}, make_append(run, first, {std::to_string(first)}));
  }
  const RunId one{0}, two{1};
  RunName first_run = journal::make_run_name(1), second_run = journal::make_run_name(2);
};

TEST_F(CommitGateTest, WhatWaitsWhenACommitBeginsGoesIntoIt) {
  journal::ThreadCommitter committer(store->journals(), {});
  CommitGate gate(&store->journals(), &committer);
  add(gate, one, first_run, 1, {"a"});
  add(gate, two, second_run, 1, {"b"});
  gate.begin();
  add(gate, one, first_run, 2, {"c"});
  gate.begin();  // one is in progress
  EXPECT_TRUE(gate.is_committing());
  EXPECT_EQ(gate.waiting(), 1U);
  auto passed = gate.take(CommitGate::Wait::Yes);
  ASSERT_EQ(passed.size(), 2U);
  EXPECT_THAT(passed[0].what.to_perform, ElementsAre("a"));
  EXPECT_THAT(passed[1].what.to_perform, ElementsAre("b"));
  EXPECT_EQ(gate.store()->head(first_run)->records, 1U);
  passed = gate.commit();
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_FALSE(passed[0].problem.has_value());
  EXPECT_TRUE(gate.is_empty());
  EXPECT_THAT(read_all(first_run), ElementsAre("1", "2"));
}

TEST_F(CommitGateTest, CountsTheBytesThatWait) {
  CommitGate gate(&store->journals(), nullptr);
  const auto add_large = [&](RunId id, const RunName& run) {
    journal::Append append = make_append(run, 1, {"12345"});
    append.contents.push_back(test::make_content(std::string(1'000, 'x')));
    append.references.push_back(append.contents.front().hash);
    append.snapshot = journal::Snapshot{1, std::string(100, 's')};
    gate.add({id, 1, {}, {}}, std::move(append));
  };
  add_large(one, first_run);
  add_large(two, second_run);
  EXPECT_EQ(gate.waiting_bytes(), 2 * 1'105U);
  EXPECT_EQ(gate.drop(one), 1U);
  EXPECT_EQ(gate.waiting_bytes(), 1'105U);
  EXPECT_EQ(gate.commit().size(), 1U);
  EXPECT_EQ(gate.waiting_bytes(), 0U);
}

TEST_F(CommitGateTest, WhatFollowsWaitsForTheNewestOfItsRun) {
  journal::ThreadCommitter committer(store->journals(), {});
  CommitGate gate(&store->journals(), &committer);
  add(gate, one, first_run, 1, {});
  gate.begin();
  gate.follow(one, {"a"});
  add(gate, two, second_run, 1, {});
  add(gate, one, first_run, 2, {});
  gate.follow(one, {"b"});
  EXPECT_THAT(gate.take(CommitGate::Wait::Yes)[0].what.to_perform, ElementsAre("a"));
  const auto passed = gate.commit();
  ASSERT_EQ(passed.size(), 2U);
  EXPECT_THAT(passed[0].what.to_perform, IsEmpty());
  EXPECT_THAT(passed[1].what.to_perform, ElementsAre("b"));
}

TEST_F(CommitGateTest, ARejectedRunDoesNotAffectOthers) {
  CommitGate gate(&store->journals(), nullptr);
  add(gate, one, first_run, 5, {});
  add(gate, two, second_run, 1, {});
  const auto passed = gate.commit();
  ASSERT_EQ(passed.size(), 2U);
  ASSERT_TRUE(passed[0].problem.has_value());
  EXPECT_FALSE(passed[0].problem->error.has_value());
  EXPECT_FALSE(passed[1].problem.has_value());
}

TEST_F(CommitGateTest, ADiskErrorFailsAllBatches) {
  test::FaultyDisk disk;
  auto faulty = journal::open_store(folder.file("faulty.db"), {.disk = disk.name()});
  ASSERT_TRUE(faulty.has_value());
  CommitGate gate(&(*faulty)->journals(), nullptr);
  add(gate, one, first_run, 1, {});
  add(gate, two, second_run, 1, {});
  disk.fail_at(0, test::FaultyDisk::Fault::NoSpace, UINT64_MAX / 2);
  for (const CommittedBatch& passed : gate.commit()) {
    ASSERT_TRUE(passed.problem.has_value());
    EXPECT_EQ(passed.problem->error, journal::StoreError::Kind::Full);
  }
}

TEST_F(CommitGateTest, WhatWaitsOfARunCanBeForgotten) {
  CommitGate gate(&store->journals(), nullptr);
  add(gate, one, first_run, 1, {"a"});
  add(gate, two, second_run, 1, {"b"});
  add(gate, one, first_run, 2, {"c"});
  EXPECT_EQ(gate.drop(one), 2U);
  const auto passed = gate.commit();
  ASSERT_EQ(passed.size(), 1U);
  EXPECT_EQ(passed[0].what.run, two);
  EXPECT_THAT(read_all(second_run), ElementsAre("1"));
}

}  // namespace
}  // namespace tenon::runtime
