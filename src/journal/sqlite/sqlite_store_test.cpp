#include "journal/open_store.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "journal/sqlite/schema.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using testing::HasSubstr;

class SqliteStoreTest : public test::JournalTest {
 protected:
  Result<std::unique_ptr<StoreConnection>, StoreError> try_open(const StoreOptions& options = {}) {
    return open_store(path, options);
  }
  void execute(const std::string& sql) {
    auto database = Database::open(path, {Access::Owner, {}});
    ASSERT_TRUE((*database)->execute(sql).has_value());
  }
  RunName run = make_run_name(1);
};

TEST_F(SqliteStoreTest, ASecondOwnerLearnsWhoTheFirstIs) {
  const auto second = try_open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, StoreError::Kind::InUse);
  EXPECT_THAT(second.error().message, HasSubstr("in use by this process"));
  store.reset();
  EXPECT_TRUE(try_open().has_value());
}

TEST_F(SqliteStoreTest, TheLockEndsWithItsProcess) {
  store.reset();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto owned = try_open();
    const char said = owned.has_value() ? 'y' : 'n';
    if (write(ready[1], &said, 1) == 1) pause();
    _exit(1);
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  const auto second = try_open();
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, StoreError::Kind::InUse);
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(child)));
  EXPECT_TRUE(try_open({.access = Access::Reader}).has_value());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(try_open().has_value());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(SqliteStoreTest, ReportsAFileThatIsNotAStoreAndKeepsIt) {
  store.reset();
  const auto error_of = [&](const StoreOptions& options) {
    const auto opened = try_open(options);
    EXPECT_FALSE(opened.has_value());
    return opened ? StoreError{} : opened.error();
  };
  path = folder.file("nothing.db");
  EXPECT_EQ(error_of({.access = Access::Reader}).kind, StoreError::Kind::Missing);
  path = folder.file("no_folder/store.db");
  EXPECT_EQ(error_of({}).kind, StoreError::Kind::Missing);

  path = folder.file("text.db");
  const std::string text(10'000, 't');
  std::ofstream(path) << text;
  EXPECT_EQ(error_of({}).kind, StoreError::Kind::Format);
  std::ifstream stream(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);

  path = folder.file("foreign.db");
  execute("CREATE TABLE theirs(x)");
  EXPECT_THAT(error_of({}).message, HasSubstr("another program"));
  path = folder.file("newer.db");
  static_cast<void>(open());
  execute("PRAGMA user_version = 4");
  EXPECT_EQ(error_of({}).kind, StoreError::Kind::Format);
  EXPECT_THAT(error_of({.access = Access::Reader}).message, HasSubstr("newer Tenon"));
}

/// A process that is killed while it creates a store leaves an empty file, or a database without tables.
TEST_F(SqliteStoreTest, AStoreWhoseCreationWasCutOffHasNoRuns) {
  store.reset();
  for (const bool has_header : {false, true}) {
    SCOPED_TRACE(has_header);
    path = folder.file(has_header ? "header.db" : "empty.db");
    std::ofstream(path).close();
    if (has_header) execute("PRAGMA journal_mode = WAL");
    const auto bytes = std::filesystem::file_size(path);
    const std::string copy = path + ".copy";
    {
      const auto reader = try_open({.access = Access::Reader});
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      EXPECT_TRUE((*reader)->runs().list({})->empty());
      EXPECT_EQ((*reader)->journals().head(run).error().kind, StoreError::Kind::Missing);
      EXPECT_EQ((*reader)->inbox().send({run, "x"}).error().kind, StoreError::Kind::Missing);
      EXPECT_TRUE((*reader)->ownership().owners()->empty());
      expect_clean(**reader);
      ASSERT_TRUE((*reader)->admin().backup(copy).has_value());
    }
    EXPECT_EQ(std::filesystem::file_size(path), bytes);
    for (const std::string& written : {path, copy}) {
      const auto owner = open_store(written, {});
      ASSERT_TRUE(owner.has_value()) << owner.error().message;
      EXPECT_EQ(commit((*owner)->journals(), make_append(run, 1, {"a"})), std::nullopt);
      const auto reader = open_store(written, {.access = Access::Reader});
      ASSERT_TRUE(reader.has_value()) << reader.error().message;
      EXPECT_EQ((*reader)->journals().head(run)->records, 1U);
    }
  }
}

TEST_F(SqliteStoreTest, AFolderThatMayNotBeWrittenIsReported) {
  store.reset();
  path = folder.file("closed/store.db");
  std::filesystem::create_directory(folder.file("closed"));
  std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::none);
  const uid_t user = geteuid();
  constexpr uid_t other_user = 65'534;
  const auto become = [&](uid_t other) { return user != 0 || seteuid(other) == 0; };  // root may write everywhere
  ASSERT_TRUE(become(other_user));
  const auto opened = try_open();
  ASSERT_TRUE(become(user));
  std::filesystem::permissions(folder.file("closed"), std::filesystem::perms::owner_all);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, StoreError::Kind::Denied) << opened.error().message;
}

