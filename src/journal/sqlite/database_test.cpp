// The store on disks that fail.
#include "journal/sqlite/database.h"

#include <gmock/gmock.h>

#include "tests/support/faulty_disk.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::FaultyDisk;
using test::make_append;
using test::make_content;

class FaultyDiskTest : public testing::Test {
 protected:
  /// The log is copied into the database after so few pages that a small scenario meets it.
  static constexpr int few_pages = 12;
  Result<std::unique_ptr<StoreConnection>, StoreError> try_open(Durability durability = Durability::Full,
                                                                int checkpoint_pages = few_pages) {
    return open_store(path, {.durability = durability, .checkpoint_pages = checkpoint_pages, .disk = disk.name()});
  }

  /// Appends with records, contents and snapshots until the disk fails; gives the number of acknowledged ones.
  struct Progress {
    std::uint64_t acknowledged = 0;
    std::optional<StoreError> error;
  };
  Progress append_until_failure(StoreConnection& store, std::uint64_t from, std::uint64_t count) const {
    Progress progress{from - 1, {}};
    for (std::uint64_t number = from; number < from + count; ++number) {
      Append append = make_append(run, number, {record(number)});
      append.contents = {make_content("content " + std::to_string(number))};
      append.references = {append.contents.front().hash};
      if (number % 3 == 0) append.snapshot = Snapshot{number, std::string(6'000, 's')};
      const auto refusals = store.journals().commit({&append, 1});
      if (!refusals) {
        progress.error = refusals.error();
        return progress;
      }
      EXPECT_EQ(refusals->front(), std::nullopt);
      progress.acknowledged = number;
      if (auto done = store.journals().maintain(); !done) {
        progress.error = done.error();
        return progress;
      }
    }
    return progress;
  }
  static std::string record(std::uint64_t number) { return std::to_string(number) + std::string(700, 'r'); }

  /// All acknowledged ones, at most one more, and nothing that contradicts itself; gives the number of records.
  std::uint64_t expect_kept(StoreConnection& store, std::uint64_t acknowledged) const {
    const auto report = store.admin().check();
    EXPECT_TRUE(report.has_value());
    if (report) {
      EXPECT_EQ(report->problems, std::vector<std::string>{});
    }
    const auto records = store.journals().read(run, 0, SIZE_MAX);
    if (!records && acknowledged == 0) return 0;
    EXPECT_TRUE(records.has_value()) << records.error().message;
    if (!records) return 0;
    EXPECT_GE(records->size(), acknowledged);
    EXPECT_LE(records->size(), acknowledged + 1);
    for (const Record& one : *records) EXPECT_EQ(one.bytes, record(one.number));
    return records->size();
  }

  FaultyDisk disk;
  test::TemporaryFolder folder;
  std::string path = folder.file("store.db");
  RunName run = make_run_name(1);
};

constexpr std::uint64_t appends_in_scenario = 12;

class FaultAtEachOperationTest : public FaultyDiskTest, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(FaultAtEachOperationTest, AnInputOutputErrorBreaksTheStoreUntilItIsOpenedAgain) {
  const std::uint64_t more = GetParam();
  for (std::uint64_t operation = 0;; ++operation) {
    SCOPED_TRACE("operation " + std::to_string(operation));
    path = folder.file("store_" + std::to_string(operation) + ".db");
    disk.fail_at(operation, FaultyDisk::Fault::InputOutput, more);
    std::uint64_t acknowledged = 0;
    {
      const auto store = try_open();
      if (store) {
        const Progress progress = append_until_failure(**store, 1, appends_in_scenario);
        acknowledged = progress.acknowledged;
        if (!disk.has_failed()) break;  // the scenario has no more operations
        ASSERT_TRUE(progress.error.has_value());
        EXPECT_EQ(progress.error->kind, StoreError::Kind::Broken);
        disk.heal();  // the disk is well again; this object must not believe it
        const Append again = make_append(run, acknowledged + 1, {"again"});
        const auto refused = (*store)->journals().commit({&again, 1});
        ASSERT_FALSE(refused.has_value());
        EXPECT_EQ(refused.error().kind, StoreError::Kind::Broken);
        EXPECT_EQ(refused.error().message, progress.error->message);
        EXPECT_EQ((*store)->journals().read(run, 0, 1).error().kind, StoreError::Kind::Broken);
        EXPECT_EQ((*store)->journals().maintain().error().kind, StoreError::Kind::Broken);
      } else {
        EXPECT_EQ(store.error().kind, StoreError::Kind::Broken);
      }
    }
    disk.heal();
    std::uint64_t kept = 0;
    {
      const auto store = try_open(Durability::Full, default_checkpoint_pages);
      ASSERT_TRUE(store.has_value()) << store.error().message;
      kept = expect_kept(**store, acknowledged);
      // What was found is durable, though a sync after it had failed: what is acknowledged now follows it in the log.
      EXPECT_EQ(append_until_failure(**store, kept + 1, 3).acknowledged, kept + 3);
      disk.cut_power();
    }
    disk.restart();
    const auto store = try_open();
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ(expect_kept(**store, kept + 3), kept + 3);
  }
}

TEST_P(FaultAtEachOperationTest, AFullDiskRollsBackAndTheSameMayBeTriedAgain) {
  const std::uint64_t more = GetParam();
  for (std::uint64_t operation = 0;; ++operation) {
    SCOPED_TRACE("operation " + std::to_string(operation));
    path = folder.file("store_" + std::to_string(operation) + ".db");
    disk.heal();
    auto store = try_open();  // making a store on a full disk is the next test's
    ASSERT_TRUE(store.has_value());
    disk.fail_at(operation, FaultyDisk::Fault::NoSpace, more);
    std::uint64_t acknowledged = 0;
    for (int attempt = 0; acknowledged < appends_in_scenario && attempt < 1'000; ++attempt) {
      const Progress progress = append_until_failure(**store, acknowledged + 1, appends_in_scenario - acknowledged);
      acknowledged = progress.acknowledged;
      if (!progress.error) break;
      EXPECT_EQ(progress.error->kind, StoreError::Kind::Full) << progress.error->message;
      expect_kept(**store, acknowledged);
      const auto head = (*store)->journals().head(run);
      EXPECT_EQ(head.has_value() ? head->records : 0, acknowledged);  // nothing of the refused one is there
    }
    EXPECT_EQ(acknowledged, appends_in_scenario);
    expect_kept(**store, acknowledged);
    const bool has_met = disk.has_failed();
    disk.heal();
    store->reset();
    store = try_open();
    ASSERT_TRUE(store.has_value());
    expect_kept(**store, acknowledged);
    if (!has_met) break;
  }
}

TEST_F(FaultyDiskTest, AStoreOpensOnAFullDiskAndIsWrittenOnceThereIsSpace) {
  {
    const auto store = try_open(Durability::Full, default_checkpoint_pages);
    ASSERT_TRUE(store.has_value());
    EXPECT_EQ(append_until_failure(**store, 1, appends_in_scenario).acknowledged, appends_in_scenario);
    disk.cut_power();
  }
  disk.restart();
  disk.fail_at(0, FaultyDisk::Fault::NoSpace, 1'000'000);
  const auto store = try_open();
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_TRUE(disk.has_failed());
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(claim_run((*store)->journals(), run).error().kind, StoreError::Kind::Full);
    const auto progress = append_until_failure(**store, appends_in_scenario + 1, 1);
    ASSERT_TRUE(progress.error.has_value());
    EXPECT_EQ(progress.error->kind, StoreError::Kind::Full) << progress.error->message;
    EXPECT_EQ(expect_kept(**store, appends_in_scenario), appends_in_scenario);
  }
  disk.heal();
  EXPECT_EQ(append_until_failure(**store, appends_in_scenario + 1, 3).acknowledged, appends_in_scenario + 3);
  EXPECT_EQ(expect_kept(**store, appends_in_scenario + 3), appends_in_scenario + 3);
}

TEST_F(FaultyDiskTest, ANoteShowsWhetherTheDiskHasSpace) {
  auto store = try_open();
  ASSERT_TRUE(store.has_value());
  ASSERT_TRUE((*store)->admin().keep_note({"a", "1", std::nullopt}, 0).has_value());
  disk.fail_at(0, FaultyDisk::Fault::NoSpace, 1'000'000);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto kept = (*store)->admin().keep_note({"a", "2", std::nullopt}, 0);
    ASSERT_FALSE(kept.has_value());
    EXPECT_EQ(kept.error().kind, StoreError::Kind::Full) << kept.error().message;
  }
  EXPECT_EQ((*store)->journals().find_note("a")->value().bytes, "1");
  disk.heal();
  EXPECT_TRUE((*store)->admin().keep_note({"a", "3", std::nullopt}, 0).has_value());
  EXPECT_EQ((*store)->journals().find_note("a")->value().bytes, "3");
}

