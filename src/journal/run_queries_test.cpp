#include "journal/run_queries.h"

#include <gmock/gmock.h>

#include "tests/support/store_contract.h"

namespace tenon::journal {
namespace {

using test::make_append;
using testing::ElementsAre;
using testing::IsEmpty;

class RunQueriesContract : public test::StoreContractTest {
 protected:
  RunName run = make_run_name(1);
};
TENON_INSTANTIATE_FOR_STORES(RunQueriesContract);

TEST_P(RunQueriesContract, RunsAreListedByNameStateAndTime) {
  std::vector<RunName> names;
  for (int at = 0; at < 10; ++at) {
    names.push_back(make_run_name(at + 1));
    Append append = make_append(names.back(), 1, {"a"});
    append.summary.state = at % 2 == 0 ? RunState::Waiting : RunState::Done;
    if (at % 2 == 0) append.summary.wake_at = 1'000 - at;
    ASSERT_EQ(commit(append), std::nullopt);
  }
  const auto texts = [](const auto& heads) {
    std::vector<RunName> result;
    for (const auto& head : heads.value()) result.push_back(head.run);
    return result;
  };
  EXPECT_EQ(texts(store->runs().list({})), names);
  EXPECT_THAT(texts(store->runs().list({RunState::Done, names[3].text, 2})), ElementsAre(names[5], names[7]));
  EXPECT_THAT(texts(store->runs().list({std::nullopt, names[7].text, SIZE_MAX})), ElementsAre(names[8], names[9]));
  EXPECT_THAT(texts(store->runs().list({RunState::Failed, "", SIZE_MAX})), IsEmpty());
  EXPECT_THAT(texts(store->runs().due({.now = 996})), ElementsAre(names[8], names[6], names[4]));
  EXPECT_THAT(texts(store->runs().due({.now = 996, .limit = 1})), ElementsAre(names[8]));
  EXPECT_THAT(texts(store->runs().due({.now = 991})), IsEmpty());
  EXPECT_EQ(store->runs().next_due(std::nullopt, {}).value(), 992);
  Append woken = make_append(names[8], 2, {});
  ASSERT_EQ(commit(woken), std::nullopt);
  EXPECT_EQ(store->runs().next_due(std::nullopt, {}).value(), 994);
  EXPECT_EQ(texts(store->runs().list({RunState::Running, "", SIZE_MAX})), std::vector<RunName>{names[8]});
}

TEST_P(RunQueriesContract, RunsAndCommandsAreCounted) {
  EXPECT_THAT(store->runs().count().value().runs, IsEmpty());
  std::vector<RunName> names;
  for (int at = 0; at < 5; ++at) {
    names.push_back(make_run_name(at + 1));
    Append append = make_append(names.back(), 1, {"a"});
    append.summary.state = at < 3 ? RunState::Waiting : RunState::Done;
    ASSERT_EQ(commit(append), std::nullopt);
  }
  const auto reader = open({.durability = Durability::Process, .access = Access::Reader});
  const auto sent = reader->inbox().send({names[0], "resume"});
  ASSERT_TRUE(sent.has_value()) << sent.error().message;
  ASSERT_TRUE(reader->inbox().send({names[1], "resume"}).has_value());
  ASSERT_TRUE(reader->inbox().withdraw(*sent).value());
  const StoreCounts counts = store->runs().count().value();
  EXPECT_THAT(counts.runs, ElementsAre(std::pair(RunState::Waiting, 3U), std::pair(RunState::Done, 2U)));
  EXPECT_EQ(counts.commands, 1U);
}

TEST_P(RunQueriesContract, RunsThatWaitAreListedInPieces) {
  std::vector<RunName> names;
  for (int at = 0; at < 7; ++at) {
    names.push_back(make_run_name(at + 1));
    Append append = make_append(names.back(), 1, {"a"});
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = at < 5 ? 10 : 11 + at;  // five at the same time
    ASSERT_EQ(commit(append), std::nullopt);
  }
  std::vector<RunName> seen;
  DueFilter filter{.now = 16, .limit = 2};
  while (true) {
    const auto due = store->runs().due(filter);
    ASSERT_TRUE(due.has_value());
    if (due->empty()) break;
    for (const DueRun& one : *due) seen.push_back(one.run);
    filter.after = due->back();
  }
  EXPECT_EQ(seen, std::vector<RunName>(names.begin(), names.begin() + 6));
  EXPECT_EQ(store->runs().next_due(filter.after, {}).value(), 17);
  EXPECT_EQ(store->runs().next_due(DueRun{10, names[0]}, {}).value(), 10);
  EXPECT_EQ(store->runs().next_due(DueRun{17, names[6]}, {}).value(), std::nullopt);
}

TEST_P(RunQueriesContract, ARunWithADamagedSummaryKeepsItsPlaceAmongThoseThatWait) {
  Append append = make_append(run, 1, {"a"});
  append.summary.wake_at = 10;
  ASSERT_EQ(commit(append), std::nullopt);
  execute("UPDATE runs SET detail = 'altered'");
  const auto due = store->runs().due({.now = 10});
  ASSERT_EQ(due->size(), 1U);
  EXPECT_EQ(due->front().wake_at, 10);
  EXPECT_TRUE(store->runs().due({.now = 10, .after = due->front()})->empty());
}

}  // namespace
}  // namespace tenon::journal