TEST_F(SqliteStoreTest, AFolderThatMayNotBeWrittenIsRead) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const std::string original = path;
  for (const bool has_log : {true, false}) {
    SCOPED_TRACE(has_log);
    const std::string folder_of_copy = folder.file(has_log ? "with_log" : "without_log");
    std::filesystem::create_directory(folder_of_copy);
    if (!has_log) store.reset();  // empties the log
    path = folder_of_copy + "/store #1?.db";
    std::filesystem::copy_file(original, path);
    if (has_log) std::filesystem::copy_file(original + "-wal", path + "-wal");
    std::filesystem::permissions(folder.file(""), std::filesystem::perms(0755));
    for (const auto& file : std::filesystem::directory_iterator(folder_of_copy))
      std::filesystem::permissions(file.path(), std::filesystem::perms(0444));
    std::filesystem::permissions(folder_of_copy, std::filesystem::perms(0555));
    const uid_t user = geteuid();
    ASSERT_TRUE(user != 0 || seteuid(65'534) == 0);  // root may write everywhere
    const auto reader = try_open({.access = Access::Reader});
    const auto owner = try_open();
    const auto records = reader ? read_all((*reader)->journals(), run) : std::vector<std::string>{};
    const auto report = reader ? (*reader)->admin().check() : CheckReport{};
    ASSERT_TRUE(user != 0 || seteuid(user) == 0);
    std::filesystem::permissions(folder_of_copy, std::filesystem::perms::owner_all);
    ASSERT_TRUE(reader.has_value()) << reader.error().message;
    EXPECT_EQ(records, std::vector<std::string>{"a"});
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->problems, std::vector<std::string>{});
    ASSERT_FALSE(owner.has_value());
    EXPECT_EQ(owner.error().kind, StoreError::Kind::Denied);
  }
}

