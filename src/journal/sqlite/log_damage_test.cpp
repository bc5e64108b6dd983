#include "journal/sqlite/log_damage.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "journal/sqlite/database.h"
#include "journal/sqlite/owner_lock.h"
#include "tests/support/journal_testing.h"

namespace tenon::journal::sqlite {
namespace {

using test::make_append;
using testing::HasSubstr;

constexpr std::size_t header_bytes = 32;
constexpr std::size_t frame_bytes = 24 + 4'096;

class LogDamageTest : public test::JournalTest {
 protected:
  /// A store as a killed process leaves it, with `commits` commits in its log.
  void leave_log(std::uint64_t commits) {
    store.reset();
    const std::string original = folder.file("original.db");
    StoreOptions options;
    options.checkpoint_pages = 100'000;
    auto writing = open_store(original, options);
    ASSERT_TRUE(writing.has_value());
    for (std::uint64_t number = 1; number <= commits; ++number) {
      ASSERT_EQ(commit((*writing)->journals(), make_append(run, number, {"record " + std::to_string(number)})),
                std::nullopt);
    }
    for (const char* const end : {"", "-wal"})
      std::filesystem::copy_file(original + end, path + end, std::filesystem::copy_options::overwrite_existing);
    log = read_file(path + "-wal");
    database = read_file(path);
    frames = static_cast<std::uint32_t>((log.size() - header_bytes) / frame_bytes);
  }
  static std::string read_file(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write_log(const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << database;
    std::ofstream(path + "-wal", std::ios::binary) << bytes;
    std::filesystem::remove(path + "-shm");
  }
  void flip(std::size_t at) {
    std::string damaged = log;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_log(damaged);
  }
  [[nodiscard]] bool is_commit(std::uint32_t frame) const {
    return log.substr(offset_of(frame) + 4, 4) != std::string(4, '\0');
  }
  static std::size_t offset_of(std::uint32_t frame) { return header_bytes + std::size_t{frame - 1} * frame_bytes; }

  RunName run = make_run_name(1);
  std::string log;
  std::string database;
  std::uint32_t frames = 0;
};

TEST_F(LogDamageTest, AnIntactLogIsRead) {
  leave_log(10);
  const auto damage = find_log_damage(path);
  ASSERT_TRUE(damage.has_value());
  EXPECT_FALSE(damage->has_value());
  store = open({});
  EXPECT_EQ(read_all(run).size(), 10U);
  EXPECT_TRUE(store->notices().empty());
}

TEST_F(LogDamageTest, ALogThatACrashCutOffIsRead) {
  leave_log(10);
  for (std::size_t size = 0; size < log.size(); size += 1'000) {
    write_log(log.substr(0, size));
    const auto damage = find_log_damage(path);
    ASSERT_TRUE(damage.has_value()) << size;
    EXPECT_FALSE(damage->has_value()) << size;
  }
}

/// One byte of each frame's header and some of its page: whatever is flipped, either nothing is lost or it is reported.
TEST_F(LogDamageTest, NoFlippedByteDropsAnAcknowledgedCommitSilently) {
  leave_log(6);
  std::uint32_t last_commit_begins = frames;
  while (last_commit_begins > 1 && !is_commit(last_commit_begins - 1)) --last_commit_begins;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < header_bytes; ++at) places.push_back(at);
  for (std::uint32_t frame = 1; frame <= frames; ++frame)
    for (std::size_t at = 0; at < frame_bytes; at += at < 24 ? 1 : 509) places.push_back(offset_of(frame) + at);
  for (const std::size_t at : places) {
    flip(at);
    const auto opened = open_store(path, {});
    if (!opened) {
      EXPECT_EQ(opened.error().kind, StoreError::Kind::Damaged) << at;
      EXPECT_THAT(opened.error().message, HasSubstr("tenon store repair"));
      continue;
    }
    if (!(*opened)->notices().empty()) {
      // From the header of the frame that ends the last commit but one: whether it ends a commit may be what was lost.
      EXPECT_GE(at, offset_of(last_commit_begins - 1)) << at;
      continue;
    }
    const auto head = (*opened)->journals().head(run);
    ASSERT_TRUE(head.has_value()) << at;
    EXPECT_EQ(head->records, 6U) << at;
  }
}

TEST_F(LogDamageTest, ARefusedStoreIsUnchangedAndItsRepairKeepsACopy) {
  leave_log(10);
  std::uint32_t third_commit = 0;
  for (std::uint32_t frame = 1, commits = 0; commits < 3; ++frame) {
    if (is_commit(frame)) ++commits;
    third_commit = frame;
  }
  flip(offset_of(third_commit) + 100);
  const std::string damaged = read_file(path + "-wal");
  const auto refused = open_store(path, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("acknowledged commits after it cannot be read"));
  EXPECT_EQ(read_file(path + "-wal"), damaged);
  EXPECT_EQ(read_file(path), database);

  const auto refused_reader = open_store(path, {.access = Access::Reader});
  ASSERT_FALSE(refused_reader.has_value());
  EXPECT_EQ(refused_reader.error().kind, StoreError::Kind::Damaged);
  EXPECT_EQ(refused_reader.error().message, refused.error().message);

  const auto reader = open_store(path, {.access = Access::Reader, .damaged_log = DamagedLog::Report});
  ASSERT_TRUE(reader.has_value());
  EXPECT_THAT((*reader)->admin().check()->problems, testing::Contains(HasSubstr("is damaged")));
  EXPECT_EQ(read_file(path + "-wal"), damaged);

  const auto repaired = open_store(path, {.damaged_log = DamagedLog::Cut});
  ASSERT_TRUE(repaired.has_value()) << repaired.error().message;
  EXPECT_THAT((*repaired)->notices(), testing::Contains(HasSubstr("-wal.damaged")));
  EXPECT_EQ(read_file(path + "-wal.damaged"), damaged);
  expect_clean(**repaired);
}

/// Whichever frame is damaged: the runs whose first records are after it are missing, and no others.
TEST_F(LogDamageTest, ARepairNamesTheRunsThatAreMissing) {
  constexpr int runs_in_log = 200;  // their names fill several pages
  std::vector<std::string> names;
  {
    store.reset();
    const std::string original = folder.file("original.db");
    const auto writing = open_store(original, {.checkpoint_pages = 100'000});
    for (int number = 0; number < runs_in_log; ++number) {
      names.push_back(make_run_name(1'000 + number).text);
      Append append = make_append({names.back()}, 1, {"record"});
      append.summary.title = "mentions " + make_run_name(2'000'000).text;
      ASSERT_EQ(commit((*writing)->journals(), append), std::nullopt);
    }
    log = read_file(original + "-wal");
    database = read_file(original);
    frames = static_cast<std::uint32_t>((log.size() - header_bytes) / frame_bytes);
  }
  for (std::uint32_t frame = frames / 2; frame < frames / 2 + 12; ++frame) {
    SCOPED_TRACE(frame);
    flip(offset_of(frame) + 100);
    const auto repaired = open_store(path, {.damaged_log = DamagedLog::Cut});
    ASSERT_TRUE(repaired.has_value()) << repaired.error().message;
    const auto kept = (*repaired)->runs().list({.limit = runs_in_log});
    ASSERT_TRUE(kept.has_value());
    ASSERT_LT(kept->size(), names.size());
    std::string missing = path + ": runs ";
    std::size_t shown = 0;
    for (std::size_t number = kept->size(); number < names.size() && shown < 100; ++number)
      missing += (shown++ == 0 ? "" : ", ") + names[number];
    if (names.size() - kept->size() > shown)
      missing += " and " + std::to_string(names.size() - kept->size() - shown) + " more";
    EXPECT_THAT((*repaired)->notices(), testing::Contains(missing + " are missing now; only a backup may have them"));
  }
}

/// SQLite leaves the frames of a transaction that was rolled back after the last commit, until later ones overwrite
/// them.
TEST_F(LogDamageTest, FramesOfARolledBackTransactionAreNotDamage) {
  store.reset();
  const auto written = Database::open(path, {Access::Owner, {}});
  ASSERT_TRUE(written.has_value());
  // With so small a cache a long transaction is written to the log before its end.
  for (const char* const statements :
       {"PRAGMA cache_size = 5; BEGIN;"
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100) "
        "INSERT INTO notes SELECT 'key ' || n, zeroblob(3000), NULL FROM numbers; ROLLBACK",
        "INSERT INTO notes VALUES('kept', x'00', NULL)"})
    ASSERT_TRUE((*written)->execute(statements).has_value());
  log = read_file(path + "-wal");
  database = read_file(path);
  frames = static_cast<std::uint32_t>((log.size() - header_bytes) / frame_bytes);
  std::uint32_t last_commit = frames;
  while (!is_commit(last_commit)) --last_commit;
  ASSERT_LT(last_commit, frames);
  path = folder.file("copy.db");
  write_log(log);
  EXPECT_FALSE(find_log_damage(path).value().has_value());
}

TEST_F(LogDamageTest, AReaderWarnsOfDamageInTheLastCommit) {
  leave_log(4);
  std::uint32_t last_commit_begins = frames;
  while (!is_commit(last_commit_begins - 1)) --last_commit_begins;
  ASSERT_LT(last_commit_begins, frames);
  for (const std::uint32_t frame : {last_commit_begins, frames}) {
    SCOPED_TRACE(frame);
    flip(offset_of(frame) + 100);
    const auto reader = open_store(path, {.access = Access::Reader});
    ASSERT_TRUE(reader.has_value());
    EXPECT_THAT((*reader)->notices(), testing::Contains(HasSubstr("in the last commit of the log")));
  }
}

/// Until the owner has checked the log, a reader does not rely on it.
TEST_F(LogDamageTest, AReaderChecksTheLogBesideAnOwnerThatIsStillOpening) {
  leave_log(6);
  flip(offset_of(1) + 100);
  const auto opening = OwnerLock::acquire(path, path);
  ASSERT_TRUE(opening.has_value());
  EXPECT_FALSE(open_store(path, {.access = Access::Reader}).has_value());
  opening->announce();
  EXPECT_TRUE(open_store(path, {.access = Access::Reader}).has_value());
}

/// The owner appends, starts its log anew, closes and opens the store again.
TEST_F(LogDamageTest, AReaderBesideAWriterFindsNoDamage) {
  store.reset();
  constexpr int openings = 25;
  constexpr int commits_per_opening = 40;
  std::atomic<bool> is_writing = true;
  std::atomic<std::uint64_t> committed = 0;
  std::thread writer([&] {
    StoreOptions options = test::without_waiting;
    options.checkpoint_pages = 30;
    for (int opening = 0; opening < openings; ++opening) {
      const auto owner = open(options);
      if (owner == nullptr) break;
      const std::string record(std::size_t{1} << (opening % 16), 'x');
      for (int commits = 0; commits < commits_per_opening; ++commits) {
        EXPECT_EQ(commit(owner->journals(), make_append(run, committed + 1, {record})), std::nullopt);
        ++committed;
        EXPECT_TRUE(owner->journals().maintain().has_value());
      }
    }
    is_writing = false;
  });
  std::vector<std::thread> readers;
  std::atomic<int> looks = 0;
  for (int number = 0; number < 2; ++number)
    readers.emplace_back([&] {
      while (is_writing) {
        const auto damage = find_lasting_log_damage(path);
        if (!damage || *damage) ADD_FAILURE() << (damage ? describe(**damage, path) : damage.error().message);
        ++looks;
      }
    });
  while (is_writing) {
    const std::uint64_t before = committed;
    const auto reader = open_store(path, {.access = Access::Reader});
    if (!reader) {
      EXPECT_EQ(reader.error().kind, StoreError::Kind::Missing) << reader.error().message;
      EXPECT_EQ(before, 0U) << reader.error().message;
      continue;
    }
    EXPECT_THAT((*reader)->notices(), testing::IsEmpty());
    if (before == 0) continue;
    const auto head = (*reader)->journals().head(run);
    ASSERT_TRUE(head.has_value()) << head.error().message;
    EXPECT_GE(head->records, before);
  }
  writer.join();
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(looks, 10);
}

TEST_F(LogDamageTest, WithoutASyncPerCommitALostCommitIsANotice) {
  leave_log(6);
  flip(offset_of(1) + 100);
  const auto opened = open_store(path, {.durability = Durability::Process});
  ASSERT_TRUE(opened.has_value());
  EXPECT_THAT((*opened)->notices(), testing::Contains(HasSubstr("is damaged")));
}

}  // namespace
}  // namespace tenon::journal::sqlite