TEST_P(FaultAtEachOperationTest, AStoreThatCouldNotBeMadeIsMadeTheNextTime) {
  const std::uint64_t more = GetParam();
  for (std::uint64_t operation = 0;; ++operation) {
    SCOPED_TRACE("operation " + std::to_string(operation));
    path = folder.file("store_" + std::to_string(operation) + ".db");
    disk.fail_at(operation, FaultyDisk::Fault::NoSpace, more);
    const auto first = try_open();
    const bool has_failed = disk.has_failed();
    if (!first) {
      EXPECT_EQ(first.error().kind, StoreError::Kind::Full) << first.error().message;
    }
    disk.heal();
    if (!first) {
      const auto store = try_open();
      ASSERT_TRUE(store.has_value()) << store.error().message;
      EXPECT_EQ(append_until_failure(**store, 1, 3).acknowledged, 3U);
      expect_kept(**store, 3);
    }
    if (!has_failed && operation > 30) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, FaultAtEachOperationTest, testing::Values(0, 3),
                         [](const auto& it) { return it.param == 0 ? "Once" : "SeveralTimes"; });

/// After each number of appends the power goes, and comes back.
TEST_F(FaultyDiskTest, APowerCutKeepsAcknowledgedAppendsOfAFullStore) {
  for (std::uint64_t appends = 0; appends <= appends_in_scenario; ++appends)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(std::to_string(appends) + " appends, seed " + std::to_string(seed));
      path = folder.file("store_" + std::to_string(appends) + "_" + std::to_string(seed) + ".db");
      {
        const auto store = try_open();
        ASSERT_TRUE(store.has_value());
        EXPECT_EQ(append_until_failure(**store, 1, appends).acknowledged, appends);
        disk.cut_power(seed == 0 ? std::nullopt : std::optional(seed));
      }
      disk.restart();
      const auto store = try_open();
      ASSERT_TRUE(store.has_value()) << store.error().message;
      EXPECT_EQ(expect_kept(**store, appends), appends);
    }
}

