// Rows of runs whose columns were changed by someone else.
#include "journal/postgres/row_repair.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/support/postgres_testing.h"

namespace tenon::journal::postgres {
namespace {

using test::make_append;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RowRepairTest : public test::PostgresStoreTest {
 protected:
  void SetUp() override {
    reopen(host);
    Append append = make_append(run, 1, {"a", "b"});
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = 5'000;
    append.summary.detail = "a question";
    ASSERT_EQ(commit(append), std::nullopt);
    append.first = 3;  // an append without a batch
    append.records.clear();
    ASSERT_EQ(commit(append), std::nullopt);
    ASSERT_EQ(commit(make_append(make_run_name(2), 1, {"c"})), std::nullopt);
    release();
  }
  void release() { ASSERT_TRUE(store->ownership().release({&run, 1}).has_value()); }
  void change(const std::string& assignment) {
    execute(fmt::format("UPDATE runs SET {} WHERE name = '{}'", assignment, run.text));
  }
  /// Opens the store as `tenon store repair` does, and returns what was repaired.
  std::vector<std::string> repair() {
    const auto repairing = open({.durability = Durability::Process, .damaged_log = DamagedLog::Cut});
    return repairing->notices();
  }
  [[nodiscard]] CheckReport check() { return open({.access = Access::Reader})->admin().check().value(); }
  static std::string flip(std::string_view column, int bit) {
    return fmt::format("{0} = {0} # (1::bigint << {1})", column, bit);
  }
  RunName run = make_run_name(1);
};

TEST_F(RowRepairTest, EachColumnOfTheSummaryIsCovered) {
  for (const char* const assignment :
       {"state = 3", "state = 6", "state = 77", "wake_at = 9000000000000", "wake_at = NULL", "title = 'other'",
        "detail = 'x'", "updated_at = 1", "created_at = 1", "checksum = 1"}) {
    SCOPED_TRACE(assignment);
    change(assignment);
    EXPECT_THAT(check().problems, Contains(HasSubstr("its summary is damaged")));
    EXPECT_TRUE(store->runs().list({})->front().is_damaged);
    EXPECT_EQ(read_all(run).size(), 2U);
    EXPECT_TRUE(store->admin().export_run(run).has_value());
    EXPECT_THAT(repair(), ElementsAre(HasSubstr(run.text)));
    EXPECT_THAT(repair(), IsEmpty());
    const auto head = claim_run(store->journals(), run);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->summary.state, RunState::Running);
    EXPECT_EQ(head->summary.wake_at, std::nullopt);
    EXPECT_FALSE(head->is_damaged);
    expect_clean(*store);
    // What is derived from the records replaces it.
    Append append = make_append(run, 3, {});
    append.epoch = head->epoch;
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = 5'000;
    ASSERT_EQ(commit(append), std::nullopt);
    expect_clean(*store);
    release();
  }
}

TEST_F(RowRepairTest, AnOwnerRepairsTheRowThatItClaims) {
  for (const char* const assignment : {"state = 3", "state = 6", "state = 77", "records = 0", "chain = '\\x01'"}) {
    SCOPED_TRACE(assignment);
    change(assignment);
    const auto head = claim_run(store->journals(), run);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->records, 2U);
    EXPECT_FALSE(has_ended(head->summary.state));
    expect_clean(*store);
    release();
  }
  // A run that is found by its state.
  change("state = 0");
  ASSERT_EQ(store->ownership().claim_abandoned(10)->size(), 1U);
  expect_clean(*store);
}

/// What follows from the batches is restored, and with it the checksum: the summary is what it was.
TEST_F(RowRepairTest, WhatFollowsFromTheBatchesIsRestored) {
  const RunHead before = store->journals().head(run).value();
  std::vector<std::string> changes = {"records = 0", "chain = ''", "chain = '\\x01'", "appends = 0",
                                      "records = 0, chain = '', appends = 0"};
  for (int bit = 0; bit < 64; bit += 9)
    for (const char* const column : {"id", "records", "appends"}) changes.push_back(flip(column, bit));
  for (std::size_t at = 0; at < run.text.size(); at += 8)
    for (const char other : {'!', '0', 'z'})
      changes.push_back("name = '" + std::string(run.text).replace(at, 1, 1, other) + "'");
  for (const std::string& assignment : changes) {
    SCOPED_TRACE(assignment);
    change(assignment);
    static_cast<void>(repair());
    const auto head = store->journals().head(run);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->records, before.records);
    EXPECT_EQ(head->chain, before.chain);
    EXPECT_EQ(head->summary, before.summary);
    ASSERT_EQ(read_all(run), (std::vector<std::string>{"a", "b"}));
  }
  expect_clean(*store);
}

