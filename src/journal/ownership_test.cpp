#include "journal/ownership.h"

#include <gmock/gmock.h>

#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// What every store promises about its owners.
class OwnershipContract : public test::StoreContractTest {
 protected:
  void SetUp() override { reopen(host); }
  const StoreOptions host{.durability = Durability::Process, .role = OwnerRole::Host};
  RunName run = make_run_name(1);
  RunName other = make_run_name(2);
};
TENON_INSTANTIATE_FOR_STORES(OwnershipContract);

TEST_P(OwnershipContract, AnOwnerHasAnIdAndALease) {
  Ownership& ownership = store->ownership();
  EXPECT_NE(ownership.self(), OwnerId{});
  EXPECT_EQ(ownership.lease(), LeaseState::Held);
  const auto owners = ownership.owners();
  ASSERT_TRUE(owners.has_value()) << owners.error().message;
  ASSERT_THAT(*owners, SizeIs(1));
  EXPECT_EQ(owners->front().id, ownership.self());
  EXPECT_EQ(owners->front().role, OwnerRole::Host);
  EXPECT_NE(owners->front().label, "");

  const auto reader = open({.durability = Durability::Process, .access = Access::Reader});
  EXPECT_EQ(reader->ownership().self(), OwnerId{});
  EXPECT_THAT(*reader->ownership().owners(), SizeIs(1));
}

TEST_P(OwnershipContract, InterruptedRunsAreClaimedOnce) {
  std::vector<RunName> running;
  for (int at = 0; at < 5; ++at) {
    running.push_back(make_run_name(at + 10));
    ASSERT_EQ(commit(make_append(running.back(), 1, {"a"})), std::nullopt);
  }
  Append waiting = make_append(run, 1, {"a"});
  waiting.summary.state = RunState::Waiting;
  ASSERT_EQ(commit(waiting), std::nullopt);
  reopen(host);
  std::vector<RunName> claimed;
  while (true) {
    const auto heads = store->ownership().claim_abandoned(2);
    ASSERT_TRUE(heads.has_value()) << heads.error().message;
    if (heads->empty()) break;
    EXPECT_LE(heads->size(), 2U);
    for (const RunHead& head : *heads) {
      EXPECT_EQ(head.epoch, 1U);
      EXPECT_EQ(head.records, 1U);
      claimed.push_back(head.run);
    }
  }
  EXPECT_THAT(claimed, testing::UnorderedElementsAreArray(running));
  Append next = make_append(running.front(), 2, {"b"});
  EXPECT_EQ(commit(next), AppendRefusal::OldEpoch);
  next.epoch = 1;
  EXPECT_EQ(commit(next), std::nullopt);
  expect_clean(*store);
}

TEST_P(OwnershipContract, RunsAreClaimedTogether) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  Append done = make_append(other, 1, {"a", "b"});
  done.summary.state = RunState::Done;
  ASSERT_EQ(commit(done), std::nullopt);
  const std::vector<RunName> runs = {make_run_name(3), run, other};
  const auto outcomes = store->journals().claim(runs, ClaimMode::IfFree);
  ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
  ASSERT_THAT(*outcomes, SizeIs(3));
  EXPECT_EQ((*outcomes)[0].error().kind, StoreError::Kind::Missing);
  EXPECT_EQ((*outcomes)[1]->epoch, 1U);
  EXPECT_EQ((*outcomes)[2]->epoch, 0U);  // it has ended
  EXPECT_EQ((*outcomes)[2]->records, 2U);
  EXPECT_THAT(*store->journals().claim({}, ClaimMode::IfMine), IsEmpty());
}

TEST_P(OwnershipContract, AReleasedRunCanBeClaimedAgain) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  ASSERT_TRUE(store->ownership().release({&run, 1}).has_value());
  EXPECT_EQ(claim_run(store->journals(), run)->epoch, 1U);
  const RunName unknown = make_run_name(3);
  EXPECT_TRUE(store->ownership().release({&unknown, 1}).has_value());
}

TEST_P(OwnershipContract, RunsThatAreDueAreFoundForTheirOwner) {
  Append waiting = make_append(run, 1, {"a"});
  waiting.summary.state = RunState::Waiting;
  waiting.summary.wake_at = 10;
  ASSERT_EQ(commit(waiting), std::nullopt);
  const OwnerId self = store->ownership().self();
  EXPECT_THAT(*store->runs().due({.now = 10, .owner = self}), SizeIs(1));
  EXPECT_EQ(*store->runs().next_due(std::nullopt, self), 10);
}

}  // namespace
}  // namespace tenon::journal