/// The power goes within a commit or a copy of the log: at each write and sync.
TEST_F(FaultyDiskTest, APowerCutDuringACommitKeepsAcknowledgedCommits) {
  for (std::uint64_t operation = 0; operation < 400; ++operation) {
    SCOPED_TRACE("operation " + std::to_string(operation));
    path = folder.file("store_" + std::to_string(operation) + ".db");
    std::uint64_t acknowledged = 0;
    bool has_failed = false;
    {
      disk.fail_at(operation, FaultyDisk::Fault::InputOutput, UINT64_MAX / 2);
      const auto store = try_open();
      if (store) acknowledged = append_until_failure(**store, 1, appends_in_scenario).acknowledged;
      has_failed = disk.has_failed();
      disk.cut_power(operation);
    }
    disk.restart();
    const auto store = try_open();
    ASSERT_TRUE(store.has_value()) << store.error().message;
    expect_kept(**store, acknowledged);
    if (!has_failed) return;
  }
  ADD_FAILURE() << "the scenario does not end";
}

/// What the promise of `Process` leaves out; this is also what shows that the disk of these tests forgets.
TEST_F(FaultyDiskTest, APowerCutMayTakeTheNewestAppendsOfAProcessStoreAndBreaksNothing) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    path = folder.file("store_" + std::to_string(seed) + ".db");
    {
      const auto store = try_open(Durability::Process);
      ASSERT_TRUE(store.has_value());
      EXPECT_EQ(append_until_failure(**store, 1, appends_in_scenario - 1).acknowledged, appends_in_scenario - 1);
      disk.cut_power(seed == 0 ? std::nullopt : std::optional(seed));
    }
    disk.restart();
    const auto store = try_open(Durability::Process);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_TRUE((*store)->admin().check()->problems.empty());
    const auto records = (*store)->journals().read(run, 0, SIZE_MAX);
    const std::uint64_t kept = records ? records->size() : 0;
    EXPECT_LE(kept, appends_in_scenario - 1);
    lost += appends_in_scenario - 1 - kept;
  }
  EXPECT_GT(lost, 0U);
}

/// SQLite without any sync loses rows, or the whole file.
TEST_F(FaultyDiskTest, APowerCutLosesUnsyncedRows) {
  const auto open_bare = [&] { return Database::open(path, {Access::Owner, disk.name()}); };
  {
    auto database = open_bare();
    ASSERT_TRUE(
        (*database)->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t(x)").has_value());
    for (int at = 0; at < 20; ++at) ASSERT_TRUE((*database)->execute("INSERT INTO t VALUES(1)").has_value());
    EXPECT_EQ((*database)->query_integer("SELECT count(*) FROM t"), 20);
    disk.cut_power();
  }
  disk.restart();
  auto database = open_bare();
  const auto rows = (*database)->query_integer("SELECT count(*) FROM t");
  EXPECT_TRUE(!rows || *rows < 20);
}

}  // namespace
}  // namespace tenon::journal::sqlite