TEST_F(RowRepairTest, ARowWhoseBatchesAreDamagedIsReportedAndLeftAlone) {
  change("state = 3");
  execute("UPDATE batches SET bytes = '\\x00' WHERE run = (SELECT id FROM runs WHERE name = '" + run.text + "')");
  for (int round = 0; round < 2; ++round)
    EXPECT_THAT(repair(), ElementsAre(HasSubstr("its row is damaged, and its records cannot be read")));
  EXPECT_NE(store->journals().head(run)->summary.state, RunState::Forgotten);
  EXPECT_EQ(claim_run(store->journals(), run).error().kind, StoreError::Kind::Damaged);
  EXPECT_FALSE(check().problems.empty());
}

TEST_F(RowRepairTest, AForgottenRunStaysForgotten) {
  ASSERT_TRUE(store->admin().forget(run, 2'000).has_value());
  for (const char* const assignment : {"state = 0", "state = 77", "appends = 1", "title = 'x'"}) {
    SCOPED_TRACE(assignment);
    change(assignment);
    static_cast<void>(repair());
    EXPECT_EQ(store->journals().head(run)->summary.state, RunState::Forgotten);
    expect_clean(*store);
  }
}

TEST_F(RowRepairTest, DamageThatCannotBeRepairedIsFound) {
  Append append = make_append(make_run_name(3), 1, {"d"});
  append.contents = {test::make_content("own"), test::make_content("shared")};
  append.contents.back().sharing = Sharing::Store;
  append.references = {append.contents.front().hash, append.contents.back().hash};
  append.snapshot = Snapshot{1, "state"};
  ASSERT_EQ(commit(append), std::nullopt);
  expect_clean(*store);
  const auto problems_after = [&](const std::string& sql, const std::string& undo) {
    execute(sql);
    const auto problems = check().problems;
    execute(undo);
    return problems;
  };
  const std::string of_run = " WHERE run = (SELECT id FROM runs WHERE name = '" + append.run.text + "')";
  EXPECT_THAT(problems_after("UPDATE batches SET bytes = set_byte(bytes, 2, 1 # get_byte(bytes, 2))" + of_run,
                             "UPDATE batches SET bytes = set_byte(bytes, 2, 1 # get_byte(bytes, 2))" + of_run),
              ElementsAre(HasSubstr(append.run.text + ", record 1")));
  EXPECT_THAT(problems_after("UPDATE batches SET chain = set_byte(chain, 2, 1 # get_byte(chain, 2))" + of_run,
                             "UPDATE batches SET chain = set_byte(chain, 2, 1 # get_byte(chain, 2))" + of_run),
              ElementsAre(HasSubstr("the hash chain breaks here")));
  EXPECT_THAT(problems_after("UPDATE contents SET bytes = 'oun' WHERE bytes = 'own'",
                             "UPDATE contents SET bytes = 'own' WHERE bytes = 'oun'"),
              ElementsAre(HasSubstr("do not match its hash")));
  EXPECT_THAT(problems_after("UPDATE shared_bodies SET bytes = 'sharex' WHERE bytes = 'shared'",
                             "UPDATE shared_bodies SET bytes = 'shared' WHERE bytes = 'sharex'"),
              ElementsAre(testing::AllOf(HasSubstr(append.run.text), HasSubstr("do not match its hash"))));
  EXPECT_THAT(problems_after("UPDATE snapshots SET after = 7" + of_run, "UPDATE snapshots SET after = 1" + of_run),
              ElementsAre(HasSubstr("its snapshot is damaged")));
  EXPECT_THAT(problems_after("UPDATE shared_bodies SET hash = '\\x00'",
                             "UPDATE shared_bodies SET hash = '\\x" + append.contents.back().hash.hex() + "'"),
              testing::Contains(HasSubstr("its bytes are missing")));
  expect_clean(*store);
  execute("DELETE FROM batches" + of_run);
  EXPECT_THAT(check().problems, Contains(HasSubstr("record 1: it is missing")));
}

}  // namespace
}  // namespace tenon::journal::postgres