TEST_F(SqliteStoreTest, ABackupIsOneStateWhileTheOwnerWrites) {
  const std::string copy = folder.file("copy.db");
  std::atomic<bool> is_done = false;
  std::uint64_t written = 0;
  std::thread writer([&] {
    while (!is_done && written < 100'000) {
      ++written;
      ASSERT_EQ(commit(make_append(run, written, {std::to_string(written) + std::string(2'000, 'r')})), std::nullopt);
    }
  });
  std::vector<std::uint64_t> kept;
  for (int round = 0; round < 5; ++round) {
    const auto reader = try_open({.access = Access::Reader});
    ASSERT_TRUE((*reader)->admin().backup(copy).has_value());
    {
      const auto opened = open_store(copy, {.access = Access::Reader});
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      expect_clean(**opened);
      kept.push_back((*opened)->runs().list({})->empty() ? 0 : (*opened)->journals().head(run)->records);
    }
    const auto again = (*reader)->admin().backup(copy);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().kind, StoreError::Kind::Conflict);
    for (const char* const end : {"", "-wal", "-shm"}) std::filesystem::remove(copy + end);
  }
  is_done = true;
  writer.join();
  EXPECT_TRUE(std::ranges::is_sorted(kept));
  EXPECT_GT(kept.back(), kept.front());
  EXPECT_FALSE(std::filesystem::exists(copy + ".partial"));
}

/// Each query goes by an index: none may read a whole table of runs or batches.
TEST_F(SqliteStoreTest, EachQueryGoesByAnIndex) {
  auto database = Database::open(path, {Access::Reader, {}});
  for (const char* const query :
       {"SELECT id FROM runs WHERE name = 'x'", "SELECT id FROM runs WHERE name > 'x' ORDER BY name LIMIT 5",
        "SELECT title FROM runs WHERE state = 1 AND name > 'x' ORDER BY name LIMIT 5",
        "SELECT title FROM runs WHERE wake_at <= ?1 ORDER BY wake_at LIMIT ?2",
        "SELECT min(wake_at) FROM runs WHERE wake_at IS NOT NULL",
        "SELECT id FROM batches WHERE run = ?1 AND milestone >= ?2 ORDER BY milestone LIMIT 1",
        "SELECT id FROM inbox WHERE reply IS NULL ORDER BY id LIMIT ?1"}) {
    const std::string sql = std::string("EXPLAIN QUERY PLAN ") + query;
    Statement statement(**database, sql.c_str());
    Execution plan(statement);
    ASSERT_EQ(plan.step(), StepResult::Row);
    const std::string first(plan.get_bytes(3));
    EXPECT_TRUE(first.starts_with("SEARCH") || first.find("inbox_unanswered") != std::string::npos)
        << query << ": " << first;
    EXPECT_EQ(plan.step(), StepResult::Done) << query;  // a second line would be a sort
  }
}

TEST_F(SqliteStoreTest, AnOwnerEmptiesTheLogAtItsEndAlsoBesideAReader) {
  const auto reader = try_open({.access = Access::Reader});
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  EXPECT_GT(std::filesystem::file_size(path + "-wal"), 0U);
  store.reset();
  EXPECT_EQ(std::filesystem::file_size(path + "-wal"), 0U);
  EXPECT_EQ((*reader)->journals().head(run)->records, 1U);
  const std::string copy = folder.file("copy.db");
  std::filesystem::copy_file(path, copy);
  const auto copied = open_store(copy, {.access = Access::Reader});
  ASSERT_TRUE(copied.has_value()) << copied.error().message;
  EXPECT_EQ(read_all((*copied)->journals(), run), std::vector<std::string>{"a"});
}

TEST_F(SqliteStoreTest, TheLogIsBounded) {
  const std::string large(100'000, 'x');
  std::uintmax_t longest = 0;
  for (std::uint64_t at = 1; at <= 2'000; ++at) {
    ASSERT_EQ(commit(make_append(run, at, {large})), std::nullopt);
    if (at <= 1'000) {  // later on `commit` has to do it by itself
      ASSERT_TRUE(store->journals().maintain().has_value());
    }
    longest = std::max(longest, std::filesystem::file_size(path + "-wal"));
  }
  EXPECT_LT(longest, 40U << 20U);
  expect_clean(*store);
}

TEST_F(SqliteStoreTest, TheLogBeginsAnewAfterAReaderThatStayedLong) {
  ASSERT_EQ(commit(make_append(run, 1, {"a"})), std::nullopt);
  const std::string large(1'000'000, 'x');
  {
    auto reader = Database::open(path, {Access::Reader, {}});
    Transaction transaction(**reader);
    ASSERT_TRUE(transaction.begin(Transaction::Kind::Read).has_value());
    ASSERT_TRUE((*reader)->query_integer("SELECT count(*) FROM runs").has_value());
    for (std::uint64_t at = 2; at <= 80; ++at) ASSERT_EQ(commit(make_append(run, at, {large})), std::nullopt);
    EXPECT_GT(std::filesystem::file_size(path + "-wal"), 64U << 20U);
  }
  for (std::uint64_t at = 81; at <= 130; ++at) ASSERT_EQ(commit(make_append(run, at, {large})), std::nullopt);
  EXPECT_LT(std::filesystem::file_size(path + "-wal"), 64U << 20U);
  expect_clean(*store);
}

}  // namespace
}  // namespace tenon::journal::sqlite
