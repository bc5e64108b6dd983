// Rows of runs whose bytes were changed on the disk.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>

#include "tests/support/journal_testing.h"
#include "tests/support/sanitized.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using testing::HasSubstr;

/// Each bit is flipped, or with a sanitizer, which makes that several times slower, every fifth.
constexpr int bit_step = test::is_sanitized ? 5 : 1;

class RepairRowsTest : public test::JournalTest {
 protected:
  void SetUp() override {
    Append append = make_append(run, 1, {"a", "b"});
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = 5'000;
    append.summary.detail = "a question";
    ASSERT_EQ(commit(append), std::nullopt);
    ASSERT_EQ(commit(make_append(make_run_name(2), 1, {"c"})), std::nullopt);
  }
  /// By a connection that allows more than the store's own.
  void execute(const std::string& sql) {
    store.reset();
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(database);
    sqlite3_close(database);
  }
  [[nodiscard]] CheckReport check() {
    auto reader = open({.access = Access::Reader});
    return reader->admin().check().value();
  }
  /// Assigns the column with one bit flipped.
  static std::string flip(std::string_view column, int bit) {
    return fmt::format("{0} = ({0} | (1 << {1})) & ~({0} & (1 << {1}))", column, bit);
  }
  RunName run = make_run_name(1);
};

TEST_F(RepairRowsTest, EachColumnIsCovered) {
  for (const char* const change :
       {"state = 3", "state = 6", "state = 77", "wake_at = 9000000000000", "wake_at = NULL", "title = 'other'",
        "detail = 'x'", "updated_at = 1", "created_at = 1", "epoch = 7", "checksum = 1"}) {
    SCOPED_TRACE(change);
    execute(std::string("UPDATE runs SET ") + change + " WHERE name = '" + run.text + "'");
    EXPECT_THAT(check().problems, testing::Contains(HasSubstr("its summary is damaged")));
    store = open();
    EXPECT_THAT(store->notices(), testing::Contains(HasSubstr(run.text)));
    const auto head = store->journals().head(run);
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->summary.state, RunState::Running);
    EXPECT_EQ(head->summary.wake_at, std::nullopt);
    EXPECT_EQ(read_all(run).size(), 2U);
    expect_clean(*store);
    EXPECT_EQ(store->runs().list({RunState::Running, "", SIZE_MAX})->size(), 2U);
    // What is derived from the records replaces it.
    Append append = make_append(run, 3, {});
    append.epoch = head->epoch;
    append.summary.state = RunState::Waiting;
    append.summary.wake_at = 5'000;
    ASSERT_EQ(commit(append), std::nullopt);
    reopen();
    EXPECT_TRUE(store->notices().empty());
    EXPECT_EQ(store->journals().head(run)->summary.wake_at, 5'000);
  }
}

/// What follows from the batches is restored, and with it the checksum: the summary is what it was.
TEST_F(RepairRowsTest, WhatFollowsFromTheBatchesIsRestored) {
  const RunHead before = store->journals().head(run).value();
  std::vector<std::string> changes = {"records = 0", "chain = zeroblob(32)", "chain = x'01'", "last_batch = 0",
                                      "records = 0, chain = zeroblob(32), last_batch = 0"};
  for (int bit = 0; bit < 64; bit += bit_step)
    for (const char* const column : {"id", "records", "last_batch"}) changes.push_back(flip(column, bit));
  for (std::size_t at = 0; at < run.text.size(); ++at)
    for (const char other : {'!', '0', 'z'})
      changes.push_back("name = '" + std::string(run.text).replace(at, 1, 1, other) + "'");
  for (const std::string& change : changes) {
    SCOPED_TRACE(change);
    execute("UPDATE OR IGNORE runs SET " + change + " WHERE name = '" + run.text + "'");
    store = open();
    const auto head = store->journals().head(run);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_EQ(head->records, before.records);
    EXPECT_EQ(head->chain, before.chain);
    EXPECT_EQ(head->summary, before.summary);
    ASSERT_EQ(read_all(run), (std::vector<std::string>{"a", "b"}));
    expect_clean(*store);
  }
}

TEST_F(RepairRowsTest, NoFlippedBitForgetsARunOrLosesARecord) {
  for (const char* const column :
       {"id", "epoch", "records", "last_batch", "created_at", "updated_at", "state", "wake_at", "checksum"})
    for (int bit = 0; bit < 64; bit += bit_step) {
      SCOPED_TRACE(fmt::format("bit {} of {}", bit, column));
      execute("UPDATE OR IGNORE runs SET " + flip(column, bit) + " WHERE name = '" + run.text + "'");
      {
        const auto reader = open({.access = Access::Reader});
        ASSERT_NE(reader, nullptr);
        const auto head = reader->journals().head(run);
        ASSERT_TRUE(head.has_value()) << head.error().message;
        EXPECT_NE(head->summary.state, RunState::Forgotten);
      }
      store = open();
      EXPECT_NE(store->journals().head(run)->summary.state, RunState::Forgotten);
      ASSERT_EQ(read_all(run), (std::vector<std::string>{"a", "b"}));
      expect_clean(*store);
    }
}

TEST_F(RepairRowsTest, ARowWhoseBatchesAreDamagedIsReportedAndLeftAlone) {
  execute("UPDATE runs SET last_batch = 0 WHERE name = '" + run.text + "'; UPDATE batches SET bytes = x'00'");
  for (int opening = 0; opening < 2; ++opening) {
    store = open();
    EXPECT_THAT(store->notices(), testing::Contains(HasSubstr("its row is damaged, and its records cannot be read")));
    EXPECT_NE(store->journals().head(run)->summary.state, RunState::Forgotten);
    store.reset();
    EXPECT_FALSE(check().problems.empty());
  }
}

TEST_F(RepairRowsTest, AReaderReadsTheRecordsOfARunWhoseRowIsDamaged) {
  for (const char* const change : {"records = 0", "last_batch = 0", "chain = zeroblob(32)", "state = 6"}) {
    SCOPED_TRACE(change);
    execute(std::string("UPDATE runs SET ") + change + " WHERE name = '" + run.text + "'");
    const auto reader = open({.access = Access::Reader});
    EXPECT_EQ(read_all(reader->journals(), run).size(), 2U);
    EXPECT_TRUE(reader->admin().export_run(run).has_value());
    const auto heads = reader->runs().list({});
    ASSERT_TRUE(heads.has_value());
    ASSERT_EQ(heads->size(), 2U);
    EXPECT_TRUE(heads->front().is_damaged);
    EXPECT_FALSE(heads->back().is_damaged);
  }
}

TEST_F(RepairRowsTest, AForgottenRunStaysForgotten) {
  ASSERT_TRUE(store->admin().forget(run, 2'000).has_value());
  for (const char* const change : {"state = 0", "last_batch = 1", "records = 0", "title = 'x'"}) {
    SCOPED_TRACE(change);
    execute(std::string("UPDATE runs SET ") + change + " WHERE name = '" + run.text + "'");
    store = open();
    EXPECT_EQ(store->journals().head(run)->summary.state, RunState::Forgotten);
    expect_clean(*store);
  }
}

/// The rows are right, and a query that goes by the index would not find the run.
TEST_F(RepairRowsTest, AnIndexThatContradictsTheRowsIsBuiltAgain) {
  const auto redefine = [&](const std::string& condition) {
    execute(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX runs_by_wake_at ON runs(wake_at) "
        "WHERE wake_at " +
        condition + "' WHERE name = 'runs_by_wake_at'");
  };
  redefine("IS NULL");
  execute("REINDEX runs_by_wake_at");
  redefine("IS NOT NULL");
  store = open();
  EXPECT_THAT(store->notices(), testing::Contains(HasSubstr("an index of the runs")));
  EXPECT_EQ(store->runs().due({.now = 6'000})->size(), 1U);
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
